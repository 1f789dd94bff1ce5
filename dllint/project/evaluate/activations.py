"""Activations: which function runs, on whose behalf, called from where."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dllint.model.facts import Expr
from dllint.project.module import Module
from dllint.project.values import Env, Ext, Func, Inst, Klass, Value

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_CALL_DEPTH = 5
"""Calls in a row that are told apart by their callers."""
MAX_ACTIVATIONS = 24
"""Activations of one function by nested calls that are told apart; the parameters of further ones are UNKNOWN.
Calls from generic code are always told apart: they are as many as there are call sites."""


class Activations:
    """Makes activations; the same arguments give the same object."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._envs: dict[tuple[Any, ...], Env] = {}
        self._blinds: dict[tuple[str, int], Env] = {}
        self._generics: dict[tuple[str, int], Env] = {}
        self._made: Counter[tuple[str, int]] = Counter()
        self._init_envs: dict[Inst, dict[tuple[str, int], Env]] = {}
        self._unfinished: set[Inst] = set()
        """Those whose `__init__`s are being found."""

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
        if caller is not None and caller.depth >= MAX_CALL_DEPTH:
            call = caller = None
        key = (module.path, function, id(call), id(caller), receiver, id(outer), skip)
        found = self._envs.get(key)
        if found is None:
            deep = caller is not None and caller.depth > 0
            if deep and self._made[module.path, function] >= MAX_ACTIVATIONS:
                return self._blind(module, function)
            self._made[module.path, function] += 1
            found = self._envs[key] = Env(module, function, call, caller, receiver, outer, skip)
        return found

    def _blind(self, module: Module, function: int) -> Env:
        """An activation whose parameters are not known."""
        known = self._blinds.get((module.path, function))
        if known is None:
            generic = self.generic(module, function)
            known = Env(module, function, None, None, generic.receiver, generic.outer, 0)
            known.blind = True
            self._blinds[module.path, function] = known
        return known

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
        known = self._init_envs.get(inst)
        if known is not None:
            if inst in self._unfinished:
                self.evaluator.cuts += 1
            return known
        found: dict[tuple[str, int], Env] = {}
        self._init_envs[inst] = found
        self._unfinished.add(inst)
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
            env = self.env(klass.module, function, call, caller, inst, klass.outer, skip)
            found[klass.module.path, function] = env
            following = self.super_init(klass, env)
            if following is None:
                break
            call, skip, target = following
            caller = env
            position += 1
            if target is not None:
                position = next((i for i, item in enumerate(chain) if item == target), position)
        self._unfinished.discard(inst)
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

    def activation(
        self, func: Func, call: Expr | None, caller: Env | None, receiver: Value | None = None, skip: int = 0
    ) -> Env:
        """The activation that a call of a function makes."""
        facts = func.facts
        if receiver is None and facts.owner < 0 and func.outer is not None:
            receiver = func.outer.receiver
        outer = func.outer or (self.generic(func.module, facts.parent) if facts.parent >= 0 else None)
        return self.env(func.module, func.index, call, caller, receiver, outer, skip)
