"""Activations: which function runs, on whose behalf, called from where."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from dllint.model.facts import Expr, Function
from dllint.project.evaluate.abstract_values import Env, Ext, Func, Inst, Klass, Value
from dllint.project.program.module import Module, Site

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_LEVELS = 5
"""Calls in a row that are told apart by their callers."""
MAX_CONTEXTS = 24
"""So many contexts of one function are told apart: one more level of callers counts only as long as the calls that have
the function's name come to no more. What the program's text says decides it, not what has been asked before."""
MAX_OWNERS = 3
"""Objects that make objects that make objects: so many are told apart."""
MAX_OBJECTS = 150
"""So many objects of one class are told apart, and so many contexts of a method, taken for each place where an object
is made: one more level counts only while the text has no more of them."""
MAX_CALLS = 64
"""A function that more calls may mean is not told apart by its calls either."""


class Activations:
    """Makes activations; the same arguments give the same object."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._envs: dict[tuple[Any, ...], Env] = {}
        self._generics: dict[tuple[str, int], Env] = {}
        self._levels_of: dict[tuple[str, int], int] = {}
        self._owners_of: dict[str, int] = {}
        self._objects_of: dict[tuple[str, int], int] = {}
        self._counts: dict[tuple[str, int, bool], int] = {}
        self._many_calls: dict[tuple[str, int], bool] = {}
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
            known, objects = False, 1
            if isinstance(receiver, Inst) and receiver.call is not None:
                known, objects = True, self._objects(receiver.klass.facts.name, 0)
            levels = self._levels(module, function, objects)
            if levels == 0 and self._has_many_calls(module, function):
                call = caller = None
            elif levels <= 1 and known:
                caller = self.generic(caller.module, caller.function)
            elif caller.depth >= levels:
                caller = self._shortened(caller, max(levels - 1, 0))
        return self._interned(module, function, call, caller, receiver, outer, skip)

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
        key = (module.path, function, id(call), id(caller), receiver, id(outer), skip)
        found = self._envs.get(key)
        if found is None:
            found = self._envs[key] = Env(module, function, call, caller, receiver, outer, skip)
        return found

    def _shortened(self, env: Env, levels: int) -> Env:
        """An activation with at most so many calls in a row told apart: the earliest callers are forgotten."""
        if env.depth <= levels:
            return env
        if levels <= 0 or env.caller is None:
            return self.env(env.module, env.function, None, None, env.receiver, env.outer, env.skip)
        caller = self._shortened(env.caller, levels - 1)
        return self.env(env.module, env.function, env.call, caller, env.receiver, env.outer, env.skip)

    def owners(self, klass: Klass) -> int:
        """How many of the objects that make one another are told apart on the way to an object of a class."""
        name = klass.facts.name
        known = self._owners_of.get(name)
        if known is None:
            known = 0
            while known < MAX_OWNERS and self._objects(name, known + 1) <= MAX_OBJECTS:
                known += 1
            self._owners_of[name] = known
        return known

    def _objects(self, name: str, owners: int) -> int:
        """How many objects of a class are told apart, as far as names tell, when so many of their owners count."""
        key = name, owners
        if key not in self._objects_of:
            self._objects_of[key] = found = 0
            for site in self.evaluator.index.calls_named((name,)):
                found += self._makers(site, owners)
                if found > MAX_OBJECTS:
                    break
            self._objects_of[key] = max(1, found)
        return self._objects_of[key]

    def _makers(self, site: Site, owners: int) -> int:
        """In how many activations a call stands: those of a method count for each of its objects."""
        functions, function = site.module.model.functions, site.function
        while function >= 0 and functions[function].owner < 0:
            function = functions[function].parent
        if function < 0 or not owners:
            return 1
        owner = site.module.model.classes[functions[function].owner].name
        calls = 1 if functions[function].name == "__init__" else max(1, self._contexts(functions[function].name, 1))
        return calls * self._objects(owner, owners - 1)

    def _levels(self, module: Module, function: int, objects: int) -> int:
        """How many calls in a row are told apart on the way to a function, for each of so many objects.

        With one, of the caller of a known object's method nothing is known but where the call stands. With none, the
        method is told apart by the object alone, and any other function by its call. A property or a callback is called
        by other names, so that the text doesn't say how often: it has one.
        """
        name = _called_as(module, function)
        key = name, objects
        if key not in self._levels_of:
            first = self._contexts(name, 1)
            known = 1 if first <= MAX_CONTEXTS else 0
            while first and 0 < known < MAX_LEVELS:
                if self._contexts(name, known + 1) > MAX_CONTEXTS:
                    break
                if self._contexts(name, known + 1, with_objects=True) * objects > MAX_OBJECTS:
                    break
                known += 1
            self._levels_of[key] = known
        return self._levels_of[key]

    def _contexts(self, name: str, levels: int, with_objects: bool = False) -> int:
        """In how many contexts functions of a name are called, as far as names tell, when so many calls count.

        A method that calls another object's function does so for each object of its own, if those count, too.
        """
        key = name, levels, with_objects
        if key not in self._counts:
            self._counts[key] = found = 0
            for site in self.evaluator.index.calls_named((name,)):
                found += self._calling(site, levels - 1, with_objects)
                if found > (MAX_OBJECTS if with_objects else MAX_CONTEXTS):
                    break
            self._counts[key] = found
        return self._counts[key]

    def _calling(self, site: Site, levels: int, with_objects: bool) -> int:
        """In how many contexts a call stands, when so many callers of the code around it count."""
        if site.function < 0 or not levels:
            return 1
        found = max(1, self._contexts(_called_as(site.module, site.function), levels, with_objects))
        facts = site.module.model.functions[site.function]
        if not with_objects or facts.owner < 0 or _is_own(site.expr.args[0], facts):
            return found
        return found * self._objects(site.module.model.classes[facts.owner].name, 0)

    def _has_many_calls(self, module: Module, function: int) -> bool:
        """Whether too many calls may mean a function: of its name, where that may be the function's."""
        key = module.path, function
        if key not in self._many_calls:
            name = _called_as(module, function)
            sites = (site for site in self.evaluator.index.calls_named((name,)) if _may_mean(site, module, name))
            self._many_calls[key] = len(list(islice(sites, MAX_CALLS + 1))) > MAX_CALLS
        return self._many_calls[key]

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

    def activation(
        self, func: Func, call: Expr | None, caller: Env | None, receiver: Value | None = None, skip: int = 0
    ) -> Env:
        """The activation that a call of a function makes."""
        facts = func.facts
        if receiver is None and facts.owner < 0 and func.outer is not None:
            receiver = func.outer.receiver
        outer = func.outer or (self.generic(func.module, facts.parent) if facts.parent >= 0 else None)
        return self.env(func.module, func.index, call, caller, receiver, outer, skip)


def _called_as(module: Module, function: int) -> str:
    """The name under which a function is called: for an `__init__`, its class's."""
    facts = module.model.functions[function]
    return module.model.classes[facts.owner].name if facts.name == "__init__" and facts.owner >= 0 else facts.name


def _is_own(callee: Expr, facts: Function) -> bool:
    """Whether a method calls one of its own object: `self.step`."""
    if callee.kind != "attribute" or not facts.parameters:
        return False
    return callee.args[0].kind == "name" and callee.args[0].name == facts.parameters[0].name


def _may_mean(site: Site, module: Module, name: str) -> bool:
    """Whether a call of a plain name may mean what a module defines: it is made there, or the name is imported."""
    if site.expr.args[0].kind != "name" or site.module is module:
        return True
    return any(name in (item.attribute, item.bound) or item.attribute == "*" for item in site.module.model.imports)
