"""What goes through an attribute or asks it for items, with a function around each item."""

from __future__ import annotations

import ast

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.outline import Outline, outline


def on_each(source: Source, span: Span, function: str) -> list[Edit] | None:
    """The edits that give each item that is read of the attribute at a span to a function; none for its length.

    None where something else is asked of it.
    """
    seen = outline(source.text)
    nodes = ast.walk(seen.tree) if seen is not None else ()
    node = next((item for item in nodes if seen and _span(seen, item) == span), None)
    if seen is None or not isinstance(node, ast.Attribute):
        return None
    parent, field = seen.parents[node]
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Slice) and field == "value":
        return _on_all(source, seen, parent, function)
    match parent:
        case ast.Call(func=ast.Name(id="len")) | ast.Attribute(attr="__len__"):
            return []
        case ast.Subscript() if field == "value":
            return _around(source, Span(*seen.offsets.span(parent)), f"{function}(")
    return _on_all(source, seen, node, function)


def _on_all(source: Source, seen: Outline, node: ast.expr, function: str) -> list[Edit] | None:
    """The edits where a loop, or a built-in function that goes through what it is given, once, gets an expression."""
    match seen.parents[node]:
        case (ast.For() | ast.comprehension(), "iter") | (ast.Call(func=ast.Name(id="zip" | "enumerate")), "args"):
            return _around(source, Span(*seen.offsets.span(node)), f"map({function}, ")
    return None


def _around(source: Source, span: Span, opening: str) -> list[Edit]:
    return [
        Edit(source.path, Span(span.start, span.start), opening),
        Edit(source.path, Span(span.end, span.end), ")"),
    ]


def _span(seen: Outline, node: ast.AST) -> Span | None:
    return Span(*seen.offsets.span(node)) if isinstance(node, ast.Attribute) else None
