"""Loaders that nobody goes through: all that any code asks them for is their dataset or their length.

A loader that is only returned goes to the callers of its function, which may take it out of a tuple, and one that is an
argument goes to the function that is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from dllint.model.facts import Event, Expr, Function
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Func, Value
from dllint.project.evaluate.signatures import changed
from dllint.project.program.events import flat_targets
from dllint.project.program.lookups import mentioned, scope_parts
from dllint.project.program.module import Module, Site
from dllint.project.program.unnamed import Unnamed

_SHOWN = frozenset({"batch_sampler", "batch_size", "dataset", "sampler"})
"""Attributes of a loader that say what it is, and start nothing."""
_PLACED = frozenset({"positional", "posonly"})
_NAMED = frozenset({"positional", "keyword"})


class Forgotten:
    """Answers which loaders these are, by the names that code gives them in functions."""

    def __init__(self, evaluator: Evaluator, unnamed: Unnamed) -> None:
        self.evaluator = evaluator
        self.unnamed = unnamed
        self._known: dict[tuple[str, int, str, int], bool] = {}

    def has(self, site: Site) -> bool:
        """Whether nobody goes through the loader that a call makes."""
        return site.event.kind != "expr" and self._drops(site, -1)

    def _is(self, module: Module, function: int, name: str, bound: Event | None) -> bool:
        """Whether nobody goes through what an event binds to a local name; None: what the parameter of the name is."""
        key = module.path, function, name, bound.start if bound is not None else -1
        return self.evaluator.ask(self._known, key, True, self._find, module, function, name, bound)

    def _find(self, module: Module, function: int, name: str, bound: Event | None) -> bool:
        inside = {item.index: item for item in module.inside(function)}
        if any("locals" in item.loads for item in inside.values()):
            return False
        scopes = ((index, klass) for index, klass, _ in module.scopes if index in inside)
        parts = [part for index, klass in scopes for part in scope_parts(module, index, klass)]
        events = [(item, event) for item in inside.values() for event in item.events]
        read = {id(part) for part in parts if _is(part, name)}
        read -= {id(part) for _, event in events for part in _bound(event, name)}
        read -= {id(shown) for part in parts for shown in _shown(part, name)}
        read -= set(self._of_others(module, function, name, bound))
        for item, event in events if read else ():
            for part, forgotten in self._handed_on(module, item, event, read):
                if not forgotten:
                    return False
                read.remove(id(part))
        return not read

    def _of_others(self, module: Module, function: int, name: str, bound: Event | None) -> Iterator[int]:
        """Where a function reads a name that something else has been bound to by then."""
        if len(module.bindings[function, -1].get(name, ())) < 2:
            return
        env = self.evaluator.generic(module, function)
        for event in module.events(function):
            for part in event.walk():
                seen = self.evaluator.names.seen(name, env, part.start) if _is(part, name) else ()
                if seen and all(binding.event is not bound for binding, _ in seen):
                    yield id(part)

    def _handed_on(self, module: Module, around: Function, event: Event, read: Set[int]) -> Iterator[tuple[Expr, bool]]:
        """The names of those read that an event returns or passes, and whether nobody goes through the loader there."""
        if event.kind == "return" and event.value is not None:
            parts = [(-1, event.value), *enumerate(_items(event.value))]
            yield from ((part, self._returned(module, around, place)) for place, part in parts if id(part) in read)
        for call in event.walk():
            for place, part in _placed(call) if call.kind == "call" else ():
                if id(part) in read:
                    called = self.evaluator.calls.callees(call, self.evaluator.generic(module, around.index))
                    yield part, bool(called) and all(self._gets(value, place) for value in called)

    def _gets(self, value: Value, place: int | str) -> bool:
        """Whether what is called is a function in which nobody goes through the argument at a place."""
        if not isinstance(value, Func) or value.facts.owner >= 0 or changed(value.facts):
            return False
        facts = value.facts
        by_place: dict[int | str, str] = dict(enumerate(item.name for item in facts.parameters if item.kind in _PLACED))
        by_place |= {item.name: item.name for item in facts.parameters if item.kind in _NAMED}
        return place in by_place and self._is(value.module, value.index, by_place[place], None)

    def _returned(self, module: Module, facts: Function, position: int) -> bool:
        """Whether nobody goes through what a function returns, at a position of a tuple or as it is (-1)."""
        if facts.owner >= 0 or facts.parent >= 0 or facts.decorators or self.unnamed.is_offered(module):
            return False
        if self.unnamed.is_looked_up(module) or not self._is_only_called(module, facts.name):
            return False
        callers = self.evaluator.call_sites.callers(module, facts.index)
        return bool(callers) and all(self._drops(site, position) for site, _ in callers)

    def _is_only_called(self, module: Module, name: str) -> bool:
        """Whether all that files do with a name that may be a function's is to call it."""
        if self.evaluator.index.aliases.get(name):
            return False
        files = (other for other in self.evaluator.programs.sharing(module) if name in self.unnamed.names(other))
        return all(
            sum(part.name == name for part in mentioned(file)) == len(file.calls.get(name, ())) for file in files
        )

    def _drops(self, site: Site, position: int) -> bool:
        """Whether nobody goes through what a call returns, at a position of a tuple or as it is (-1)."""
        events = [item for item in site.module.events(site.function) if item.value is site.expr]
        return bool(events) and all(self._is_dropped(site, event, position) for event in events)

    def _is_dropped(self, site: Site, event: Event, position: int) -> bool:
        if event.kind == "expr" or site.function < 0:
            return event.kind == "expr"
        around, target = site.module.model.functions[site.function], event.target
        if event.kind == "return":
            return self._returned(site.module, around, position)
        if event.kind != "assign" or target is None:
            return False
        item = target if position < 0 else next(iter(_items(target)[position:]), None)
        local = item is not None and item.kind == "name" and item.name in around.bound
        return local and item is not None and self._is(site.module, site.function, item.name, event)


def _items(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a tuple that unpacks nothing."""
    is_plain = expr.kind in ("tuple", "list") and all(part.kind != "star" for part in expr.args)
    return expr.args if is_plain else ()


def _placed(call: Expr) -> Iterator[tuple[int | str, Expr]]:
    """The arguments of a call, by the position or the name of their parameter."""
    if all(part.kind != "star" for part in call.args):
        yield from enumerate(call.args[1:])
    yield from ((name, value) for name, value in call.keywords if name != "**")


def _bound(event: Event, name: str) -> Iterator[Expr]:
    """The targets that an event binds to a name."""
    if event.target is not None and event.kind in ("assign", "annotate", "for", "with"):
        yield from (part for part in flat_targets(event.target) if _is(part, name))


def _shown(part: Expr, name: str) -> tuple[Expr, ...]:
    """The loader of this name that an expression asks for its dataset or its length."""
    if part.kind == "attribute" and part.name in _SHOWN:
        asked = part.args[0]
    elif part.kind == "call" and part.args[0].dotted == "len" and len(part.args) == 2:
        asked = part.args[1]
    else:
        return ()
    return (asked,) if _is(asked, name) else ()


def _is(expr: Expr, name: str) -> bool:
    return expr.kind == "name" and expr.name == name
