"""Statements that mean the same above the main guard: what a person pastes there, and those that go there by a fix."""

from __future__ import annotations

import ast
import symtable

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.arguments import piece
from dllint.syntax.layout import BLANK, blank_above
from dllint.syntax.module_names import is_main_guard
from dllint.syntax.nested import dedented, empty_below, end_of, known_above, rows
from dllint.syntax.outline import Outline, outline
from dllint.syntax.removal import stands_alone
from dllint.syntax.scoping import bindings

_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.expr_context, ast.unaryop)


def above_guard(source: Source, offset: int) -> str:
    """The text of the statement at an offset, where it means the same above the guard; "" where it may not.

    It does when it runs in every case and needs no name that comes later. What is known only when the program runs,
    such as `args`, is passed along instead.
    """
    seen = outline(source.text)
    node = _statement(seen, offset) if seen is not None else None
    if seen is None or node is None or not _is_settled(node):
        return ""
    way = [parent for parent, _ in seen.path(node)]
    top = way[-2] if len(way) > 1 else node
    if not isinstance(top, ast.stmt) or any(not isinstance(parent, ast.FunctionDef) for parent in way[:-2]):
        return ""
    text = _text(source, seen, node)
    return text if text and not needed(text) - known_above(seen, seen.offsets.span(top)[0]) else ""


def lifted(source: Source, offset: int) -> tuple[Edit, ...]:
    """The edits that put a definition, or a name for what is written out, from the guard's block above the guard.

    Empty where `above_guard` has nothing, or where something else binds the name or shares its lines.
    """
    text, seen = above_guard(source, offset), outline(source.text)
    node = _statement(seen, offset) if text and seen is not None else None
    if seen is None or node is None or not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.Assign)):
        return ()
    guard, field = seen.parents[node]
    if not isinstance(guard, ast.If) or field != "body" or not is_main_guard(guard.test) or len(guard.body) < 2:
        return ()
    name = node.targets[0].id if isinstance(node, ast.Assign) else node.name  # type: ignore[attr-defined]
    assigned = isinstance(node, ast.Assign)
    if len(bindings(seen.tree).get(name, [])) != 1 or (assigned and not stands_alone(source, seen, node)):
        return ()
    first, last = rows(source, seen, node)
    row = guard.lineno
    while row > 1 and source.line(row - 1).startswith("#"):
        row -= 1
    opens = guard.body[0] is node
    start = end_of(source, guard.test.end_lineno or guard.lineno) if opens else source.line_starts[first - 1]
    end = end_of(source, last)
    at = Span(source.line_starts[row - 1], source.line_starts[row - 1])
    blank = source.newline * (0 if assigned else blank_above(source, row))
    below = source.newline * (2 if assigned else 1 + BLANK)
    return (
        *([Edit(source.path, at, blank)] if blank else []),
        Edit(source.path, at, text + below),
        Edit(source.path, Span(start, end + empty_below(source, end)), ""),
    )


def _statement(seen: Outline, offset: int) -> ast.stmt | None:
    """The innermost statement at an offset."""
    found = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.stmt) and seen.offsets.span(node)[0] <= offset < seen.offsets.span(node)[1]
    ]
    return max(found, key=lambda node: seen.offsets.span(node)[0], default=None)


def _is_settled(node: ast.stmt) -> bool:
    """A definition, a change of a library, or a name for what is written out."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return all(isinstance(part, _LITERAL) for part in ast.walk(node.value))
    return isinstance(node, (ast.Assign, ast.ClassDef, ast.Expr, ast.FunctionDef))


def _text(source: Source, seen: Outline, node: ast.stmt) -> str:
    if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return piece(source, Span(*seen.offsets.span(node)))
    indent = source.line(node.lineno)[: node.col_offset]
    return dedented(source, rows(source, seen, node), indent).rstrip() if not indent.strip() else ""


def needed(text: str) -> set[str]:
    """The names that a text reads from its module and does not bind itself."""
    found: set[str] = set()
    tables = [symtable.symtable(text, "<snippet>", "exec")]
    own = {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_assigned() or symbol.is_namespace()}
    while tables:
        table = tables.pop()
        tables += table.get_children()
        inner = table.get_type() != "module"
        found |= {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_referenced() and (symbol.is_global() or not inner)
        }
    return found - own
