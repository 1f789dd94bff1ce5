"""Lines of a block that an indentation makes too long, as a formatter lays them out; only in files that it laid out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from dllint.source import Source
from dllint.syntax.hanging import hanging
from dllint.syntax.laid_out import laid_out

_USUAL = (79, 88)
"""How long lines are where nothing is said: for flake8, for Black and Ruff."""
_Layout = Callable[[Sequence[str], int, int, str], "list[str] | None"]


def refolded(source: Source, block: str) -> str:
    """An indented block without lines that are too long now and were not.

    Where a statement is not what a formatter makes of it, or dllint doesn't know what one makes of it now, all lines
    stay as they are. Where the project doesn't say how long lines are, its file must show that a formatter laid it out:
    if it did so for several lengths, all of them must give the same.
    """
    rows = source.text.split(source.newline)
    longest = max(map(len, rows))
    widths = [source.width] if source.width else [width for width in _USUAL if longest <= width]
    if not widths or max(map(len, block.split(source.newline))) <= widths[0]:
        return block
    found = {made for width in widths if (made := _folded(source, block, width)) is not None}
    return found.pop() if len(found) == 1 else block


def _folded(source: Source, block: str, width: int) -> str | None:
    """A block with lines of a width as a formatter lays it out; None where none has laid it out for this width."""
    lines, unit = block.split(source.newline), source.unit
    statements = sorted(_logical(f"if 1:{source.newline}{block}"), reverse=True)
    split = [(own, len(indent) - len(unit)) for indent, own in (_own(lines, pair) for pair in statements)]
    if not source.width:
        rows = source.text.split(source.newline)
        file = _logical(f"pass{source.newline}{source.text}")
        split = [(own, len(indent)) for indent, own in (_own(rows, pair) for pair in file)]
    layout: _Layout = laid_out
    if not _is_made_by(layout, split, width, unit, bool(source.width)):
        layout = hanging
        if not source.width or not _is_made_by(layout, split, width, unit, False):
            return None
    long = {row for row, line in enumerate(lines) if width < len(line) <= width + len(unit)}
    for first, end in statements:
        if not long.isdisjoint(range(first, end)):
            indent, own = _own(lines, (first, end))
            made = layout(own, len(indent), width, unit)
            if made is None:
                return block
            lines[first:end] = [indent + line for line in made]
    return source.newline.join(lines)


def _is_made_by(layout: _Layout, split: Sequence[tuple[list[str], int]], width: int, unit: str, unseen: bool) -> bool:
    """Whether the statements over several lines are what a formatter makes of them; `unseen` where none is known."""
    made = [(layout(own, indent, width, unit), own) for own, indent in split if len(own) > 1]
    known = [new == own for new, own in made if new is not None]
    return all(known) and (unseen or bool(known))


def _own(lines: Sequence[str], rows: tuple[int, int]) -> tuple[str, list[str]]:
    """The indentation of a statement, and its lines without it."""
    first = lines[rows[0]]
    indent = first[: len(first) - len(first.lstrip())]
    return indent, [line.removeprefix(indent) for line in lines[slice(*rows)]]


def _logical(text: str) -> Iterator[tuple[int, int]]:
    """The rows of each statement, of a compound one those of its header: the first, and the one behind the last.

    Strings that stand alone are left out: what is in them stays as it is.
    """
    rows = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        text_only = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and node.lineno > 1 and not text_only:
            body = getattr(node, "body", None)
            yield node.lineno - 2, (_header_end(rows, node, body[0]) if body else node.end_lineno or node.lineno) - 1


def _header_end(rows: list[str], node: ast.stmt, below: ast.stmt) -> int:
    """The last row of the header of a compound statement."""
    above = range(below.lineno - 1, node.lineno - 1, -1)
    code = (row for row in above if rows[row - 1].strip() and not rows[row - 1].lstrip().startswith(("#", "@")))
    return next(code, node.lineno)
