"""Where a line goes that follows a statement."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dllint.source import Source, Span
from dllint.syntax.outline import Outline, outline


def after_statement(source: Source, function: Span, offsets: Sequence[int]) -> tuple[int, str] | None:
    """Where a line goes that follows everything at some offsets in a function, and its indentation.

    It stays in a branch that has all of them, and comes below loops. None where the statement shares its lines with
    others.
    """
    seen = outline(source.text)
    node = seen.function_at(function.start) if seen else None
    if seen is None or node is None or isinstance(node, ast.Lambda):
        return None
    spans = [seen.offsets.span(statement) for statement in _branch(seen, node.body, offsets) or node.body]
    index = next((index for index, (start, end) in enumerate(spans) if start <= max(offsets) < end), None)
    if index is None or source.location(spans[index][0])[0] == node.lineno:
        return None
    return _line_below(source, spans[index])


def _branch(seen: Outline, body: list[ast.stmt], offsets: Sequence[int]) -> list[ast.stmt] | None:
    """The innermost branch that has all offsets; None if there is none."""
    for statement in body:
        match statement:
            case ast.If(body=first, orelse=second):
                arms = [arm for arm in (first, second) if arm and _holds(seen, arm, offsets)]
                if arms:
                    return _branch(seen, arms[0], offsets) or arms[0]
            case ast.With(body=inner) | ast.AsyncWith(body=inner) | ast.Try(body=inner):
                if _holds(seen, inner, offsets):
                    return _branch(seen, inner, offsets)
    return None


def _holds(seen: Outline, body: list[ast.stmt], offsets: Sequence[int]) -> bool:
    start, end = seen.offsets.span(body[0])[0], seen.offsets.span(body[-1])[1]
    return start <= min(offsets) and max(offsets) < end


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


def below_branches(source: Source, offsets: Sequence[int]) -> tuple[Span, tuple[int, str]] | None:
    """An `if` each of whose branches has a statement at one of some offsets, the line below it, and its indentation.

    A branch that raises may lack one. None where there is no such `if`, or where one of its branches may leave it.
    """
    seen = outline(source.text)
    for node in ast.walk(seen.tree) if seen else ():
        if seen and isinstance(node, ast.If) and _holds(seen, [node], offsets):
            start, end = seen.offsets.span(node)
            own = not source.text.startswith("elif", start) and not any(map(_leaves, ast.walk(node)))
            below = _line_below(source, (start, end)) if own and _sets(seen, [node], offsets) else None
            if below is not None:
                return Span(start, end), below
    return None


def _leaves(node: ast.AST) -> bool:
    return isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Yield | ast.YieldFrom)


def _sets(seen: Outline, body: list[ast.stmt], offsets: Sequence[int]) -> bool:
    """Whether what goes through some statements comes by one of the offsets, or raises."""
    for statement in body:
        match statement:
            case ast.If(body=first, orelse=second):
                if _sets(seen, first, offsets) and _sets(seen, second, offsets):
                    return True
            case ast.Raise():
                return True
            case ast.Assign():
                start, end = seen.offsets.span(statement)
                if any(start <= offset < end for offset in offsets):
                    return True
    return False


def _line_below(source: Source, span: tuple[int, int]) -> tuple[int, str] | None:
    first, last = (source.location(position)[0] for position in span)
    begins, ends = source.row_span(first).start, source.row_span(last).end
    indent, rest = source.text[begins : span[0]], source.text[span[1] : ends].strip()
    if indent.strip() or (rest and not rest.startswith("#")):
        return None
    return (source.line_starts[last], indent) if last < len(source.line_starts) else None
