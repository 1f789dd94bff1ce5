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
    name = _bound(node) if node is not None else ""
    if seen is None or not name or not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.Assign)):
        return ()
    guard, field = seen.parents[node]
    if not isinstance(guard, ast.If) or field != "body" or not is_main_guard(guard.test) or len(guard.body) < 2:
        return ()
    assigned = isinstance(node, ast.Assign)
    if len(bindings(seen.tree).get(name, [])) != 1 or (assigned and not _has_its_line(source, seen, node)):
        return ()
    first, last = rows(source, seen, node)
    row = guard.lineno
    while row > 1 and source.line(row - 1).startswith("#"):
        row -= 1
    taken = Edit(source.path, _taken(source, guard, node, (first, last)), "")
    if assigned:
        return _named_above(source, seen, guard, row, text + _comment(source, seen, node)), taken
    at = Span(source.line_starts[row - 1], source.line_starts[row - 1])
    blank = source.newline * blank_above(source, row)
    put = Edit(source.path, at, text + source.newline * (1 + BLANK))
    return (*([Edit(source.path, at, blank)] if blank else []), put, taken)


def known_in_module(source: Source, offset: int, text: str) -> bool:
    """Whether the module binds all names that a text reads above the top-level statement at an offset."""
    seen = outline(source.text)
    spans = map(seen.offsets.span, seen.tree.body) if seen is not None else ()
    start = next((start for start, end in spans if start <= offset < end), None)
    return seen is not None and start is not None and not needed(text) - known_above(seen, start)


def _bound(node: ast.stmt) -> str:
    """The only name that a definition or an assignment binds; "" where there are several, or none."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _named_above(source: Source, seen: Outline, guard: ast.If, row: int, text: str) -> Edit:
    """A name for what is written out, above a row: below another one, or a paragraph of its own.

    It replaces the end of the line before, so that two of them come one after the other, as they were.
    """
    index = seen.tree.body.index(guard)
    above = seen.tree.body[index - 1] if index else None
    last = above.end_lineno or above.lineno if isinstance(above, ast.Assign) and _is_settled(above) else 0
    joins = last and not any(source.line(between).strip() for between in range(last + 1, row))
    at, newline = source.line_starts[last if joins else row - 1], source.newline
    start = max(0, at - len(newline))
    return Edit(source.path, Span(start, at), source.text[start:at] + text + newline * (1 if joins else 2))


def _has_its_line(source: Source, seen: Outline, node: ast.stmt) -> bool:
    """Whether a statement has its lines for itself, but for a comment at its end."""
    if stands_alone(source, seen, node):
        return True
    above = source.line(node.lineno - 1).strip()
    before = source.line(node.lineno)[: node.col_offset].strip()
    return node.lineno == node.end_lineno and not before and above[:1] != "#" and bool(_comment(source, seen, node))


def _comment(source: Source, seen: Outline, node: ast.stmt) -> str:
    """The comment at the end of a statement's last line, with the space before it; "" where there is something else."""
    end = seen.offsets.span(node)[1]
    rest = source.text[end : end_of(source, node.end_lineno or node.lineno)].rstrip()
    return rest if rest.lstrip().startswith("#") else ""


def _taken(source: Source, guard: ast.If, node: ast.stmt, lines: tuple[int, int]) -> Span:
    """The lines that go from the guard's block: of empty ones above and below, those below where they are the fewer."""
    end = end_of(source, lines[1])
    below = end + empty_below(source, end)
    if guard.body[0] is node:
        return Span(end_of(source, guard.test.end_lineno or guard.lineno), below)
    start = source.line_starts[lines[0] - 1]
    return Span(start, below if not source.line(lines[0] - 1).strip() else end)


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
