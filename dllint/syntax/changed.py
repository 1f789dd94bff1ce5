"""Where code changes an entry that it takes out of a container, and not a copy."""

from __future__ import annotations

import ast

from dllint.source import Source, Span
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings

_CHANGING = {
    *("append", "extend", "insert", "remove", "clear", "sort", "reverse", "update", "add", "discard"),
}
"""Methods that change lists, dictionaries and sets; as statements, since others have some that return a copy."""
_TAKING = {"pop", "popitem", "setdefault"}
"""Methods that do both, change and return something."""


def changed_entry(source: Source, container: Span) -> Span | None:
    """Where an entry of the container that an expression reads is changed: itself, or a variable for it."""
    seen = outline(source.text)
    node = _expression(seen, container) if seen is not None else None
    if seen is None or node is None:
        return None
    above, field = seen.parents[node]
    if not isinstance(above, ast.Subscript) or field != "value" or not isinstance(above.ctx, ast.Load):
        return None
    if _is_changed(seen, above):
        return Span(*seen.offsets.span(above))
    match seen.parents[above][0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is above:
            return _of_variable(seen, above, name)
    return None


def _expression(seen: Outline, span: Span) -> ast.expr | None:
    found = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Attribute))
    return next((node for node in found if seen.offsets.span(node) == (span.start, span.end)), None)


def _of_variable(seen: Outline, node: ast.expr, name: str) -> Span | None:
    """Where a variable that is bound once is changed."""
    scope = binder(seen, node, name)
    if scope is None or len(bindings(scope).get(name, ())) != 1:
        return None
    uses = [part for part in ast.walk(scope) if isinstance(part, ast.Name) and part.id == name]
    spans = [seen.offsets.span(part) for part in uses if _is_changed(seen, part)]
    return Span(*min(spans)) if spans else None


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
