"""Activations: which function runs, on whose behalf, called from where.

A call runs a function, and an assignment sets an attribute, only in the programs that have both files. A function that
is called from a closure of its own, and a partial that a call of the same partial has led to, are recursions: the
caller is forgotten. A call on objects that are all known gives nothing to the method's activation on another object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, Ext, Func, Inst, Klass, Value
from dllint.project.evaluate.multiplicity import MAX_CALLS, Multiplicity
from dllint.project.evaluate.truncated import Truncated
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class Activations:
    """Makes activations; the same arguments give the same object."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.multiplicity = Multiplicity(evaluator.index, evaluator.carried)
        self._envs: dict[tuple[Any, ...], Env] = {}
        self._within: dict[frozenset[tuple[str, int]], frozenset[tuple[str, int]]] = {}
        """What activations close over, each set once."""
        self._generics: dict[tuple[str, int], Env] = {}
        self._init_envs: dict[Inst, dict[tuple[str, int], Env]] = {}

    def env(
        self,
        module: Module,
        function: int,
        call: Expr | None = None,
        caller: Env | None = None,
        receiver: Value | None = None,
        outer: Env | None = None,
        skip: int = 0,
    ) -> Env:
        """The activation of a scope; the same arguments give the same object."""
        if caller is not None and (module.path, function) in caller.within:
            call = caller = None
        if caller is not None:
            known = isinstance(receiver, Inst) and receiver.call is not None
            levels = self.multiplicity.levels(module, function, known)
            if self.multiplicity.forgets_calls(module, function, known):
                call = caller = None
            elif levels <= 1 and (known or self.multiplicity.has_many_callers(module, function)):
                same = receiver is not None and caller.receiver == receiver
                caller = self._on_its_object(caller) if same else self.generic(caller.module, caller.function)
            elif caller.depth >= levels:
                caller = self._shortened(caller, max(levels - 1, 0))
        return self._interned(module, function, call, caller, receiver, outer, skip)

    def forgets_calls(self, env: Env) -> bool:
        """Whether a function isn't told apart by its calls, on the object of an activation if that is known."""
        known = isinstance(env.receiver, Inst) and env.receiver.call is not None
        return self.multiplicity.forgets_calls(env.module, env.function, known)

    def called_with(self, env: Env, call: Expr, caller: Env) -> Env:
        """An activation as another call of the same function makes it."""
        return self._interned(env.module, env.function, call, caller, env.receiver, env.outer, env.skip)

    def _on_its_object(self, env: Env) -> Env:
        """An activation of which its object is known, and nothing of its callers."""
        if makes_its_object(env):
            return env
        outer = self._on_its_object(env.outer) if env.outer is not None and env.outer.function >= 0 else env.outer
        return self._interned(env.module, env.function, None, None, env.receiver, outer, 0)

    def _interned(
        self,
        module: Module,
        function: int,
        call: Expr | None,
        caller: Env | None,
        receiver: Value | None,
        outer: Env | None,
        skip: int,
    ) -> Env:
        key = (module, function, call, caller, receiver, outer, skip)
        found = self._envs.get(key)
        if found is None:
            found = self._envs[key] = Env(module, function, call, caller, receiver, outer, skip)
            found.within = self._within.setdefault(found.within, found.within)
        return found

    def _shortened(self, env: Env, levels: int) -> Env:
        """An activation with at most so many calls in a row told apart: the earliest callers are forgotten."""
        if env.depth <= levels or makes_its_object(env):
            return env
        if levels <= 0 or env.caller is None:
            return self.env(env.module, env.function, None, None, env.receiver, env.outer, env.skip)
        caller = self._shortened(env.caller, levels - 1)
        return self.env(env.module, env.function, env.call, caller, env.receiver, env.outer, env.skip)

    def generic(self, module: Module, function: int) -> Env:
        """An activation of a scope of which nothing is known but where it stands."""
        key = module.path, function
        known = self._generics.get(key)
        if known is None:
            known = self._generics[key] = self._generic(module, function)
        return known

    def _generic(self, module: Module, function: int) -> Env:
        if function < 0:
            return self.env(module, -1)
        facts = module.model.functions[function]
        outer = self.generic(module, facts.parent) if facts.parent >= 0 else None
        receiver: Value | None = None
        if facts.owner >= 0:
            receiver = Inst(self.klass(module, facts.owner))
        elif outer is not None:
            receiver = outer.receiver
        return self.env(module, function, receiver=receiver, outer=outer)

    def klass(self, module: Module, index: int) -> Klass:
        facts = module.model.classes[index]
        return Klass(module, index, self.generic(module, facts.parent) if facts.parent >= 0 else None)

    def method_env(self, owner: Value, module: Module, function: int) -> Env:
        """A method's activation on an instance; its `__init__`s are bound to the construction's arguments."""
        facts = module.model.functions[function]
        if facts.owner < 0 and facts.parent >= 0:
            outer = self.method_env(owner, module, facts.parent)
            return self.env(module, function, receiver=owner, outer=outer)
        if isinstance(owner, Inst):
            found = self.init_envs(owner).get((module.path, function))
            if found is not None:
                return found
        klass_outer = None
        if facts.parent >= 0:
            klass_outer = owner.klass.outer if isinstance(owner, Inst) else self.generic(module, facts.parent)
        return self.env(module, function, receiver=owner, outer=klass_outer)

    def init_envs(self, inst: Inst) -> dict[tuple[str, int], Env]:
        """The activations of the `__init__`s that constructing this instance runs, each bound to its arguments."""
        return self.evaluator.ask(self._init_envs, inst, {}, self._find_init_envs, inst)

    def _find_init_envs(self, inst: Inst) -> dict[tuple[str, int], Env]:
        found: dict[tuple[str, int], Env] = {}
        chain = self.evaluator.classes.mro(inst.klass)
        call, caller, skip = inst.call, inst.env, 0
        position = 0
        while position < len(chain):
            position = next(
                (i for i in range(position, len(chain)) if "__init__" in chain[i].facts.methods), len(chain)
            )
            if position == len(chain):
                break
            klass = chain[position]
            function = klass.facts.methods["__init__"]
            env = self._interned(klass.module, function, call, caller, inst, klass.outer, skip)
            found[klass.module.path, function] = env
            following = self.super_init(klass, env)
            if following is None:
                break
            call, skip, target = following
            caller = env
            position += 1
            if target is not None:
                position = next((i for i, item in enumerate(chain) if item == target), position)
        return found

    def super_init(self, klass: Klass, env: Env) -> tuple[Expr, int, Klass | None] | None:
        """The call of the next `__init__` inside one: `super().__init__(...)` or `Base.__init__(self, ...)`."""
        for event in env.facts.events:
            call = event.value
            if call is None or call.kind != "call" or call.args[0].name != "__init__":
                continue
            base = call.args[0].args[0]
            if base.kind == "call" and base.args[0].name == "super":
                return call, 0, None
            for value in self.evaluator.values(base, env):
                if isinstance(value, Klass):
                    return call, 1, value
                if isinstance(value, Ext):
                    return call, 1, None
        return None

    def stops_at(self, inst: Inst) -> bool:
        """Whether constructing an instance runs an `__init__` that calls none of a base."""
        last = next(reversed(self.init_envs(inst).values()), None)
        return last is not None and self.super_init(self.klass(last.module, last.facts.owner), last) is None

    def activation(
        self, func: Func, call: Expr | None, caller: Env | None, receiver: Value | None = None, skip: int = 0
    ) -> Env:
        """The activation that a call of a function makes."""
        facts = func.facts
        if receiver is None and facts.owner < 0 and func.outer is not None:
            receiver = func.outer.receiver
        outer = func.outer or (self.generic(func.module, facts.parent) if facts.parent >= 0 else None)
        return self.env(func.module, func.index, call, caller, receiver, outer, skip)


def makes_its_object(env: Env) -> bool:
    """Whether an activation is an `__init__` that runs as its object is made: the object itself says who called it."""
    owner = env.receiver
    if not isinstance(owner, Inst) or env.caller is None or env.facts.name != "__init__":
        return False
    if env.call is owner.call and env.caller is owner.env:
        return True
    return env.caller.receiver == owner and env.caller.function >= 0 and makes_its_object(env.caller)


def too_many_calls(name: str) -> Truncated:
    """The limit that the calls of a function have met."""
    return Truncated(f"more than {MAX_CALLS} calls may mean `{name}`, so they are not told apart")
