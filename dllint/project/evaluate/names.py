"""Names: the bindings that a name may have where it stands, through scopes, imports and star imports.

A later binding replaces an earlier one where every way passes through it. So do two in the branches of one test, or one
if the other branch leaves, and one in a branch, in an activation where the branch's test holds.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from dllint.knowledge import canonical
from dllint.model.facts import Event, Expr, Function, ImportedName
from dllint.project.evaluate.abstract_values import (
    GLOBAL,
    PARAMETER,
    Env,
    Ext,
    Func,
    Inst,
    Klass,
    Meaning,
    Mod,
    Opaque,
    Value,
    Values,
)
from dllint.project.evaluate.exclusion import chosen_arm, constant_in, known_at, stated_at
from dllint.project.evaluate.shapes import Tests, path_to, unique
from dllint.project.program.flow import reaching, replacing
from dllint.project.program.module import Binding, Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


_BUILTINS = frozenset(dir(builtins))
_UNASKED: Final = ""
_NOT_DIRECT = frozenset({"name", "ifexp", "walrus", "await", "star", "passed"})
"""Kinds of expressions whose value is that of another expression, or of one of two."""


class _Stars(NamedTuple):
    """What a module imports with a star: files of the project and other modules, and the last one of torch."""

    targets: list[Module]
    offering: dict[str, list[int]]
    """Which of the files may bind a name, themselves or by star imports."""
    open: list[int]
    """Those that import other packages that have loaders with a star, and so may bind a class of theirs."""
    outside: list[str]
    torch: str


class _Offered(NamedTuple):
    """What a star import of a module brings along."""

    names: frozenset[str]
    modules: tuple[Module, ...]
    """The module and those that it imports with a star itself, and so on."""
    known: bool
    """Whether one of these star imports is of another package that has loaders."""
    outside: bool
    """Whether one is of something that the project doesn't have."""


