"""What an expression may evaluate to, followed through names, attributes, calls and files.

Demand-driven and bounded: an activation (`Env`) remembers the call that made it, so that two constructions of one class
stay two objects; where no call is known, a parameter is whatever any call site passes. Anything that cannot be followed
is `Opaque` (an expression) or `Free` (a parameter nobody fills): UNKNOWN, never a guess.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dllint.knowledge import PASS_THROUGH, canonical
from dllint.model.facts import Event, Expr, Function, Parameter
from dllint.project.flow import reaching
from dllint.project.hierarchy import Hierarchy
from dllint.project.index import Binding, Index, Module, Site, Write, holds_from
from dllint.project.values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Free,
    Func,
    Inst,
    Klass,
    Method,
    Mod,
    Opaque,
    Seq,
    Super,
    Value,
    Values,
)

MAX_VALUES = 40
"""More alternatives than this are not followed: a registry of everything proves nothing."""
MAX_DEPTH = 60
MAX_CALL_DEPTH = 7
MAX_CALL_SITES = 80
NAMEDTUPLE_INSTANCE = "collections.namedtuple()"

_BUILTINS = frozenset(dir(builtins))
Argument = tuple[Expr, Env]


def unique(values: Iterable[Value]) -> Values:
    """The values, each once, in order, at most MAX_VALUES."""
    return tuple(list(dict.fromkeys(values))[:MAX_VALUES])


class Evaluator(Hierarchy):
    """Answers `values(expr, env)`; everything else of the project stands on it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._values: dict[tuple[int, int], Values] = {}
        self._busy: set[tuple[int, int]] = set()
        self._envs: dict[tuple[Any, ...], Env] = {}
        self._attributes: dict[tuple[Value, str], Values] = {}
        self._items_busy: set[tuple[Value, str]] = set()
        self._attributes_busy: set[tuple[Value, str]] = set()
        self._callers: dict[tuple[str, int], list[tuple[Site, int]]] = {}
        self._init_envs: dict[Inst, dict[tuple[str, int], Env]] = {}
        self._outside: dict[Klass, set[str]] | None = None
        self._depth = 0
        self._kinds: dict[str, Callable[[Expr, Env], Iterable[Value]]] = {
            "name": self._name,
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "ifexp": self._ifexp,
            "boolop": self._boolop,
            "binop": self._binop,
        }
        super().__init__()

    # Activations.

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
            found = self._envs[key] = Env(module, function, call, caller, receiver, outer, skip)
        return found

    def generic(self, module: Module, function: int) -> Env:
        """An activation of a scope of which nothing is known but where it stands."""
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
            return known
        found: dict[tuple[str, int], Env] = {}
        self._init_envs[inst] = found
        chain = self.mro(inst.klass)
        call, caller, skip = inst.call, inst.env, 0
        position = 0
        while position < len(chain):
            position = next((i for i in range(position, len(chain)) if "__init__" in chain[i].facts.methods), len(chain))
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
            for value in self.values(base, env):
                if isinstance(value, Klass):
                    return call, 1, value
                if isinstance(value, Ext):
                    return call, 1, None
        return None

    # Expressions.

    def values(self, expr: Expr, env: Env) -> Values:
        """What the expression may evaluate to in this activation."""
        key = (id(expr), id(env))
        known = self._values.get(key)
        if known is not None:
            return known
        if key in self._busy:
            return ()
        if self._depth > MAX_DEPTH:
            return (Opaque(expr, env),)
        self._busy.add(key)
        self._depth += 1
        try:
            found = unique(self._evaluate(expr, env))
        finally:
            self._depth -= 1
            self._busy.discard(key)
        self._values[key] = found
        return found

    def _evaluate(self, expr: Expr, env: Env) -> Iterable[Value]:
        kind = expr.kind
        handler = self._kinds.get(kind)
        if handler is not None:
            return handler(expr, env)
        if kind == "constant":
            return (Const(expr.value, type(expr.value).__name__),)
        if kind in ("list", "tuple", "set", "dict", "comprehension"):
            return (Seq(expr, env),)
        if kind == "lambda":
            return (Func(env.module, expr.ref, env if env.function >= 0 else None),)
        if kind in ("walrus", "await", "star"):
            return self.values(expr.args[0], env)
        return (Opaque(expr, env),)

    def _ifexp(self, expr: Expr, env: Env) -> Iterable[Value]:
        return (*self.values(expr.args[1], env), *self.values(expr.args[2], env))

    def _boolop(self, expr: Expr, env: Env) -> Iterable[Value]:
        left, right = self.values(expr.args[0], env), self.values(expr.args[1], env)
        if expr.name == "or":
            left = tuple(value for value in left if not (isinstance(value, Const) and not value.value))
        return (*left, *right)

    def _binop(self, expr: Expr, env: Env) -> Iterable[Value]:
        left, right = self.values(expr.args[0], env), self.values(expr.args[1], env)
        if expr.name in "+|" and any(isinstance(value, Seq) for value in (*left, *right)):
            return (*left, *right)
        if len(left) == len(right) == 1 and isinstance(left[0], Const) and isinstance(right[0], Const):
            folded = fold(expr.name, left[0].value, right[0].value)
            if folded is not None:
                return (Const(folded, type(folded).__name__),)
        return (Opaque(expr, env),)

    # Names.

    def _name(self, expr: Expr, env: Env) -> Iterable[Value]:
        found = self._comprehension_target(expr, env)
        if found is not None:
            return found
        found = self.lookup(expr.name, env, expr.start)
        return (Opaque(expr, env),) if found is None else found

    def _comprehension_target(self, expr: Expr, env: Env) -> Iterable[Value] | None:
        for comprehension, target, iterable in env.module.comprehensions.get(env.function, ()):
            if comprehension.start <= expr.start < comprehension.end and not iterable.start <= expr.start < iterable.end:
                path = path_to(target, expr.name)
                if path is not None:
                    return self.destructure(self.iterated(iterable, env), path, expr, env)
        return None

    def lookup(self, name: str, env: Env, offset: int | None = None) -> Values | None:
        """The values of a name in a scope, or None where nothing binds it. `offset` None: when the scope has run."""
        scope: Env | None = env
        while scope is not None and scope.function >= 0:
            facts = scope.facts
            if name in facts.globals:
                break
            if name in facts.bound:
                return self._local(name, scope, offset if scope is env else None)
            scope = scope.outer or (self.generic(scope.module, facts.parent) if facts.parent >= 0 else None)
        at = offset if env.function < 0 else None
        return self.global_name(env.module, name, at)

    def _local(self, name: str, env: Env, offset: int | None) -> Values:
        bindings = env.module.bindings[env.function, -1].get(name, [])
        seen = reaching(env.module, env.function, bindings, offset)
        found = [value for binding in seen for value in self.bound_values(binding, name, env)]
        for function in self._nonlocal_writers(env, name):
            inner = env.module.bindings[function, -1].get(name, [])
            generic = self.generic(env.module, function)
            found += [value for binding in inner for value in self.bound_values(binding, name, generic)]
        return unique(found)

    def _nonlocal_writers(self, env: Env, name: str) -> Iterator[int]:
        for function in env.module.model.functions:
            if name in function.nonlocals and function.parent == env.function:
                yield function.index

    def global_name(self, module: Module, name: str, offset: int | None = None) -> Values | None:
        """The values of a module's name; None where the module does not bind it."""
        bindings = module.bindings[-1, -1].get(name, [])
        env = self.env(module, -1)
        seen = reaching(module, -1, bindings, offset)
        found = [value for binding in seen for value in self.bound_values(binding, name, env)]
        for function, event in module.writers_of_globals.get(name, ()):
            found += self.event_values(event, name, self.generic(module, function))
        if found or bindings:
            return unique(found)
        starred = self._starred(module, name)
        if starred is not None:
            return starred
        return (Ext(f"builtins.{name}"),) if name in _BUILTINS else None

    def _starred(self, module: Module, name: str) -> Values | None:
        for imported in module.model.imports:
            if imported.bound != "*":
                continue
            target = self.index.find(module.path, imported.module, imported.level)
            if target is None:
                known = canonical(f"{imported.module}.{name}")
                if imported.module.startswith("torch") and name[:1].isupper():
                    return (Ext(known),)
            elif target is not module and ("*", target.path, name) not in self._stars:
                self._stars.add(("*", target.path, name))
                try:
                    found = self.global_name(target, name)
                finally:
                    self._stars.discard(("*", target.path, name))
                if found and found != (Ext(f"builtins.{name}"),):
                    return found
        return None

    def bound_values(self, binding: Binding, name: str, env: Env) -> Values:
        """What one binding gives its name."""
        if binding.imported is not None:
            return self.imported(binding.imported.module, binding.imported.attribute, binding.imported.level, env, name)
        if binding.kind == "parameter":
            return self.parameter(env, name)
        assert binding.event is not None
        return self.event_values(binding.event, name, env)

    def event_values(self, event: Event, name: str, env: Env) -> Values:
        """What an event gives a name (or, with a dotted target, an attribute)."""
        if event.kind == "def":
            return self.defined(Func(env.module, event.ref, env if env.function >= 0 else None), env)
        if event.kind == "class":
            return (Klass(env.module, event.ref, env if env.function >= 0 else None),)
        if event.target is None or event.value is None:
            return ()
        path = path_to(event.target, name)
        if event.kind == "for":
            return self.destructure(self.iterated(event.value, env), path or (), event.target, env)
        values = self.values(event.value, env)
        if event.kind == "with":
            values = self._entered(values)
        return self.destructure(values, path or (), event.target, env)

    def _entered(self, values: Values) -> Values:
        """What `with x as y` binds: x itself but for project classes that return something else."""
        found: list[Value] = []
        for value in values:
            enter = self.method(value, "__enter__") if isinstance(value, Inst) else None
            found += self.returned(enter.func, None, None, value) if enter is not None else (value,)
        return unique(found)

    def imported(self, module: str, attribute: str, level: int, env: Env, bound: str) -> Values:
        """What an import statement binds to a name."""
        path = env.module.path
        if not attribute:
            whole = module if bound != module.split(".")[0] else bound
            target = self.index.find(path, whole, level)
            return (Mod(target),) if target is not None else (Ext(canonical(whole)),)
        target = self.index.find(path, module, level) if module or level else None
        if target is not None and target is not env.module:
            found = self.global_name(target, attribute)
            if found and found != (Ext(f"builtins.{attribute}"),):
                return found
        dotted = f"{module}.{attribute}" if module else attribute
        submodule = self.index.find(path, dotted, level)
        if submodule is not None:
            return (Mod(submodule),)
        return (Ext(canonical(dotted) if not level else f".{dotted}"),)

    def defined(self, func: Func, env: Env) -> Values:
        """The value of a decorated function: itself, or the wrapper that a decorator of the project returns."""
        facts = func.facts
        for decorator in reversed(facts.decorators):
            for value in self.values(decorator, env):
                wrappers = self._wrappers(value)
                if wrappers:
                    return wrappers
        return (func,)

    def _wrappers(self, decorator: Value) -> Values:
        """The nested functions that a project's decorator returns in place of the decorated one, without `wraps`."""
        if not isinstance(decorator, Func) or decorator.facts.kind != "def":
            return ()
        generic = self.generic(decorator.module, decorator.index)
        found = []
        for event in decorator.facts.events:
            if event.kind == "return" and event.value is not None:
                for value in self.values(event.value, generic):
                    if isinstance(value, Func) and value.facts.parent == decorator.index:
                        if any(part.name == "wraps" for item in value.facts.decorators for part in item.walk()):
                            return ()
                        found.append(value)
        return tuple(found)

    # Parameters and arguments.

    def parameter(self, env: Env, name: str) -> Values:
        """The values of a parameter in this activation."""
        facts = env.facts
        position, parameter = next((i, item) for i, item in enumerate(facts.parameters) if item.name == name)
        if position == 0 and self._is_receiver(facts, parameter):
            if _decorated(facts, "classmethod"):
                owner = env.receiver.klass if isinstance(env.receiver, Inst) else self.klass(env.module, facts.owner)
                return (owner,)
            return (env.receiver or Inst(self.klass(env.module, facts.owner)),)
        if parameter.kind in ("args", "kwargs"):
            return self._rest(env, parameter)
        if env.call is not None and env.caller is not None:
            found = [value for pair in self.passed(env, position, parameter) for value in self.values(*pair)]
            return unique(found) or (Free(env.module, env.function, name),)
        found = list(self._from_call_sites(env, position, parameter))
        if not found:
            found += self._default(env, parameter)
            found += self._from_setter(env, facts, position)
            found.append(Free(env.module, env.function, name))
        return unique(found)

    def _rest(self, env: Env, parameter: Parameter) -> Values:
        """`*args` as a tuple and `**kwargs` as a dictionary of what the calls pass beyond the named parameters."""
        if env.call is not None and env.caller is not None:
            return (Seq(self._collected(env.call, env, parameter), env.caller),)
        found: list[Value] = []
        for site, skip in self.callers(env.module, env.function):
            bound = self.env(env.module, env.function, site.expr, self._caller_env(site, env), env.receiver, env.outer, skip)
            if bound.call is not None and bound.caller is not None:
                found.append(Seq(self._collected(bound.call, bound, parameter), bound.caller))
        return unique(found) or (Free(env.module, env.function, parameter.name),)

    def _collected(self, call: Expr, env: Env, parameter: Parameter) -> Expr:
        key = (id(call), id(env.facts) ^ hash(parameter.kind))
        known = self._merged.get(key)
        if known is not None:
            return known
        named = [item for item in env.facts.parameters if item.kind not in ("args", "kwargs")]
        args: list[Expr] = []
        if parameter.kind == "args":
            positional = [item for item in named if item.kind != "keyword"]
            shift = 1 if positional and self._is_receiver(env.facts, positional[0]) else 0
            args += call.args[1 + len(positional) - shift + env.skip :]
        else:
            taken = {item.name for item in named}
            for name, value in call.keywords:
                if name == "**":
                    args += (Expr("star", value.start, value.end, args=(value,)), value)
                elif name not in taken:
                    args += (Expr("constant", value.start, value.start, value=name), value)
        kind = "tuple" if parameter.kind == "args" else "dict"
        self._merged[key] = Expr(kind, call.start, call.end, args=tuple(args))
        return self._merged[key]

    def _is_receiver(self, facts: Function, parameter: Parameter) -> bool:
        return facts.owner >= 0 and not _decorated(facts, "staticmethod") and parameter.kind in ("positional", "posonly")

    def _default(self, env: Env, parameter: Parameter) -> Values:
        if parameter.default is None:
            return ()
        outer = env.outer or self.generic(env.module, env.facts.parent)
        return self.values(parameter.default, outer)

    def passed(self, env: Env, position: int, parameter: Parameter) -> list[Argument]:
        """The expressions that this activation's call passes for a parameter; its default where it passes none."""
        assert env.call is not None and env.caller is not None
        facts = env.facts
        shift = 1 if self._is_receiver(facts, facts.parameters[0]) else 0
        found, surely = self.argument(env.call, env.caller, position - shift + env.skip, parameter.name)
        if parameter.kind == "keyword":
            found, surely = self.argument(env.call, env.caller, None, parameter.name)
        if not surely and parameter.default is not None:
            found.append((parameter.default, env.outer or self.generic(env.module, facts.parent)))
        return found

    def _from_call_sites(self, env: Env, position: int, parameter: Parameter) -> Iterator[Value]:
        for site, skip in self.callers(env.module, env.function):
            caller = self._caller_env(site, env)
            bound = self.env(env.module, env.function, site.expr, caller, env.receiver, env.outer, skip)
            if bound.call is None:
                continue
            for pair in self.passed(bound, position, parameter):
                yield from self.values(*pair)

    def _caller_env(self, site: Site, env: Env) -> Env:
        """The caller's activation; a method that calls its own object's method runs on the same instance."""
        owner = site.module.method_owner(site.function)
        if owner >= 0 and isinstance(env.receiver, Inst) and site.expr.args[0].kind == "attribute":
            base = site.expr.args[0].args[0]
            if base.name == site.module.receiver_name(site.function) or base.kind == "call":
                if any(item.module is site.module and item.index == owner for item in self.mro(env.receiver.klass)):
                    return self.method_env(env.receiver, site.module, site.function)
        return self.generic(site.module, site.function)

    def _from_setter(self, env: Env, facts: Function, position: int) -> Iterator[Value]:
        """The value parameter of a property's setter: whatever is assigned to the property."""
        if position == 1 and any(item.kind == "attribute" and item.name == "setter" for item in facts.decorators):
            for write in env.module.attribute_writes.get(facts.name, ()):
                if write.event.value is not None and write.event.kind == "assign":
                    yield from self.values(write.event.value, self.generic(env.module, write.function))

    def argument(self, call: Expr, env: Env, position: int | None, name: str) -> tuple[list[Argument], bool]:
        """The expressions a call may pass for a parameter, and whether it surely passes one.

        `position` counts positional arguments from 0 (None: keyword only).
        """
        explicit = call.keyword(name)
        if explicit is not None:
            return [(explicit, env)], True
        if position is not None and position >= 0:
            positional = call.args[1:]
            for index, arg in enumerate(positional):
                if arg.kind == "star":
                    return self._from_star(arg.args[0], env, position - index), False
                if index == position:
                    return [(arg, env)], True
        found: list[Argument] = []
        surely = False
        for key, value in call.keywords:
            if key == "**":
                more, certain = self.from_double_star(value, env, name)
                found += more
                surely = surely or certain
        return found, surely

    def _from_star(self, expr: Expr, env: Env, position: int) -> list[Argument]:
        """Element `position` of what `*expr` unpacks."""
        found: list[Argument] = []
        passed_on = self._own_parameter(expr, env, "args")
        if passed_on is not None and env.call is not None and env.caller is not None:
            named = [item for item in env.facts.parameters if item.kind in ("positional", "posonly")]
            shift = 1 if named and self._is_receiver(env.facts, named[0]) else 0
            start = len(named) - shift + env.skip
            return self.argument(env.call, env.caller, start + position, "")[0]
        for value in self.values(expr, env):
            if isinstance(value, Seq) and value.expr.kind in ("list", "tuple") and position < len(value.expr.args):
                found.append((value.expr.args[position], value.env))
        return found

    def from_double_star(self, expr: Expr, env: Env, name: str) -> tuple[list[Argument], bool]:
        """What `**expr` passes under a name, and whether it surely does."""
        if self._own_parameter(expr, env, "kwargs") is not None:
            return self._from_kwargs(env, name)
        found: list[Argument] = []
        surely = True
        values = self.values(expr, env)
        for value in values:
            more, certain = self.dict_item(value, name)
            found += more
            surely = surely and certain
        return found, surely and bool(values)

    def _own_parameter(self, expr: Expr, env: Env, kind: str) -> Parameter | None:
        if expr.kind != "name" or env.function < 0:
            return None
        return next((item for item in env.facts.parameters if item.kind == kind and item.name == expr.name), None)

    def _from_kwargs(self, env: Env, name: str) -> tuple[list[Argument], bool]:
        if any(item.name == name and item.kind != "kwargs" for item in env.facts.parameters):
            return [], False
        own = next(item for item in env.facts.parameters if item.kind == "kwargs")
        found = [pair for value in self._rest(env, own) for pair in self._stored_under(value, name, env)]
        if env.call is not None and env.caller is not None:
            more, surely = self.argument(env.call, env.caller, None, name)
            return found + more, surely
        for site, _ in self.callers(env.module, env.function):
            found += self.argument(site.expr, self._caller_env(site, env), None, name)[0]
        return found, False

    def dict_item(self, value: Value, name: str) -> tuple[list[Argument], bool]:
        """The expressions stored under a string key of a dictionary, and whether it surely has the key."""
        key = (value, name)
        if key in self._items_busy:
            return [], False
        self._items_busy.add(key)
        try:
            return self._dict_item(value, name)
        finally:
            self._items_busy.discard(key)

    def _dict_item(self, value: Value, name: str) -> tuple[list[Argument], bool]:
        found: list[Argument] = []
        surely = False
        if isinstance(value, Seq) and value.expr.kind == "dict":
            pairs = zip(value.expr.args[::2], value.expr.args[1::2], strict=True)
            for key, item in pairs:
                if key.kind == "star":
                    more, certain = self.from_double_star(key.args[0], value.env, name)
                    found, surely = found + more, surely or certain
                elif key.value == name and key.kind == "constant":
                    found, surely = [(item, value.env)], True
        elif isinstance(value, ExtInst) and value.name in ("builtins.dict", "collections.OrderedDict", "types.SimpleNamespace"):
            for arg in value.call.args[1:]:
                more, certain = self.from_double_star(arg, value.env, name)
                found, surely = found + more, surely or certain
            more, certain = self.argument(value.call, value.env, None, name)
            found, surely = found + more, surely or certain
        if isinstance(value, (Seq, ExtInst)):
            found += self._stored_under(value, name, value.env)
        return found, surely

    def _stored_under(self, container: Value, name: str, env: Env) -> Iterator[Argument]:
        """`d["name"] = x` and `d.update(name=x)` on a container, in the function that made it."""
        for function, event, receiver, what in env.module.mutations_by_function.get(env.function, ()):
            if what.kind == "subscript" and event.value is not None and what.args[1].value == name:
                if container in self.values(receiver, env):
                    yield event.value, env
            elif what.kind == "call" and what.args[0].name in ("update", "setdefault") and function == env.function:
                if container not in self.values(receiver, env):
                    continue
                if what.args[0].name == "setdefault" and len(what.args) > 2 and what.args[1].value == name:
                    yield what.args[2], env
                    continue
                yield from self.argument(what, env, None, name)[0]
                for arg in what.args[1:]:
                    yield from self.from_double_star(arg, env, name)[0]

    # Call sites.

    def callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """Every call in the project that may run this function, with the positional arguments to skip."""
        key = (module.path, function)
        known = self._callers.get(key)
        if known is not None:
            return known
        found: list[tuple[Site, int]] = []
        self._callers[key] = found
        facts = module.model.functions[function]
        candidates = list(self.index.calls_named(self._call_names(module, facts)))[: MAX_CALL_SITES * 4]
        for site in candidates:
            if len(found) >= MAX_CALL_SITES:
                break
            skip = self._runs(site, module, facts)
            if skip is not None:
                found.append((site, skip))
        return found

    def _call_names(self, module: Module, facts: Function) -> set[str]:
        if facts.kind == "lambda":
            return set()
        names = {facts.name} | self.aliases.get(facts.name, set())
        if facts.name == "__init__" and facts.owner >= 0:
            klass = self.klass(module, facts.owner)
            for item in (klass, *self.subclasses(klass)):
                names |= {item.facts.name, *self.aliases.get(item.facts.name, ())}
            names.add("cls")
        return names

    def _runs(self, site: Site, module: Module, facts: Function) -> int | None:
        env = self.generic(site.module, site.function)
        for value in self.values(site.expr.args[0], env):
            func = value.func if isinstance(value, Method) else value
            if isinstance(func, Func) and func.module is module and func.index == facts.index:
                explicit = isinstance(value, Func) and facts.owner >= 0 and not _decorated(facts, "staticmethod")
                return 1 if explicit and not _decorated(facts, "classmethod") else 0
            if isinstance(value, Klass) and facts.name == "__init__":
                init = self.method(value, "__init__")
                if init is not None and init.func.module is module and init.func.index == facts.index:
                    return 0
        return None

    # Calls.

    def _call(self, expr: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = []
        for callee in self.values(expr.args[0], env):
            found += self.result(callee, expr, env)
        return found

    def result(self, callee: Value, call: Expr, env: Env, skip: int = 0) -> Iterable[Value]:
        """What calling a value gives."""
        match callee:
            case Klass():
                return (Inst(callee, call, env),)
            case Func():
                explicit = callee.facts.owner >= 0 and not _decorated(callee.facts, "staticmethod")
                receiver = None
                if explicit and not _decorated(callee.facts, "classmethod"):
                    skip += 1
                    receiver = next(iter(self.values(call.args[1], env)), None) if len(call.args) > 1 else None
                return self.returned(callee, call, env, receiver, skip)
            case Method(owner=owner, func=func):
                return self.returned(func, call, env, owner, skip)
            case Inst():
                method = self.method(callee, "__call__")
                return self.returned(method.func, call, env, callee, skip) if method else (Opaque(call, env),)
            case Ext(name=name):
                return self._external(name, call, env)
            case ExtMethod(base=base, attribute=attribute):
                return self._external_method(base, attribute, call, env)
            case ExtInst(name="collections.namedtuple" | "typing.NamedTuple"):
                return (ExtInst(NAMEDTUPLE_INSTANCE, call, env, callee),)
            case ExtInst(name="functools.partial", call=made, env=where):
                found = [item for value in self.values(made.args[1], where) for item in self.partial_result(value, callee, call, env)] if len(made.args) > 1 else []
                return found or (Opaque(call, env),)
        return (Opaque(call, env),)

    def partial_result(self, target: Value, made: ExtInst, call: Expr, env: Env) -> Iterable[Value]:
        """Calling a partial: one call with the partial's arguments before the call's own."""
        merged = self.merged_call(made.call, call)
        caller = made.env if made.env.function == env.function else env
        return self.result(target, merged, caller)

    def merged_call(self, made: Expr, call: Expr) -> Expr:
        """`partial(f, *a, **k)(*b, **l)` as the call `f(*a, *b, **k, **l)`."""
        key = (id(made), id(call))
        known = self._merged.get(key)
        if known is None:
            given = dict(call.keywords)
            keywords = tuple(item for item in made.keywords if item[0] not in given) + call.keywords
            known = Expr("call", call.start, call.end, "", (made.args[1], *made.args[2:], *call.args[1:]), keywords)
            self._merged[key] = known
        return known

    def returned(
        self, func: Func, call: Expr | None, caller: Env | None, receiver: Value | None = None, skip: int = 0
    ) -> Values:
        """What a function returns when called so."""
        facts = func.facts
        if facts.is_generator:
            return (Opaque(call, caller),) if call is not None and caller is not None else ()
        env = self.activation(func, call, caller, receiver, skip)
        found = [
            value
            for event in facts.events
            if event.kind == "return" and event.value is not None
            for value in self.values(event.value, env)
        ]
        return unique(found) or ((Const(None, "NoneType"),) if facts.kind == "def" else ())

    def activation(
        self, func: Func, call: Expr | None, caller: Env | None, receiver: Value | None = None, skip: int = 0
    ) -> Env:
        """The activation that a call of a function makes."""
        facts = func.facts
        if receiver is None and facts.owner < 0 and func.outer is not None:
            receiver = func.outer.receiver
        outer = func.outer or (self.generic(func.module, facts.parent) if facts.parent >= 0 else None)
        return self.env(func.module, func.index, call, caller, receiver, outer, skip)

    def _external(self, name: str, call: Expr, env: Env) -> Iterable[Value]:
        args = call.args[1:]
        if name == "builtins.super":
            return self._super(call, env)
        if name == "builtins.getattr" and len(args) >= 2:
            return self._getattr(call, env)
        if name in PASS_THROUGH and args:
            return self.values(args[-1] if name == "typing.cast" else args[0], env)
        if name in ("builtins.int", "builtins.float", "builtins.str", "builtins.bool") and len(args) == 1:
            consts = [value for value in self.values(args[0], env) if isinstance(value, Const)]
            if consts and name == "builtins.int":
                return consts
        if name in ("builtins.min", "builtins.max") and len(args) > 1:
            return [value for arg in args for value in self.values(arg, env)]
        if name == "builtins.next" and args:
            return self.iterated(args[0], env)
        if name == "builtins.type" and len(args) == 1:
            kinds = [value.klass for value in self.values(args[0], env) if isinstance(value, Inst)]
            return kinds or (Opaque(call, env),)
        return (ExtInst(name, call, env),)

    def _getattr(self, call: Expr, env: Env) -> Iterable[Value]:
        bases = self.values(call.args[1], env)
        names = [value.value for value in self.values(call.args[2], env) if isinstance(value, Const)]
        found: list[Value] = []
        for base in bases:
            if names:
                for name in names:
                    found += self.attribute(base, str(name), call, env)
            elif isinstance(base, Mod):
                found += [self.klass(base.module, item.index) for item in base.module.model.classes if item.parent < 0]
            else:
                found.append(Opaque(call, env))
        if len(call.args) > 3 and not found:
            found += self.values(call.args[3], env)
        return found or (Opaque(call, env),)

    def _super(self, call: Expr, env: Env) -> Iterable[Value]:
        scope: Env | None = env
        while scope is not None and scope.function >= 0 and scope.facts.owner < 0:
            scope = scope.outer
        if scope is None or scope.function < 0:
            return (Opaque(call, env),)
        klass = self.klass(scope.module, scope.facts.owner)
        return (Super(scope.receiver or Inst(klass), klass),)

    def _external_method(self, base: Value, attribute: str, call: Expr, env: Env) -> Iterable[Value]:
        if isinstance(base, Seq) or (isinstance(base, ExtInst) and base.name == "builtins.dict"):
            if attribute == "copy":
                return (base,)
            if attribute in ("get", "pop", "setdefault") and len(call.args) > 1:
                return self._dict_get(base, call, env)
        return (ExtInst(f"{describe(base)}.{attribute}", call, env, base),)

    def _dict_get(self, base: Value, call: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = []
        keys = [value.value for value in self.values(call.args[1], env) if isinstance(value, Const)]
        for key in keys:
            for pair in self.dict_item(base, str(key))[0]:
                found += self.values(*pair)
        if not keys:
            found += self.elements(base)
        if len(call.args) > 2:
            found += self.values(call.args[2], env)
        return found or (Opaque(call, env),)

    # Attributes.

    def _attribute(self, expr: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = []
        for base in self.values(expr.args[0], env):
            found += self.attribute(base, expr.name, expr, env)
        return found

    def attribute(self, base: Value, name: str, expr: Expr, env: Env) -> Iterable[Value]:
        """The values of `base.name`; `expr` is where it is read."""
        match base:
            case Mod(module=module):
                found = self.global_name(module, name)
                if found:
                    return found
                submodule = self.index.find(module.path, name, 1) if module.path.endswith("__init__.py") else None
                return (Mod(submodule),) if submodule is not None else (Opaque(expr, env),)
            case Ext(name=dotted):
                submodule = self.index.find(env.module.path, f"{dotted}.{name}", 0)
                return (Mod(submodule),) if submodule is not None else (Ext(canonical(f"{dotted}.{name}")),)
            case Inst():
                return self.instance_attribute(base, name) or (Opaque(expr, env),)
            case Klass():
                return self.class_attribute(base, name, None) or (Opaque(expr, env),)
            case Super(owner=owner, klass=klass):
                chain = self.mro(owner.klass if isinstance(owner, Inst) else klass)
                after = chain[chain.index(klass) + 1 :] if klass in chain else ()
                for item in after:
                    if name in item.facts.methods:
                        return (Method(owner, Func(item.module, item.facts.methods[name], item.outer)),)
                return (ExtMethod(base, name),)
            case Opaque() | Free():
                return (ExtMethod(base, name),) if expr.kind == "attribute" else (Opaque(expr, env),)
            case ExtInst(name="argparse.Namespace" | "types.SimpleNamespace"):
                pairs, _ = self.dict_item(base, name)
                return [value for pair in pairs for value in self.values(*pair)] or (ExtMethod(base, name),)
        return (ExtMethod(base, name),)

    def instance_attribute(self, inst: Inst, name: str) -> Values:
        """The values of an attribute of an instance: what methods, outsiders and the class give it."""
        key = (inst, name)
        known = self._attributes.get(key)
        if known is not None:
            return known
        if key in self._attributes_busy:
            return ()
        self._attributes_busy.add(key)
        try:
            found = unique(value for pair in self.stored(inst, name) for value in self.stored_values(pair))
            if not found or all(isinstance(value, Const) and value.value is None for value in found):
                found = unique((*found, *self._getter(inst, name), *self.class_attribute(inst.klass, name, inst)))
        finally:
            self._attributes_busy.discard(key)
        self._attributes[key] = found
        return found

    def _getter(self, inst: Inst, name: str) -> Values:
        method = self.method(inst, name)
        if method is None or not _is_property(method.func.facts):
            return ()
        return self.returned(method.func, None, None, inst)

    def class_attribute(self, klass: Klass, name: str, owner: Value | None) -> Values:
        """What the class itself holds under a name: a method (bound to `owner`), a class variable."""
        for item in self.mro(klass):
            facts = item.facts
            if name in facts.methods:
                function = item.module.model.functions[facts.methods[name]]
                func = Func(item.module, function.index, item.outer)
                if _is_property(function):
                    return ()
                if _decorated(function, "staticmethod") or (owner is None and not _decorated(function, "classmethod")):
                    return (func,)
                return (Method(owner or klass, func),)
            bindings = item.module.bindings[facts.parent, facts.index].get(name)
            if bindings:
                env = item.outer or self.env(item.module, -1)
                return unique(value for binding in bindings for value in self.bound_values(binding, name, env))
        return ()

    def stored(self, inst: Inst, name: str) -> Iterator[tuple[Write | None, Expr, Env]]:
        """Every way an attribute of this instance gets its value: the write, the value's expression, where it holds."""
        for item in self.mro(inst.klass):
            by_function: dict[int, list[Write]] = {}
            for write in item.module.self_writes.get(item.index, {}).get(name, ()):
                by_function.setdefault(write.function, []).append(write)
            for function, writes in by_function.items():
                env = self.method_env(inst, item.module, function)
                for write in last_writes(item.module, function, writes):
                    if write.event.value is not None:
                        yield write, write.event.value, env
        yield from self._from_fields(inst, name)
        for other, write, module in self.outside_writes(inst.klass, name):
            if other.call is None or inst.call is None or other.call is inst.call:
                if write.event.value is not None:
                    env = self.generic(module, write.function)
                    if inst.env is not None and (inst.env.module, inst.env.function) == (module, write.function):
                        env = inst.env
                    yield write, write.event.value, env

    def stored_values(self, stored: tuple[Write | None, Expr, Env]) -> Values:
        """The values that one write gives the attribute."""
        write, expr, env = stored
        if write is None:
            return self.values(expr, env)
        path = path_to_expr(write.event.target, write.target) if write.event.target is not None else ()
        if write.event.kind == "for":
            return self.destructure(self.iterated(expr, env), path or (), expr, env)
        return self.destructure(self.values(expr, env), path or (), expr, env)

    def _from_fields(self, inst: Inst, name: str) -> Iterator[tuple[None, Expr, Env]]:
        """The fields of a dataclass, filled by the construction's arguments."""
        fields = self.dataclass_fields(inst.klass)
        if name not in fields:
            return
        default = fields[name][1]
        sites: list[Argument] = []
        if inst.call is not None and inst.env is not None:
            sites.append((inst.call, inst.env))
        position = list(fields).index(name)
        for call, env in sites:
            found, surely = self.argument(call, env, position, name)
            for pair in found:
                yield None, pair[0], pair[1]
            if surely:
                return
        if default is not None:
            yield None, default, fields[name][0]

    def outside_writes(self, klass: Klass, name: str) -> list[tuple[Inst, Write, Module]]:
        """`ds.name = value` anywhere in the project, where `ds` is an instance of this class."""
        found = []
        for module in self.index:
            for write in module.attribute_writes.get(name, ()):
                if write.target.args[0].name == module.receiver_name(write.function) != "":
                    continue
                base = write.target.args[0]
                for value in self.values(base, self.generic(module, write.function)):
                    if isinstance(value, Inst) and klass in self.mro(value.klass):
                        found.append((value, write, module))
        return found

    def attributes_set_outside(self, klass: Klass) -> set[str]:
        """The attributes that code outside a class sets on its instances."""
        if self._outside is None:
            self._outside = defaultdict(set)
            for module in self.index:
                for name, writes in module.attribute_writes.items():
                    for write in writes:
                        base = write.target.args[0]
                        if base.kind != "name" or base.name == module.receiver_name(write.function):
                            continue
                        for value in self.values(base, self.generic(module, write.function)):
                            if isinstance(value, Inst):
                                self._outside[value.klass].add(name)
        return {name for item in self.mro(klass) for name in self._outside.get(item, ())}

    def written_on(self, made: ExtInst) -> Iterator[tuple[Write, Env]]:
        """`made.attribute = value` on an external object, in the function that made it."""
        env = made.env
        for writes in env.module.attribute_writes.values():
            for write in writes:
                if write.function == env.function and write.event.kind == "assign" and write.event.value is not None:
                    if write.target.args[0].kind == "name" and made in self.values(write.target.args[0], env):
                        yield write, env

    def factory_dropped(self, made: ExtInst) -> bool:
        """Whether `x.default_factory = ...` replaces the factory of this defaultdict."""
        for write in made.env.module.attribute_writes.get("default_factory", ()):
            scope = self.generic(made.env.module, write.function)
            if write.function == made.env.function:
                scope = made.env
            if made in self.values(write.target.args[0], scope):
                return True
        return False

    # Containers.

    def _subscript(self, expr: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = []
        for base in self.values(expr.args[0], env):
            found += self._item(base, expr, env)
        return found

    def _item(self, base: Value, expr: Expr, env: Env) -> Iterable[Value]:
        match base:
            case Ext() | Klass():
                return (base,)
            case Seq():
                found = self._seq_item(base, expr, env)
                return found or (Opaque(expr, env),)
            case ExtInst(name="builtins.dict"):
                return self._seq_item(base, expr, env) or (Opaque(expr, env),)
            case ExtInst() | ExtMethod():
                return (ExtInst(f"{describe(base)}[]", expr, env, base),)
        return (Opaque(expr, env),)

    def _seq_item(self, base: Value, expr: Expr, env: Env) -> Values:
        if expr.args[1].kind == "slice":
            return (base,)
        keys = [value.value for value in self.values(expr.args[1], env) if isinstance(value, Const)]
        found: list[Value] = []
        for key in keys:
            if isinstance(key, str):
                found += [value for pair in self.dict_item(base, key)[0] for value in self.values(*pair)]
            elif isinstance(base, Seq) and base.expr.kind in ("list", "tuple") and isinstance(key, int):
                args = base.expr.args
                if -len(args) <= key < len(args) and args[key].kind != "star":
                    found += self.values(args[key], base.env)
        return unique(found) if found else self.elements(base)

    def elements(self, value: Value) -> Values:
        """What a container holds: list items, dict values."""
        return unique(item for pair in self.items(value) for item in self.values(*pair))

    def items(self, value: Value) -> list[Argument]:
        """The expressions a container is filled with, at its display and by calls on it."""
        key = (value, "")
        if key in self._items_busy:
            return []
        self._items_busy.add(key)
        try:
            return list(self._items(value))
        finally:
            self._items_busy.discard(key)

    def _items(self, value: Value) -> Iterator[Argument]:
        if isinstance(value, Seq):
            expr, env = value.expr, value.env
            kept = expr.args[1::2] if expr.kind == "dict" else expr.args
            if expr.kind == "comprehension":
                kept = expr.args[-1:]
            for item in kept:
                if item.kind == "star":
                    for inner in self.values(item.args[0], env):
                        if inner != value:
                            yield from self.items(inner)
                else:
                    yield item, env
        elif isinstance(value, ExtInst):
            yield from ((item, value.env) for _, item in value.call.keywords)
        if isinstance(value, (Seq, ExtInst)):
            yield from self.put_in(value)

    def put_in(self, container: Seq | ExtInst) -> Iterator[Argument]:
        """What `append`, `x[k] = v` and the like put into a container made here."""
        env = container.env
        for scope in self.scopes_around(env):
            for _, event, receiver, what in scope.module.mutations_by_function.get(scope.function, ()):
                if receiver.kind not in ("name", "attribute") or container not in self.values(receiver, scope):
                    continue
                if what.kind == "subscript" and event.value is not None:
                    yield event.value, scope
                elif what.kind == "call":
                    yield from self._put_by_call(what, scope)
                elif event.kind == "augment":
                    for value in self.values(what, scope):
                        if value != container:
                            yield from self.items(value)

    def _put_by_call(self, call: Expr, env: Env) -> Iterator[Argument]:
        method = call.args[0].name
        if method in ("extend", "update"):
            for arg in call.args[1:]:
                for value in self.values(arg, env):
                    if isinstance(value, Seq):
                        yield from self.items(value)
            yield from ((value, env) for _, value in call.keywords)
        elif len(call.args) > 1:
            yield call.args[-1], env

    def scopes_around(self, env: Env) -> Iterator[Env]:
        """Where a container made in this activation may be filled: here, and in the other methods of its object."""
        yield env
        if env.function >= 0 and isinstance(env.receiver, Inst):
            for klass in self.mro(env.receiver.klass):
                for function in klass.facts.methods.values():
                    scope = self.method_env(env.receiver, klass.module, function)
                    if scope is not env:
                        yield scope

    def iterated(self, iterable: Expr, env: Env) -> Values:
        """What a loop over an expression gives its target."""
        found: list[Value] = []
        for value in self.values(iterable, env):
            if isinstance(value, Seq):
                if value.expr.kind == "dict":
                    found += [Const(key.value, type(key.value).__name__) for key in value.expr.args[::2] if key.kind == "constant"]
                else:
                    found += self.elements(value)
            elif isinstance(value, ExtInst):
                found.append(ExtInst(f"{value.name}[]", iterable, env, value))
            else:
                found.append(Opaque(iterable, env))
        return unique(found)

    def destructure(self, values: Values, path: tuple[int, ...], expr: Expr, env: Env) -> Values:
        """The part of a value that a nested tuple target takes."""
        for index in path:
            found: list[Value] = []
            for value in values:
                if isinstance(value, Seq) and value.expr.kind in ("tuple", "list") and index < len(value.expr.args):
                    found += self.values(value.expr.args[index], value.env)
                elif isinstance(value, ExtInst):
                    found.append(ExtInst(f"{value.name}[]", value.call, value.env, value))
                else:
                    found.append(Opaque(expr, env))
            values = unique(found)
        return values


def describe(value: Value) -> str:
    """The name under which results of a value's methods are known: `h5py.File()`, `?` for the unknown."""
    match value:
        case ExtInst(name=name):
            return name if name.endswith("]") else f"{name}()"
        case ExtMethod(base=base, attribute=attribute):
            return f"{describe(base)}.{attribute}"
        case Ext(name=name):
            return name
        case Const(kind=kind):
            return kind
        case Seq(expr=expr):
            return expr.name if expr.kind == "comprehension" else expr.kind
        case Super():
            return "super()"
    return "?"


def fold(operator: str, left: Any, right: Any) -> Any:
    """Arithmetic on constants; None where it is not defined."""
    numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
    try:
        match operator:
            case "+" if numbers or (isinstance(left, str) and isinstance(right, str)):
                return left + right
            case "-" if numbers:
                return left - right
            case "*" if numbers:
                return left * right
            case "//" if numbers:
                return left // right
            case "/" if numbers:
                return left / right
    except (ArithmeticError, TypeError):
        return None
    return None


def path_to(target: Expr, name: str) -> tuple[int, ...] | None:
    """The positions that lead to a name in a nested tuple target; None where it is not in there."""
    if target.kind == "name":
        return () if target.name == name else None
    if target.kind in ("tuple", "list"):
        for index, part in enumerate(target.args):
            path = path_to(part, name)
            if path is not None:
                return (index, *path)
    return None


def path_to_expr(target: Expr, wanted: Expr) -> tuple[int, ...] | None:
    """The positions that lead to a part of a nested tuple target."""
    if target is wanted:
        return ()
    if target.kind in ("tuple", "list"):
        for index, part in enumerate(target.args):
            path = path_to_expr(part, wanted)
            if path is not None:
                return (index, *path)
    return None


def last_writes(module: Module, function: int, writes: list[Write]) -> list[Write]:
    """The writes to one attribute that may be the last when the function ends."""
    bindings = [Binding(write.event.kind, holds_from(write.event), write.event.block, write.event) for write in writes]
    kept = {id(binding.event) for binding in reaching(module, function, bindings, None)}
    return [write for write in writes if id(write.event) in kept]


def _decorated(facts: Function, name: str) -> bool:
    return any(decorator.dotted == name for decorator in facts.decorators)


def _is_property(facts: Function) -> bool:
    return any(decorator.dotted.rpartition(".")[2] in ("property", "cached_property") for decorator in facts.decorators)
