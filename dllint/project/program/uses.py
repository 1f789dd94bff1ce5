"""What code does with containers: it reads them where they stand, or it may keep them, change them or hand them on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.program.events import flat_targets

if TYPE_CHECKING:
    from dllint.project.program.module import Module

_DISPLAYS = frozenset({"list", "tuple", "set", "dict"})
_READERS = frozenset({
    "len", "bool", "any", "all", "sum", "sorted", "list", "tuple", "set", "frozenset", "dict",
    "enumerate", "isinstance", "print", "repr", "str", "type",
})  # fmt: skip
"""Builtin functions that read what they get: what they return is another object."""
_READING = frozenset({"get", "keys", "values", "items", "index", "count", "isdisjoint", "issubset", "issuperset"})
"""Methods of containers that read them."""
_OF_TEXT = frozenset({"join", "startswith", "endswith"})
_OPTIONS = frozenset({"choices", "**"})
"""Keywords whose values are only read."""


class _As(Enum):
    """What becomes of an expression's value where it stands."""

    TRUTH = "only its truth counts"
    READ = "it is read"
    HANDED = "it is kept, changed or handed on"


class Uses(NamedTuple):
    """What a function does with containers."""

    read: frozenset[int]
    """The displays and calls, by their identities, that are only read where they stand."""
    named: dict[int, tuple[str, ...]]
    """The names that those get which are assigned as they are; of a class's attribute, with a dot before it."""
    handed: dict[str, int]
    """The names whose values may be kept, changed or handed on, and where that first happens."""


def uses_of(module: Module, function: int) -> Uses:
    """What a function, or a module's own code (-1), does with containers."""
    read: set[int] = set()
    named: dict[int, tuple[str, ...]] = defaultdict(tuple)
    handed: dict[str, int] = {}
    bodies = [item for item in module.model.classes if item.parent == function]
    for dot, events in (("", module.events(function)), *((".", item.events) for item in bodies)):
        for event in events:
            for part in _changed(event):
                _hand(part, handed)
            value, target = event.value, event.target
            if value is None:
                continue
            if event.kind in ("assign", "annotate") and target is not None and target.kind == "name":
                if value.kind in _DISPLAYS or value.kind == "call":
                    named[id(value)] += (f"{dot}{target.name}",)
            _look(value, _how(event), module, read, handed)
    for expr in _in_headers(module, function):
        _look(expr, _As.HANDED, module, read, handed)
    return Uses(frozenset(read), dict(named), handed)


def _in_headers(module: Module, function: int) -> Iterator[Expr]:
    """The defaults, bases and decorators of what is defined in a function."""
    for item in module.model.functions:
        if item.parent == function:
            yield from item.decorators
            yield from (parameter.default for parameter in item.parameters if parameter.default is not None)
    for klass in module.model.classes:
        if klass.parent == function:
            yield from (*klass.decorators, *klass.bases, *(value for _, value in klass.keywords))


def _how(event: Event) -> _As:
    """What an event does with its value."""
    if event.kind in ("test", "assert"):
        return _As.TRUTH
    return _As.READ if event.kind in ("for", "expr") else _As.HANDED


def _changed(event: Event) -> Iterator[Expr]:
    """The names in the targets of an event of which something is changed: `x[0] = 1`, `x.y = 1`, `x += y`."""
    for target in flat_targets(event.target) if event.target is not None else ():
        changed = target.walk() if event.kind == "augment" else (part for arg in target.args for part in arg.walk())
        yield from (part for part in changed if part.kind in ("name", "attribute"))


def _hand(expr: Expr, handed: dict[str, int]) -> None:
    key = f".{expr.name}" if expr.kind == "attribute" else expr.name
    handed[key] = min(expr.start, handed.get(key, expr.start))


def _look(expr: Expr, use: _As, module: Module, read: set[int], handed: dict[str, int]) -> None:
    """Tell apart the parts of an expression that are read and those that are handed on."""
    stack = [(expr, use)]
    while stack:
        part, use = stack.pop()
        if use is _As.HANDED:
            if part.kind in ("name", "attribute"):
                _hand(part, handed)
        elif part.kind in _DISPLAYS or part.kind == "call":
            read.add(id(part))
        stack += _parts(part, use, module)


def _parts(expr: Expr, use: _As, module: Module) -> Iterator[tuple[Expr, _As]]:
    """The parts of an expression, each with what becomes of it."""
    args, how = expr.args, _As.HANDED
    match expr.kind:
        case "compare" | "fstring":
            how = _As.READ
        case "star":
            how = _As.READ
        case "unary" if expr.name == "not":
            how = _As.TRUTH
        case "boolop":
            how = use
        case "ifexp":
            yield args[0], _As.TRUTH
            args, how = args[1:], use
        case "attribute":
            how = _As.READ if expr.name in _READING | _OF_TEXT else _As.HANDED
        case "subscript":
            sliced = any(index.kind == "slice" for index in args[1:])
            yield args[0], _As.HANDED if sliced else _As.READ
            args = args[1:]
        case "call":
            yield args[0], _As.READ
            callee, args = args[0], args[1:]
            builtin = callee.kind == "name" and callee.name in _READERS and callee.name not in module.model.bound
            if builtin or (callee.kind == "attribute" and callee.name in _OF_TEXT):
                how = _As.READ
    yield from ((arg, how) for arg in args)
    for name, value in expr.keywords:
        match expr.kind, name:
            case "comprehension", "in":
                yield value, _As.READ
            case "comprehension", "if":
                yield value, _As.TRUTH
            case _:
                yield value, _As.READ if name in _OPTIONS else _As.HANDED
