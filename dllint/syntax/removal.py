"""Statements taken out of a file, and the imports that nothing else needs."""

from __future__ import annotations

import ast
import re

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.nested import empty_below, end_of
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings


def without_statement(source: Source, start: int) -> tuple[Edit, ...]:
    """The edits that remove the call that is a whole statement and begins at an offset, and the import it needed.

    Empty where the call is part of something larger, shares its lines, or has a comment that would be lost or be left.
    """
    seen = outline(source.text)
    statement = _statement_at(seen, start) if seen else None
    if seen is None or statement is None or not stands_alone(source, seen, statement):
        return ()
    parent, field = seen.parents[statement]
    siblings = getattr(parent, field)
    if len(siblings) == 1:
        edit = Edit(source.path, Span(*seen.offsets.span(statement)), "pass")
    else:
        edit = Edit(source.path, lines_of(source, statement, siblings[0] is statement), "")
    names = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return edit, *(without_import(source, names[0]) if names else ())


def _statement_at(seen: Outline, start: int) -> ast.Expr | None:
    found = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return next((node for node in found if seen.offsets.span(node)[0] == start), None)


def stands_alone(source: Source, seen: Outline, statement: ast.stmt) -> bool:
    """Whether a statement has its lines for itself, without comments there or right above."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    start, end = seen.offsets.span(statement)
    text = source.text[start:end]
    above = source.line(first - 1).lstrip() if first > 1 else ""
    whole = source.text[source.line_starts[first - 1] : end_of(source, last)]
    return not above.startswith("#") and "#" not in text and whole.strip() == text


def lines_of(source: Source, statement: ast.stmt, opens: bool) -> Span:
    """The lines of a statement, and of the empty ones around it the fewer; `opens`: it is the first of its block."""
    return rows_of(source, (statement.lineno, statement.end_lineno or statement.lineno), opens)


def rows_of(source: Source, rows: tuple[int, int], opens: bool) -> Span:
    """The same of the first and the last row of something. Where that opens a block, all empty lines around it go."""
    end = end_of(source, rows[1])
    top = rows[0]
    while top > 1 and not source.line(top - 1).strip():
        top -= 1
    below = empty_below(source, end)
    fewer = source.text[end : end + below].count(source.newline) <= rows[0] - top
    opens = opens and not source.line(top - 1).lstrip().startswith("#")
    first = top if opens or not fewer else rows[0]
    return Span(source.line_starts[first - 1], end + below * (opens or fewer))


def without_import(source: Source, name: str) -> tuple[Edit, ...]:
    """The removal of an import that binds just one name, for a fix that removes the only other place with that name."""
    seen = outline(source.text)
    once = len(re.findall(rf"\b{re.escape(name)}\b", source.text)) == 2
    if seen is None or not once or source.path.endswith("__init__.py"):
        return ()
    for node in ast.walk(seen.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound = [alias.asname or alias.name for alias in node.names]
            if name in bound:
                return _without_alias(source, seen, node, bound.index(name))
    return ()


def imports_left_behind(source: Source, seen: Outline, node: ast.AST) -> tuple[Edit, ...]:
    """The removal of what functions around a piece of syntax import for it alone, which takes that along."""
    inside = {part for part in ast.walk(node) if isinstance(part, ast.Name)}
    edits: tuple[Edit, ...] = ()
    for name in sorted({part.id for part in inside}):
        scope = binder(seen, node, name)
        made = bindings(scope).get(name, []) if scope is not None else []
        others = (part for part in ast.walk(scope or node) if isinstance(part, ast.Name) and part not in inside)
        if len(made) == 1 and isinstance(made[0], ast.alias) and all(part.id != name for part in others):
            statement = seen.parents[made[0]][0]
            assert isinstance(statement, (ast.Import, ast.ImportFrom))
            edits += _without_alias(source, seen, statement, statement.names.index(made[0]))
    return edits


def _without_alias(source: Source, seen: Outline, node: ast.Import | ast.ImportFrom, index: int) -> tuple[Edit, ...]:
    """The removal of one of the names that a statement imports, and of all of it where there is no other."""
    siblings = getattr(*seen.parents[node])
    if len(node.names) == 1:
        removable = len(siblings) > 1 and stands_alone(source, seen, node)
        return (Edit(source.path, lines_of(source, node, siblings[0] is node), ""),) if removable else ()
    spans = [seen.offsets.span(alias) for alias in node.names]
    last = index == len(spans) - 1
    span = Span(spans[index - 1][1], spans[index][1]) if last else Span(spans[index][0], spans[index + 1][0])
    return () if "#" in source.text[span.start : span.end] else (Edit(source.path, span, ""),)
