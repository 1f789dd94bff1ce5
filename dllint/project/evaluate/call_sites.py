"""Call sites: every call in the project that may run a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Function
from dllint.project.evaluate.shapes import decorated
from dllint.project.module import Module, Site
from dllint.project.values import Func, Klass, Method

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_CALL_SITES = 80


class _Called(NamedTuple):
    """What a call may run: functions, with the positional arguments to skip, and classes, whose `__init__` that is."""

    functions: dict[tuple[Module, int], int]
    classes: list[Klass]


class CallSites:
    """Finds the calls of a function."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._callers: dict[tuple[str, int], list[tuple[Site, int]]] = {}
        self._looking: set[tuple[str, int]] = set()
        """Functions whose callers are being found."""
        self._by_name: dict[tuple[str, ...], dict[tuple[Module, int], list[tuple[Site, int]]]] = {}
        self._called: dict[int, _Called] = {}

    def callers(self, module: Module, function: int) -> list[tuple[Site, int]]:
        """Every call in the project that may run this function, with the positional arguments to skip."""
        key = (module.path, function)
        known = self._callers.get(key)
        if known is not None:
            if key in self._looking:
                self.evaluator.cuts += 1
            return known
        facts = module.model.functions[function]
        names = tuple(sorted(self._call_names(module, facts)))
        told = self._called_by(names) if facts.name != "__init__" else None
        if told is not None:
            return self._callers.setdefault(key, told.get((module, function), []))
        found: list[tuple[Site, int]] = []
        self._callers[key] = found
        self._looking.add(key)
        for site in self._named(names):
            if len(found) >= MAX_CALL_SITES:
                break
            called = self._called.get(id(site.expr)) or self._called_at(site)
            skip = called.functions.get((module, function))
            if skip is None and called.classes and facts.name == "__init__":
                skip = self._constructs(called, module, function)
            if skip is not None:
                found.append((site, skip))
        self._looking.discard(key)
        return found

    def _called_by(self, names: tuple[str, ...]) -> dict[tuple[Module, int], list[tuple[Site, int]]] | None:
        """The callers of all functions of a name, once all calls of that name have been followed; None before."""
        if names not in self._by_name:
            found: dict[tuple[Module, int], list[tuple[Site, int]]] = {}
            for site in self._named(names):
                called = self._called.get(id(site.expr))
                if called is None:
                    return None
                for function, skip in called.functions.items():
                    callers = found.setdefault(function, [])
                    if len(callers) < MAX_CALL_SITES:
                        callers.append((site, skip))
            self._by_name[names] = found
        return self._by_name[names]

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
        called = self._called.get(id(site.expr)) or self._called_at(site)
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
        """What a call may run: many a function has the name of others, and all of them ask about the same calls."""
        env = self.evaluator.generic(site.module, site.function)
        callee = site.expr.args[0]
        values = self.evaluator.values(callee, env)
        functions: dict[tuple[Module, int], int] = {}
        for value in values:
            func = value.func if isinstance(value, Method) else value
            if isinstance(func, Func):
                functions.setdefault((func.module, func.index), int(value is func and _takes_its_object(func.facts)))
        called = _Called(functions, [value for value in values if isinstance(value, Klass)])
        if env.known.get(id(callee)) is values:  # else the value was cut short where it leads back to itself
            self._called[id(site.expr)] = called
        return called


def _takes_its_object(facts: Function) -> bool:
    """Whether a method that is called on its class gets the object as the first argument."""
    return facts.owner >= 0 and not decorated(facts, "staticmethod") and not decorated(facts, "classmethod")
