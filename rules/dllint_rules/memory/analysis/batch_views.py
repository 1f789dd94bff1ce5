"""Views of batches: parts of them that share their memory, by whatever names a loop gives them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.shapes import path_to
from dllint.project.execution.passes import Loop
from dllint.project.program.flow import reaching

VIEW_METHODS = frozenset({
    "cpu", "detach", "numpy", "squeeze", "unsqueeze", "view", "flatten", "transpose", "permute", "t", "expand",
    "narrow", "select", "unbind", "chunk", "detach_", "view_as", "squeeze_", "unsqueeze_",
})  # fmt: skip
"""Methods of tensors whose result shares the memory of a tensor on the CPU (measured: a batch kept through `cpu`,
`detach`, `numpy` or a slice keeps its descriptor)."""
LISTED = frozenset({"unbind", "chunk"})
"""Those whose result is a tuple of tensors."""
_VIEW_ATTRIBUTES = frozenset({"data", "T", "mT"})
_TENSOR_ONLY = VIEW_METHODS | {"cuda", "to", "size", "requires_grad_", "float", "long", "item"}
MAX_STEPS = 8


def is_view(expr: Expr, one: Loop, depth: int = MAX_STEPS) -> bool:
    """Whether an expression is the batch, a part of it or a view of it."""
    if depth == 0:
        return False
    match expr.kind:
        case "name":
            return _name_is_view(expr, one, depth - 1)
        case "tuple" | "list":
            return any(is_view(arg, one, depth - 1) for arg in expr.args)
        case "attribute":
            return expr.name in _VIEW_ATTRIBUTES and is_view(expr.args[0], one, depth - 1)
        case "subscript":
            plain = all(
                index.kind in ("constant", "slice") or (index.kind == "unary" and index.name == "-")
                for index in expr.args[1:]
            )
            return plain and is_view(expr.args[0], one, depth - 1)
        case "call":
            callee = expr.args[0]
            if callee.kind != "attribute" or expr.keyword("copy") is not None:
                return False
            to_cpu = callee.name == "to" and len(expr.args) == 2 and expr.args[1].value == "cpu"
            return (callee.name in VIEW_METHODS or to_cpu) and is_view(callee.args[0], one, depth - 1)
    return False


def views_in(kept: Expr, one: Loop) -> Iterator[Expr]:
    """What is kept, if it is a view; of a display, the parts that are."""
    if kept.kind in ("tuple", "list"):
        for part in kept.args:
            yield from views_in(part, one)
    elif is_view(kept, one):
        yield kept


def _name_is_view(expr: Expr, one: Loop, depth: int) -> bool:
    bindings = one.env.module.bindings[one.env.function, -1].get(expr.name, [])
    if not bindings:
        return expr.name in one.names
    seen = reaching(one.env.module, one.env.function, bindings, expr.start)
    before = [item for item in seen if item.start <= expr.start and item.start >= one.event.start]
    if not before:
        return False
    newest = before[0]
    event = newest.event
    if event is one.event:
        return expr.name in one.names
    if event is not None and event.kind in ("assign", "for") and event.value is not None:
        source = _source(event, expr, one)
        taken = source or (event.value if event.kind == "for" else None)
        if taken is not None and calls_on_the_way(taken, one, frozenset({"numpy"})):
            return False  # the elements of an array of one dimension are numbers
        return is_view(source or event.value, one, depth)
    return False


def _source(event: Event, name: Expr, one: Loop) -> Expr | None:
    """What a name gets an element of, where `zip` or `enumerate` are between them."""
    path = path_to(event.target, name.name) if event.target is not None else None
    if not path or event.value is None:
        return None
    indexed = event.kind == "assign" and event.value.kind == "subscript"
    return _column(event.value.args[0] if indexed else event.value, path, one)


def _column(expr: Expr, path: tuple[int, ...], one: Loop, depth: int = MAX_STEPS) -> Expr | None:
    """The iterable whose elements are at a position of the elements of another one."""
    if not path or not depth:
        return expr if not path else None
    if expr.kind == "name":
        bindings = one.env.module.bindings[one.env.function, -1].get(expr.name, [])
        events = [item.event for item in reaching(one.env.module, one.env.function, bindings, expr.start)]
        made = events[0].value if len(events) == 1 and events[0] is not None and events[0] is not one.event else None
        return _column(made, path, one, depth - 1) if made is not None else None
    if expr.kind != "call" or expr.args[0].kind != "name":
        return None
    called, given = expr.args[0].name, expr.args[1:]
    if called == "zip" and path[0] < len(given) and not any(item.kind == "star" for item in given):
        return _column(given[path[0]], path[1:], one, depth - 1)
    if called == "enumerate" and path[0] == 1 and given:
        return _column(given[0], path[1:], one, depth - 1)
    return _column(given[0], path, one, depth - 1) if called in ("list", "tuple", "tqdm") and given else None


def calls_on_the_way(kept: Expr, one: Loop, methods: frozenset[str], depth: int = MAX_STEPS) -> bool:
    """Whether one of some methods is called on the way from the batch to what is kept."""
    if calls(kept, *methods):
        return True
    if kept.kind != "name" or not depth:
        return False
    bindings = one.env.module.bindings[one.env.function, -1].get(kept.name, [])
    for binding in reaching(one.env.module, one.env.function, bindings, kept.start)[:1]:
        event = binding.event
        if event is not None and event is not one.event and event.kind in ("assign", "for") and event.value:
            source = _source(event, kept, one) or event.value
            return calls_on_the_way(source, one, methods, depth - 1)
    return False


def seen_as_tensor(kept: Expr, one: Loop) -> bool:
    """Whether the loop treats what is kept as a tensor."""
    names = {part.name for part in kept.walk() if part.kind == "name"}
    body = one.env.module.block(one.block)
    return any(
        part.kind == "call"
        and part.args[0].kind == "attribute"
        and part.args[0].name in _TENSOR_ONLY
        and part.args[0].args[0].kind == "name"
        and part.args[0].args[0].name in names
        for event in one.env.module.events(one.env.function)
        if body.start <= event.start < body.end
        for part in event.walk()
    )


def calls(expr: Expr, *methods: str) -> bool:
    """Whether a method of one of these names is called in an expression."""
    return any(
        part.kind == "call" and part.args[0].kind == "attribute" and part.args[0].name in methods
        for part in expr.walk()
    )
