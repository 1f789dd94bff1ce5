"""Where what an expression makes is used first, in the code that makes it: what is above that runs before.

A name is followed where only its own scope reads it. What an `__init__` keeps in its object is used where the object
is, if nothing below uses the object; what a function only returns is used where the function is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module

_DISPLAYS = frozenset({"comprehension", "dict", "list", "set", "tuple"})
_BINDING = frozenset({"assign", "annotate"})


class Uses(NamedTuple):
    """The places where something may be used first, and whether only callers use it."""

    places: tuple[int, ...]
    by_callers: bool


def uses_of(module: Module, function: int, made: Expr) -> Uses:
    """Where a scope uses what an expression in it makes: unless that is known, where it is made."""
    here = Uses((made.start,), False)
    events = module.events(function) if function >= 0 else module.model.events
    event = next((event for event in events if event.value is not None and _gives(event.value, made)), None)
    if event is None or event.kind not in {*_BINDING, "return"}:
        return here
    if event.kind == "return":
        return Uses(here.places, True)
    target = event.target
    later = list(_later(module, event, events))
    if target is not None and target.kind == "attribute":
        kept = function >= 0 and module.model.functions[function].name == "__init__"
        return Uses(here.places, True) if kept and _is_left(module, function, target, later) else here
    names = {part.name for part in _names(target)} if target is not None else set()
    if not names or _is_shared(module, function, names):
        return here
    returned, used = _mentions(later, names)
    if used:
        return Uses((*used, *returned), False)
    return Uses(here.places, True) if function >= 0 else here


def _gives(value: Expr, made: Expr) -> bool:
    """Whether an expression gives what its part makes, in a display or as an attribute, and uses it for nothing."""
    if value is made:
        return True
    if value.kind == "attribute":
        return _gives(value.args[0], made)
    if value.kind == "ifexp":
        return any(_gives(part, made) for part in value.args[1:])
    if value.kind not in _DISPLAYS or value.name == "generator":
        return False
    return any(_gives(part, made) for part in value.args)


def _names(target: Expr) -> Iterator[Expr]:
    """The names that a target binds; none if it binds anything else."""
    parts = target.args if target.kind in ("list", "tuple") else (target,)
    if all(part.kind == "name" for part in parts):
        yield from parts


def _later(module: Module, event: Event, events: Iterable[Event]) -> Iterator[Event]:
    """The events that may come after one, until its function returns."""
    around = {-1, *module.enclosing(event.block)}
    again = any(index >= 0 and module.block(index).kind in LOOPS for index in around)
    for other in events:
        if other is not event and (again or other.start >= event.end):
            yield other
            if other.kind == "return" and other.start > event.start and other.block in around:
                return


def _mentions(events: Iterable[Event], names: set[str]) -> tuple[list[int], list[int]]:
    """Where events return what has one of these names, and where they may use it; its length is no use."""
    returned: list[int] = []
    used: list[int] = []
    for event in events:
        measured = {id(part) for call in _measuring(event) for part in call.walk()}
        bound = {id(part) for part in _names(event.target)} if event.kind in _BINDING and event.target else set()
        for part in event.walk():
            if part.kind == "name" and part.name in names and id(part) not in measured | bound:
                gives = event.kind == "return" and event.value is not None and _gives(event.value, part)
                (returned if gives else used).append(part.start)
    return returned, used


def _measuring(event: Event) -> Iterator[Expr]:
    """The calls of `len` on what has no calls of its own."""
    for part in event.walk():
        if part.kind == "call" and part.args[0].dotted == "len":
            if not any(inner.kind == "call" for arg in part.args[1:] for inner in arg.walk()):
                yield part


def _is_shared(module: Module, function: int, names: set[str]) -> bool:
    """Whether functions inside a scope read one of its names, or it isn't the scope's own."""
    if function >= 0 and not names.isdisjoint(module.model.functions[function].globals):
        return True
    inner = (number for number in range(len(module.model.functions)) if _is_inside(module, number, function))
    return any(
        part.kind == "name" and part.name in names and not _is_bound(module, number, part.name)
        for number in inner
        for event in module.events(number)
        for part in event.walk()
    )


def _is_inside(module: Module, number: int, function: int) -> bool:
    parent = module.model.functions[number].parent
    return parent == function or (parent >= 0 and _is_inside(module, parent, function))


def _is_bound(module: Module, number: int, name: str) -> bool:
    facts = module.model.functions[number]
    own = any(parameter.name == name for parameter in facts.parameters) or name in module.bindings[number, -1]
    return own and name not in facts.globals


def _is_left(module: Module, function: int, target: Expr, later: Iterable[Event]) -> bool:
    """Whether what follows in an `__init__` neither uses an attribute nor hands the object to anything."""
    owner, parameters = target.args[0], module.model.functions[function].parameters
    if owner.kind != "name" or not parameters or owner.name != parameters[0].name:
        return False
    if any(facts.parent == function for facts in module.model.functions):
        return False
    for event in later:
        called = {id(part.args[0]) for part in event.walk() if part.kind == "call"}
        others = {
            id(part.args[0])
            for part in event.walk()
            if part.kind == "attribute" and part.name != target.name and id(part) not in called
        }
        if any(part.name in (owner.name, "super") and id(part) not in others for part in event.walk()):
            return False
    return True
