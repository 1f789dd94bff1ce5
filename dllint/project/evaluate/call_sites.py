"""Call sites: every call in the project that may run a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Function
from dllint.project.evaluate.abstract_values import Func, Klass, Method
from dllint.project.evaluate.shapes import decorated
from dllint.project.program.module import Module, Site

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_CALL_SITES = 400
"""Callers of one function; what more of them pass is not known."""


class _Called(NamedTuple):
    """The functions that a call may run, with the positional arguments to skip, and the classes of an `__init__`."""

    functions: dict[tuple[Module, int], int]
    classes: list[Klass]


_NOTHING = _Called({}, [])


class CallSites:
    """Finds the calls of a function."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._callers: dict[tuple[str, int], list[tuple[Site, int]]] = {}
        self._called: dict[int, _Called] = {}
        self._by_name: dict[tuple[tuple[str, ...], Module], dict[int, list[tuple[Site, int]]]] = {}

    def callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """Every call in the project that may run this function, with the positional arguments to skip."""
        return self.evaluator.ask(self._callers, (module.path, function), [], self._find_callers, module, function)

    def _find_callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        facts = module.model.functions[function]
        names = tuple(sorted(self._call_names(module, facts)))
        if facts.name == "__init__":
            return self._constructions(names, module, function)
        called = self.evaluator.ask(self._by_name, (names, module), {}, self._called_by, names, module)
        return called.get(function, [])

    def _constructions(self, names: tuple[str, ...], module: Module, function: int) -> list[tuple[Site, int]]:
        found = []
        for site in self._named(names, module):
            called = self._called_at(site)
            skip = called.functions.get((module, function))
            if skip is None and called.classes:
                skip = self._constructs(called, module, function)
            if skip is not None:
                found.append((site, skip))
        return found[:MAX_CALL_SITES]

    def _called_by(self, names: tuple[str, ...], module: Module) -> dict[int, list[tuple[Site, int]]]:
        """The callers of a module's functions of a name: asking for those of one follows all calls of that name."""
        found: dict[int, list[tuple[Site, int]]] = {}
        for site in self._named(names, module):
            for (owner, function), skip in self._called_at(site).functions.items():
                callers = found.setdefault(function, []) if owner is module else []
                if len(callers) < MAX_CALL_SITES:
                    callers.append((site, skip))
        return found

    def is_returned(self, module: Module, function: int) -> bool:
        """Whether some `return` calls this function: asked where few calls of its name are returned."""
        facts = module.model.functions[function]
        named = self._named(sorted(self._call_names(module, facts)), module)
        returns = (site for site in named if site.event.kind == "return")
        return any(self._runs(site, module, facts) is not None for site in returns)

    def _named(self, names: Iterable[str], module: Module) -> Iterator[Site]:
        """The calls of something that has one of these names, where it may be something that a module has."""
        sites = (site for site in self.evaluator.index.calls_named(names) if self._may_mean(site, module))
        return islice(sites, MAX_CALL_SITES * 4)

    def _may_mean(self, site: Site, module: Module) -> bool:
        """Whether a call may run what a module has: in no other program, and of no object declared to be another."""
        if not self.evaluator.programs.share(site.module, module):
            return False
        callee = site.expr.args[0]
        return callee.kind != "attribute" or not self.evaluator.annotations.excludes(
            callee.args[0], site.module, site.function, module
        )

    def known(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """The calls that say what a function may be given. What tests pass is said of the tests alone."""
        callers = self.callers(module, function)
        return callers if module.is_test else [item for item in callers if not item[0].module.is_test]

    def _call_names(self, module: Module, facts: Function) -> set[str]:
        if facts.kind == "lambda":
            return set()
        names = {facts.name} | self.evaluator.index.aliases.get(facts.name, set())
        if facts.name == "__init__" and facts.owner >= 0:
            klass = self.evaluator.klass(module, facts.owner)
            for item in (klass, *self.evaluator.classes.subclasses(klass)):
                names |= {item.facts.name, *self.evaluator.index.aliases.get(item.facts.name, ())}
            names.add("cls")
        return names

    def _runs(self, site: Site, module: Module, facts: Function) -> int | None:
        called = self._called_at(site)
        skip = called.functions.get((module, facts.index))
        return self._constructs(called, module, facts.index) if skip is None and facts.name == "__init__" else skip

    def _constructs(self, called: _Called, module: Module, function: int) -> int | None:
        """0 where a call of a class runs this `__init__`."""
        for klass in called.classes:
            init = self.evaluator.classes.method(klass, "__init__")
            if init is not None and init.func.module is module and init.func.index == function:
                return 0
        return None

    def _called_at(self, site: Site) -> _Called:
        """The functions that a call may run. Functions often share a name, and all of them request the same calls."""
        return self.evaluator.ask(self._called, id(site.expr), _NOTHING, self._find_called, site)

    def _find_called(self, site: Site) -> _Called:
        values = self.evaluator.calls.callees(site.expr, self.evaluator.generic(site.module, site.function))
        functions: dict[tuple[Module, int], int] = {}
        for value in values:
            func = value.func if isinstance(value, Method) else value
            if isinstance(func, Func):
                functions.setdefault((func.module, func.index), int(value is func and _takes_its_object(func.facts)))
        return _Called(functions, [value for value in values if isinstance(value, Klass)])


def _takes_its_object(facts: Function) -> bool:
    """Whether a method that is called on its class gets the object as the first argument."""
    return facts.owner >= 0 and not decorated(facts, "staticmethod") and not decorated(facts, "classmethod")
