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
        self._by_name: dict[tuple[str, ...], dict[tuple[Module, int], list[tuple[Site, int]]]] = {}

    def callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """Every call in the project that may run this function, with the positional arguments to skip."""
        return self.evaluator.ask(self._callers, (module.path, function), [], self._find_callers, module, function)

    def _find_callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        facts = module.model.functions[function]
        names = tuple(sorted(self._call_names(module, facts)))
        if facts.name == "__init__":
            return self._constructions(names, module, function)
        called = self.evaluator.ask(self._by_name, names, {}, self._called_by, names)
        return called.get((module, function), [])

    def _constructions(self, names: tuple[str, ...], module: Module, function: int) -> list[tuple[Site, int]]:
        found = []
        for site in self._named(names):
            called = self._called_at(site)
            skip = called.functions.get((module, function))
            if skip is None and called.classes:
                skip = self._constructs(called, module, function)
            if skip is not None:
                found.append((site, skip))
        return found[:MAX_CALL_SITES]

    def _called_by(self, names: tuple[str, ...]) -> dict[tuple[Module, int], list[tuple[Site, int]]]:
        """The callers of all functions of a name: asking for those of one function follows all calls of that name."""
        found: dict[tuple[Module, int], list[tuple[Site, int]]] = {}
        for site in self._named(names):
            for function, skip in self._called_at(site).functions.items():
                callers = found.setdefault(function, [])
                if len(callers) < MAX_CALL_SITES:
                    callers.append((site, skip))
        return found

    def is_returned(self, module: Module, function: int) -> bool:
        """Whether some `return` calls this function: asked where few calls of its name are returned."""
        facts = module.model.functions[function]
        named = self._named(sorted(self._call_names(module, facts)))
        returns = (site for site in named if site.event.kind == "return")
        return any(self._runs(site, module, facts) is not None for site in returns)

    def _named(self, names: Iterable[str]) -> Iterator[Site]:
        """The calls of something that has one of these names."""
        return islice(self.evaluator.index.calls_named(names), MAX_CALL_SITES * 4)

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
