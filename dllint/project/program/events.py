"""The names and attributes that single events of a scope bind and set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint.model.facts import Event, Expr

_LEAVING = frozenset({"exit", "_exit", "quit"})
PROGRESS = frozenset({"tqdm", "trange", "track", "tqdm_notebook", "progressbar", "progress_bar", "alive_it"})
"""The last names of progress bars, which hand on what is looped over."""
WRAPPERS = PROGRESS | {
    "enumerate", "zip", "islice", "cycle", "iter", "chain", "reversed", "auto", "prefetch", "prepare", "master_bar",
    "log_every", "ProgressBar", "wrap", "map", "filter", "starmap", "ParallelLoader", "MpDeviceLoader",
}  # fmt: skip
"""What goes over its arguments where it is gone over itself."""
CONSUMERS = frozenset({
    "iter", "list", "tuple", "set", "frozenset", "dict", "sorted", "deque", "sum", "min", "max", "any", "all", "next",
})  # fmt: skip
_ASKS = frozenset({"__iter__", "__next__"})
"""The methods that `iter` and `next` call."""
_DISPLAYS = frozenset({"call", "list", "tuple", "set"})
_TAKERS = CONSUMERS | WRAPPERS
_READING = frozenset({"attribute", "subscript", "comprehension", "compare", "yieldfrom"})
"""Expressions that read or go over a part, and hand it to nothing."""


def written_by_name(event: Event) -> Iterator[tuple[str, Expr, Expr, Expr]]:
    """(name, base, where, value) of attributes set through `setattr` or through `__dict__`."""
    value, target = event.value, event.target
    if event.kind == "assign" and target is not None and target.kind == "subscript" and value is not None:
        base, key = target.args[0], target.args[1]
        if base.name == "__dict__" and base.kind == "attribute" and _is_text(key):
            yield str(key.value), base.args[0], target, value
    elif event.kind == "expr" and value is not None and value.kind == "call":
        callee, given = value.args[0], value.args[1:]
        if callee.name in ("setattr", "__setattr__") and len(given) > 2 and _is_text(given[-2]):
            yield str(given[-2].value), given[-3], value, given[-1]
        elif callee.name == "update" and callee.kind == "attribute" and callee.args[0].name == "__dict__":
            for owner in callee.args[0].args:
                yield from ((name, owner, value, item) for name, item in value.keywords if name != "**")


def _is_text(expr: Expr) -> bool:
    """Whether an expression is a text; an f-string has parts that aren't in its `value`."""
    return expr.kind == "constant" and isinstance(expr.value, str)


def event_names(event: Event) -> tuple[str, ...]:
    """The plain names that an event binds."""
    if event.kind in ("import", "except", "case"):
        return event.names
    if event.kind in ("def", "class"):
        return (event.name,)
    if event.target is not None and event.kind in ("assign", "augment", "for", "with", "annotate"):
        return tuple(target.name for target in flat_targets(event.target) if target.kind == "name")
    return ()


def leaves(event: Event) -> bool:
    """Whether an event leaves its function, or the program: `return`, `raise`, `exit()`."""
    called = event.value is not None and event.value.kind == "call" and event.value.args[0].name in _LEAVING
    return event.kind in ("return", "raise") or called


def holds_from(event: Event) -> int:
    """Where a binding event takes effect: after its value is computed."""
    if event.kind in ("for", "with") and event.value is not None:
        return event.value.end
    return event.end if event.kind not in ("except", "case") else event.start


def flat_targets(target: Expr) -> Iterator[Expr]:
    """The targets in a possibly nested tuple target."""
    if target.kind in ("tuple", "list", "star"):
        for part in target.args:
            yield from flat_targets(part)
    else:
        yield target


def surely_evaluated(expr: Expr) -> Iterable[Expr]:
    """The parts of an expression that are evaluated whenever it is."""
    match expr.kind:
        case "ifexp" | "boolop":
            return expr.args[:1]
        case "compare":
            return expr.args[:2]
        case "comprehension":
            return [value for key, value in expr.keywords if key == "in"][:1]
    return (*expr.args, *(value for _, value in expr.keywords))


def iterated_by(event: Event) -> Iterator[Expr]:
    """The expressions that an event iterates at once."""
    unpacks = event.target is not None and event.target.kind in ("list", "tuple")
    if event.value is not None and (event.kind == "for" or unpacks):
        yield event.value
    for expr in event.walk():
        if expr.kind == "comprehension":
            iterables = [value for key, value in expr.keywords if key == "in"]
            # A generator asks for the iterator of its first iterable where it is made, and for the others later.
            yield from iterables[:1] if expr.name == "generator" else iterables
        elif expr.kind == "call" and len(expr.args) > 1 and expr.args[0].name in CONSUMERS:
            yield expr.args[1]
        elif expr.kind == "call" and expr.args[0].kind == "attribute" and expr.args[0].name in _ASKS:
            yield from expr.args[0].args
        elif expr.kind == "yieldfrom":
            yield from expr.args
        if expr.kind in _DISPLAYS:
            yield from (part.args[0] for part in expr.args if part.kind == "star")


def handed_on(event: Event) -> Iterator[str]:
    """The names of what an event passes to a call, returns, puts into something or gives another name."""
    if event.kind in ("return", "assign") and event.value is not None:
        yield event.value.name
    takers = CONSUMERS if event.kind == "assign" else _TAKERS  # a wrapper that is kept is handed on
    for expr in event.walk():
        if expr.kind in _READING:
            continue
        parts = expr.args
        if expr.kind == "call":
            if parts[0].name in takers:
                continue
            parts = parts[1:]
        for part in parts:
            yield part.name
        for _, part in expr.keywords:
            yield part.name