class Names:
    """Answers what a name may be."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._clauses: dict[tuple[Expr, int], tuple[Expr, tuple[int, ...]] | None] = {}
        self._bindings: dict[tuple[Module, int, str, int | None], list[tuple[Binding, Tests]]] = {}
        self._outside: dict[int, Values] = {}
        self._globals: dict[tuple[Module, str], Values | None] = {}
        self._offered = OnDemand(self._find_offered)
        self._stars = OnDemand(self._find_stars)

    def name(self, expr: Expr, env: Env) -> Values:
        found = self._comprehension_target(expr, env)
        if found is not None:
            return found
        found = self.lookup(expr.name, env, expr.start)
        return (Opaque(expr, env),) if found is None else found

    def directly(self, expr: Expr, env: Env) -> Values | None:
        """The values of a name that means one and the same in all activations of its function; None for others.

        Most names do. What they mean is asked for instead, and nothing is kept for each place where they stand.
        """
        means = env.means.get(expr, _UNASKED)
        if means is _UNASKED:
            means = env.means[expr] = self._means(expr, env)
        if means is None:
            return None
        if means is GLOBAL:
            return self.global_name(env.module, expr.name)
        if means is PARAMETER:
            return self.evaluator.arguments.parameter(env, expr.name)
        assert isinstance(means, Expr)
        return self.evaluator.values(means, env)

    def _means(self, expr: Expr, env: Env) -> Meaning:
        """The meaning of a name in a function: a global name, a parameter, or an expression assigned to it."""
        facts, name = env.facts if env.function >= 0 else None, expr.name
        if facts is None or self._clause(expr, env) is not None or self.evaluator.conditions.tells(expr, env):
            return None
        if name not in facts.bound or name in facts.globals:
            return GLOBAL if facts.parent < 0 else None
        seen = self.seen(name, env, expr.start)
        if len(seen) != 1 or seen[0][1] or (env.function, name) in env.module.nonlocal_writers:
            return None
        event = seen[0][0].event
        if seen[0][0].kind == "parameter":
            return PARAMETER
        if event is None or event.kind not in ("assign", "augment", "annotate") or event.target is None:
            return None
        given = event.value if event.target.kind == "name" else None
        return given if given is not None and given.kind not in _NOT_DIRECT else None

    def of_module(self, expr: Expr, env: Env) -> Values | None:
        """The values of `Loader` or `data.Loader` that are the same in all activations; None where they may differ.

        They are where no function around the name binds it but by importing, and where the attribute is of what is
        imported.
        """
        if expr.kind == "attribute":
            bases = self.of_module(expr.args[0], env)
            imported = bases is not None and all(isinstance(base, (Ext, Mod)) for base in bases)
            return self.evaluator.values(expr, env) if imported else None
        if expr.kind != "name" or self._clause(expr, env) is not None:
            return None
        function = env.function
        while function >= 0:
            facts = env.module.model.functions[function]
            if expr.name in facts.globals:
                break
            if expr.name in facts.bound:
                bindings = env.module.bindings[function, -1].get(expr.name, ())
                if not all(binding.imported for binding in bindings):
                    return None
                return unique(value for item in bindings for value in self.bound_values(item, expr.name, env))
            function = facts.parent
        return self.global_name(env.module, expr.name)

    def _clause(self, expr: Expr, env: Env) -> tuple[Expr, tuple[int, ...]] | None:
        """The iterable of the comprehension that binds a name where it stands, and where in its items it is."""
        clauses = env.module.comprehensions.get(env.function)
        if not clauses:
            return None
        key = expr, env.function
        if key not in self._clauses:
            self._clauses[key] = next(_clauses_of(expr, clauses), None)
        return self._clauses[key]

    def _comprehension_target(self, expr: Expr, env: Env) -> Values | None:
        clause = self._clause(expr, env)
        if clause is None:
            return None
        iterable, path = clause
        return self.evaluator.containers.destructure(self.evaluator.containers.iterated(iterable, env), path, expr, env)

    def lookup(self, name: str, env: Env, offset: int | None = None) -> Values | None:
        """The values of a name in a scope, or None where nothing binds it. `offset` None: when the scope has run."""
        scope: Env | None = env
        while scope is not None and scope.function >= 0:
            facts = scope.facts
            if name in facts.globals:
                break
            if name in facts.bound:
                return self._local(name, scope, offset if scope is env else None)
            scope = scope.outer or (self.evaluator.generic(scope.module, facts.parent) if facts.parent >= 0 else None)
        at = offset if env.function < 0 else None
        return self.global_name(env.module, name, at)

    def _local(self, name: str, env: Env, offset: int | None) -> Values:
        seen = self.seen(name, env, offset)
        arm = self._only_arm(seen, env, offset) if offset is not None else None
        if arm is not None:
            return self.evaluator.values(arm, env)
        writers = env.module.nonlocal_writers.get((env.function, name), ())
        if len(seen) == 1 and not seen[0][1] and not writers:
            return self.bound_values(seen[0][0], name, env)
        found: list[Value] = []
        for binding, tests in seen:
            if binding.block >= 0 and not self.evaluator.conditions.may_run(env, binding.start):
                continue
            values = self.bound_values(binding, name, env)
            found += self.evaluator.conditions.not_replaced(values, name, tests, env) if tests else values
        for function in writers:
            inner = env.module.bindings[function, -1].get(name, [])
            generic = self.evaluator.generic(env.module, function)
            found += [value for binding in inner for value in self.bound_values(binding, name, generic)]
        return unique(found)

    def _only_arm(self, seen: list[tuple[Binding, Tests]], env: Env, offset: int) -> Expr | None:
        """The arm of `x = a if test else b`, the only binding, that tests where the name is read have chosen."""
        event = seen[0][0].event if len(seen) == 1 else None
        if event is None or event.kind != "assign" or event.value is None or event.value.kind != "ifexp":
            return None
        if event.target is None or event.target.kind != "name":
            return None
        here = [
            known
            for known in known_at(env.module, env.function, offset)
            if constant_in(env.module, env.function, known.subject)
        ]
        return chosen_arm(event.value, here)

    def seen(self, name: str, env: Env, offset: int | None) -> list[tuple[Binding, Tests]]:
        """The bindings that a local name may have at a place, with the tests under which others have replaced them.

        They are the same in every activation, unless the evaluator is narrowed.
        """
        key = env.module, env.function, name, offset
        known = self._bindings.get(key)
        if known is None or self.evaluator.is_narrowed:
            bindings = env.module.bindings[env.function, -1].get(name, [])
            seen = self._executed(reaching(env.module, env.function, bindings, offset), env)
            known = self._bindings[key] = [
                (binding, tuple(replacing(env.module, env.function, binding, seen, offset)))
                for binding in seen
                if not self._excluded(binding, env, offset)
            ]
        return known

    def _excluded(self, binding: Binding, env: Env, offset: int | None) -> bool:
        """Whether the tests around a binding contradict those around the place where its name is read."""
        if offset is None or binding.block < 0:
            return False
        module, function = env.module, env.function
        here, there = (list(stated_at(module, function, place)) for place in (offset, binding.start))
        return any(
            one.excludes(other) and constant_in(module, function, one.subject, min(asked, before))
            for asked, one in here
            for before, other in there
        )

    def _executed(self, seen: list[Binding], env: Env) -> list[Binding]:
        """The bindings, newest first, that may run where the evaluator is narrowed to, down to one that surely does."""
        if not self.evaluator.is_narrowed:
            return seen
        found = []
        for binding in seen:
            if binding.event is None or self.evaluator.conditions.may_run(env, binding.start):
                found.append(binding)
                if binding.block >= 0 and self.evaluator.conditions.surely_entered(env, binding.block):
                    break
        return found

    def global_name(self, module: Module, name: str, offset: int | None = None) -> Values | None:
        """The values of a module's name; None where the module does not bind it."""
        if offset is not None:
            return self._global(module, name, offset)
        return self.evaluator.ask(self._globals, (module, name), (), self._global, module, name, None)

    def _global(self, module: Module, name: str, offset: int | None) -> Values | None:
        bindings = module.bindings[-1, -1].get(name, [])
        env = self.evaluator.generic(module, -1)
        seen = self._executed(reaching(module, -1, bindings, offset), env)
        found = [value for binding in seen for value in self.bound_values(binding, name, env)]
        for function, event in module.writers_of_globals.get(name, ()):
            found += self.event_values(event, name, self.evaluator.generic(module, function))
        if found or bindings:
            return unique(found)
        starred = self._starred(module, name)
        if starred is not None:
            return starred
        return (Ext(f"builtins.{name}"),) if name in _BUILTINS else None

    def _starred(self, module: Module, name: str) -> Values | None:
        """The values of a name that only a star import can bind: the last one that does, if the project has it.

        What other packages offer isn't seen: a class may be one of torch's where no module of the project has it.
        """
        stars, is_class = self._stars[module], name[:1].isupper()
        for position in sorted({*stars.offering.get(name, ()), *(stars.open if is_class else ())}, reverse=True):
            found = self.global_name(stars.targets[position], name)
            if found and found != (Ext(f"builtins.{name}"),):
                return found
        for known in (canonical(f"{module}.{name}") for module in reversed(stars.outside)):
            if known in self.evaluator.loaders:
                return (Ext(known),)
        return (Ext(canonical(f"{stars.torch}.{name}")),) if is_class and stars.torch else None

    def _find_stars(self, module: Module) -> _Stars:
        """What star imports bring to a module, by name: a package that offers all others has thousands of names.

        Asking each of the others for each name would keep an answer for every pair of them.
        """
        targets, offering, open_ = list[Module](), defaultdict[str, list[int]](list), list[int]()
        outside: list[str] = []
        for imported in module.star_imports:
            target = self.evaluator.index.find(module.path, imported.module, imported.level)
            if target is not None and target is not module:
                offered = self._offered[target]
                for name in offered.names:
                    offering[name].append(len(targets))
                if offered.known:
                    open_.append(len(targets))
                targets.append(target)
            elif target is None and self._has_loaders(imported):
                outside.append(imported.module)
        torch = next((name for name in reversed(outside) if name.startswith("torch")), "")
        return _Stars(targets, offering, open_, outside, torch)

    def _has_loaders(self, imported: ImportedName) -> bool:
        """Whether an import is of another package that has loaders."""
        return imported.module.startswith("torch") or imported.module.partition(".")[0] in self._loading

    @cached_property
    def _loading(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name in self.evaluator.loaders)

    def starred(self, module: Module) -> tuple[Module, ...] | None:
        """The modules whose names star imports may bring along; None where the project doesn't have all of them."""
        offered = self._offered[module]
        return None if offered.outside else offered.modules[1:]

    def _find_offered(self, module: Module) -> _Offered:
        """The names that a module binds, itself or by star imports."""
        seen, waiting, names, known, outside = {module: None}, [module], set[str](), False, False
        while waiting:
            inner = waiting.pop()
            names.update(inner.bindings[-1, -1], inner.writers_of_globals)
            for imported in inner.star_imports:
                target = self.evaluator.index.find(inner.path, imported.module, imported.level)
                known = known or (target is None and self._has_loaders(imported))
                outside = outside or target is None
                if target is not None and target not in seen:
                    seen[target] = None
                    waiting.append(target)
        return _Offered(frozenset(names), tuple(seen), known, outside)

    def bound_values(self, binding: Binding, name: str, env: Env) -> Values:
        """The values that one binding gives its name."""
        if binding.imported is not None:
            return self._external(binding.imported, env.module) or self._imported(binding.imported, env)
        if binding.kind == "parameter":
            return self.evaluator.arguments.parameter(env, name)
        assert binding.event is not None
        return self.event_values(binding.event, name, env)

    def event_values(self, event: Event, name: str, env: Env) -> Values:
        """The values that an event gives a name (or, with a dotted target, an attribute)."""
        if event.kind == "def":
            return self.defined(Func(env.module, event.ref, env if env.function >= 0 else None), env)
        if event.kind == "class":
            return (Klass(env.module, event.ref, env if env.function >= 0 else None),)
        if event.target is None or event.value is None:
            return ()
        if event.kind in ("assign", "augment", "annotate") and event.target.kind == "name":
            return self.evaluator.values(event.value, env)
        path = path_to(event.target, name)
        if event.kind == "for":
            return self.evaluator.containers.destructure(
                self.evaluator.containers.iterated(event.value, env), path or (), event.target, env
            )
        values = self.evaluator.values(event.value, env)
        if event.kind == "with":
            values = self._entered(values)
        return self.evaluator.containers.destructure(values, path or (), event.target, env)

    def _entered(self, values: Values) -> Values:
        """The values that `with x as y` binds: x itself, unless a class of the project returns something else."""
        found: list[Value] = []
        for value in values:
            enter = self.evaluator.classes.method(value, "__enter__") if isinstance(value, Inst) else None
            found += self.evaluator.calls.returned(enter.func, None, None, value) if enter is not None else (value,)
        return unique(found)

    def _external(self, imported: ImportedName, module: Module) -> Values:
        """The value of an import from outside the project: the same object for each request."""
        known = self._outside.get(id(imported))
        if known is None:
            dotted = f"{imported.module}.{imported.attribute}" if imported.attribute else _whole(imported)
            index = self.evaluator.index
            ours = imported.level or any(index.find(module.path, name, 0) for name in (imported.module, dotted))
            ours = ours or index.lacks(module.path, imported.module)
            known = self._outside[id(imported)] = () if ours else (Ext(canonical(dotted)),)
        return known

    def _imported(self, imported: ImportedName, env: Env) -> Values:
        """The values that an import statement binds to a name."""
        path, module, attribute, level = env.module.path, imported.module, imported.attribute, imported.level
        if not attribute:
            whole = _whole(imported)
            target = self.evaluator.index.find(path, whole, level)
            itself = target is env.module and not path.endswith("__init__.py")  # it means a package of its name
            return (Mod(target),) if target is not None and not itself else (Ext(canonical(whole)),)
        target = self.evaluator.index.find(path, module, level) if module or level else None
        if target is not None and target is not env.module:
            found = self.global_name(target, attribute)
            if found and found != (Ext(f"builtins.{attribute}"),):
                return found
            if found == () and self.evaluator.fixpoint.is_open():
                return ()
        dotted = f"{module}.{attribute}" if module else attribute
        submodule = self.evaluator.index.find(path, dotted, level)
        if submodule is not None:
            return (Mod(submodule),)
        namesake = self.evaluator.index.namesake(env.module, imported)
        if namesake is not None:
            return self.global_name(namesake, attribute) or ()
        if not level and self.evaluator.index.lacks(path, module):
            return ()  # the import fails
        return (Ext(canonical(dotted) if not level else f".{dotted}"),)

    def defined(self, func: Func, env: Env) -> Values:
        """The value of a decorated function: itself, or the wrapper that a decorator of the project returns."""
        facts = func.facts
        for decorator in reversed(facts.decorators):
            for value in self.evaluator.values(decorator, env):
                wrappers = self._wrappers(value)
                if wrappers:
                    return wrappers
        return (func,)

    def _wrappers(self, decorator: Value) -> Values:
        """The nested functions that a project's decorator returns in place of the decorated one, without `wraps`."""
        if not isinstance(decorator, Func) or decorator.facts.kind != "def":
            return ()
        generic = self.evaluator.generic(decorator.module, decorator.index)
        found = []
        for event in decorator.facts.events:
            if event.kind == "return" and event.value is not None:
                for value in self.evaluator.values(event.value, generic):
                    if isinstance(value, Func) and value.facts.parent == decorator.index:
                        if is_wrapper(value.facts):
                            return ()
                        found.append(value)
        return tuple(found)


def is_wrapper(function: Function) -> bool:
    """Whether a function has the name of another one, `@functools.wraps(f)`: a decorator returns it."""
    return any(part.name == "wraps" for item in function.decorators for part in item.walk())


def _clauses_of(expr: Expr, clauses: Iterable[tuple[Expr, Expr, Expr]]) -> Iterator[tuple[Expr, tuple[int, ...]]]:
    """The iterables of the comprehensions that bind a name where it stands, and where in their items it is."""
    for comprehension, target, iterable in clauses:
        if comprehension.start <= expr.start < comprehension.end:
            path = path_to(target, expr.name) if not iterable.start <= expr.start < iterable.end else None
            if path is not None:
                yield iterable, path


def _whole(imported: ImportedName) -> str:
    """The module that `import a.b` binds: a."""
    first = imported.module.split(".")[0]
    return first if imported.bound == first else imported.module
