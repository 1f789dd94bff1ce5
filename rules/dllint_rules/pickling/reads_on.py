"""Whether an open file is read on from where it is: one that each worker opens would give all of them the same."""

from __future__ import annotations

from collections.abc import Iterator, Set

from dllint import Expr, OwnAttribute, Place, Span

_NEXT = {"read", "read1", "readinto", "readline", "readlines", "blocks", "grab", "retrieve"}
"""Methods that give what comes next."""
_PLACING = {"seek": 0, "set": 1}
"""Those that go to a place, and which of their arguments says where."""
_TELLING = {"bool", "hash", "id", "isinstance", "len", "print", "repr", "str", "type"}
"""Functions that read nothing of a file which they are given."""


def reads_on(attribute: OwnAttribute) -> tuple[str, Span] | None:
    """The first code that reads what comes next of a file, though nothing above it goes to where an item begins."""
    before = attribute.project.handles.set_up(attribute.klass)
    by_function: dict[tuple[str, int], list[Place]] = {}
    for place in attribute.attribute.places or ():
        by_function.setdefault((place.module.path, place.function), []).append(place)
    later = ((path, places) for (path, at), places in sorted(by_function.items()) if (path, at) not in before)
    return next(((path, span) for path, places in later for span in _in_function(places)), None)


def _in_function(places: list[Place]) -> Iterator[Span]:
    """What reads on in a function, in its order, up to where it goes to a place."""
    spans = {place.use.span for place in places}
    names: set[str] = set()
    for event in places[0].module.events(places[0].function):
        if event.value is not None and event.target is not None and event.value.span in spans:
            if event.kind == "for":
                yield event.value.span
            names |= {event.target.name} if event.target.kind == "name" else set()
        elif event.kind == "for" and event.value is not None and _is_it(event.value, spans, names):
            yield event.value.span
        calls = sorted((expr for expr in event.walk() if expr.kind == "call"), key=lambda call: call.end)
        for call in calls:
            if _places(call, spans, names, always=event.block < 0):
                return
            if _reads(call, spans, names):
                yield call.span


def _is_it(expr: Expr, spans: Set[Span], names: Set[str]) -> bool:
    return expr.span in spans or (expr.kind == "name" and expr.name in names)


def _reads(call: Expr, spans: Set[Span], names: Set[str]) -> bool:
    """Whether a call reads what comes next: a method of the file, or a function that is given it and no place in it."""
    callee, given = call.args[0], call.args[1:]
    if callee.kind == "attribute" and _is_it(callee.args[0], spans, names):
        return callee.name in _NEXT
    alone = len(given) == 1 and callee.name not in _TELLING
    from_here = callee.name == "fromfile" and call.keyword("offset") is None
    return (alone or from_here) and bool(given) and _is_it(given[0], spans, names)


def _places(call: Expr, spans: Set[Span], names: Set[str], always: bool) -> bool:
    """Whether a call goes to a place for the item: one that is written out is gone to for all items, or at the end."""
    callee = call.args[0]
    if callee.kind != "attribute" or callee.name not in _PLACING or not _is_it(callee.args[0], spans, names):
        return False
    given = call.args[1:][_PLACING[callee.name] :][:1]
    return always or (bool(given) and given[0].kind not in ("constant", "unary"))
