"""Where a line goes that follows a statement."""

from __future__ import annotations

import ast

from dllint.source import Source, Span
from dllint.syntax.outline import outline


def after_statement(source: Source, function: Span, offset: int) -> tuple[int, str] | None:
    """Where a line goes that follows the statement of a function's body that holds an offset, and its indentation.

    None where the statement shares its lines with others.
    """
    seen = outline(source.text)
    node = seen.function_at(function.start) if seen else None
    if seen is None or node is None or isinstance(node, ast.Lambda):
        return None
    spans = [seen.offsets.span(statement) for statement in node.body]
    index = next((index for index, (start, end) in enumerate(spans) if start <= offset < end), None)
    if index is None or node.body[index].lineno == node.lineno:
        return None
    return _line_below(source, spans[index])


def below_statement(source: Source, offset: int) -> tuple[int, str] | None:
    """Where a line goes that follows the innermost statement at an offset, and its indentation.

    None where the statement shares its lines with others.
    """
    seen = outline(source.text)
    found = [
        span
        for node in ast.walk(seen.tree if seen else ast.Module([], []))
        if seen and isinstance(node, ast.stmt) and (span := seen.offsets.span(node))[0] <= offset < span[1]
    ]
    return _line_below(source, max(found)) if found else None


def _line_below(source: Source, span: tuple[int, int]) -> tuple[int, str] | None:
    first, last = (source.location(position)[0] for position in span)
    begins, ends = source.row_span(first).start, source.row_span(last).end
    indent, rest = source.text[begins : span[0]], source.text[span[1] : ends].strip()
    if indent.strip() or (rest and not rest.startswith("#")):
        return None
    return (source.line_starts[last], indent) if last < len(source.line_starts) else None
