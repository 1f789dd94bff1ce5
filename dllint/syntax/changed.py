"""Where code changes an entry that it takes out of a container, and not a copy."""

from __future__ import annotations

import ast

from dllint.source import Source, Span
from dllint.syntax.mapping_uses import of_view
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings

_CHANGING = {
    *("append", "extend", "insert", "remove", "clear", "sort", "reverse", "update", "add", "discard"),
}
"""Methods that change lists, dictionaries and sets; as statements, since others have some that return a copy."""
_TAKING = {"pop", "popitem", "setdefault"}
"""Methods that do both, change and return something."""


def changed_entry(source: Source, container: Span) -> Span | None:
    """Where an entry of the container that an expression reads is changed: itself, or a variable for it.

    The expression is an attribute or a name; what a loop over it is given counts as an entry.
    """
    seen = outline(source.text)
    node = seen.expression_at(container) if seen is not None else None
    if seen is None or node is None:
        return None
    entry = _entry(seen, node)
    if entry is not None:
        if _is_changed(seen, entry):
            return Span(*seen.offsets.span(entry))
        chosen: ast.AST = entry
        while isinstance(seen.parents[chosen][0], ast.BoolOp | ast.IfExp):
            chosen = seen.parents[chosen][0]  # `rows.get(name) or []`
        match seen.parents[chosen][0]:
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is chosen:
                return _of_variable(seen, name)
        return None
    changed = (_of_variable(seen, name) for name in _loop_variables(seen, of_view(seen, node)))
    return next((span for span in changed if span is not None), None)


def _entry(seen: Outline, node: ast.expr) -> ast.expr | None:
    """What takes one entry out of a container: an index, or `get`."""
    above, field = seen.parents[node]
    if isinstance(above, ast.Subscript) and field == "value" and isinstance(above.ctx, ast.Load):
        return above
    call, role = seen.parents[above]
    asked = isinstance(above, ast.Attribute) and field == "value" and above.attr == "get"
    return call if asked and isinstance(call, ast.Call) and role == "func" else None


def _loop_variables(seen: Outline, node: ast.expr) -> list[ast.Name]:
    """The variables of the loop that goes over a container, itself or what a function makes of it."""
    above, field = seen.parents[node]
    while isinstance(above, ast.Call) and field == "args":
        above, field = seen.parents[above]
    if field != "iter" or not isinstance(above, ast.For | ast.AsyncFor | ast.comprehension):
        return []
    return [part for part in ast.walk(above.target) if isinstance(part, ast.Name)]


def _of_variable(seen: Outline, target: ast.Name) -> Span | None:
    """Where a variable is changed while it has what was bound to it here, as far as the order of lines tells."""
    scope = binder(seen, target, target.id)
    if scope is None:
        return None
    names = (node for node in bindings(scope).get(target.id, ()) if isinstance(node, ast.Name))
    bound = sorted(map(seen.offsets.span, names))
    own = seen.offsets.span(target)
    uses = (part for part in ast.walk(scope) if isinstance(part, ast.Name) and part.id == target.id)
    changed = sorted(seen.offsets.span(part) for part in uses if _is_changed(seen, part))
    last = (max((span for span in bound if span < use), default=own) for use in changed)
    return next((Span(*use) for use, binding in zip(changed, last, strict=True) if binding == own), None)


def _is_changed(seen: Outline, node: ast.expr) -> bool:
    above, field = seen.parents[node]
    match above:
        case ast.Subscript(ctx=ast.Store() | ast.Del()) if field == "value":
            return True
        case ast.Attribute(attr=method) if method in _CHANGING | _TAKING:
            call, role = seen.parents[above]
            return role == "func" and (method in _TAKING or isinstance(seen.parents[call][0], ast.Expr))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="random"), attr="shuffle")):
            return field == "args"
    return False
