"""Lines of a block that an indentation makes too long, as a formatter lays them out; only in files that it laid out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.source import Source
from dllint.syntax.laid_out import laid_out


def refolded(source: Source, block: str) -> str:
    """An indented block without lines that are too long now and were not; the project must say how long lines are.

    Where a statement is not what a formatter makes of it, or dllint doesn't know what one makes of it now, all lines
    stay as they are.
    """
    lines, unit = block.split(source.newline), source.unit
    long = {row for row, line in enumerate(lines) if 0 < source.width < len(line) <= source.width + len(unit)}
    statements = sorted(_logical(f"if 1:{source.newline}{block}"), reverse=True) if long else []
    new = list(lines)
    for first, end in statements:
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        own = [line.removeprefix(indent) for line in lines[first:end]]
        if len(own) > 1 and laid_out(own, len(indent) - len(unit), source.width, unit) not in (None, own):
            return block
        if not long.isdisjoint(range(first, end)):
            made = laid_out(own, len(indent), source.width, unit)
            if made is None:
                return block
            new[first:end] = [indent + line for line in made]
    return source.newline.join(new)


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
