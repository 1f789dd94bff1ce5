"""Lines of a block that an indentation makes longer than the project wants them, over several lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.source import Source
from dllint.syntax.width import folded

_BRACKETED = (ast.Constant, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp)
"""What formatters put into brackets of its own; a call has some."""


def refolded(source: Source, block: str) -> str:
    """An indented block without lines that are too long now and were not; the project must say how long lines are."""
    lines, unit = block.split(source.newline), source.unit
    long = {row for row, line in enumerate(lines) if 0 < source.width < len(line) <= source.width + len(unit)}
    for node, part in _on_one_line(f"if 1:{source.newline}{block}") if long else ():
        row, start = node.lineno - 2, node.col_offset
        line = lines[row]
        if row in long and line.isascii() and "#" not in line and not line[:start].strip():
            lines[row] = _folded(source, line, isinstance(node, ast.If), part, unit)
    return source.newline.join(lines)


def _on_one_line(text: str) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """The assignments, calls and tests that have a line each, with their values."""
    for node in ast.walk(ast.parse(text)):
        part = node.test if isinstance(node, ast.If) else getattr(node, "value", None)
        if isinstance(node, (ast.Expr, ast.Assign, ast.If)) and isinstance(part, ast.expr):
            if node.lineno == part.end_lineno:
                yield node, part


def _folded(source: Source, line: str, is_test: bool, part: ast.expr, unit: str) -> str:
    start, end = part.col_offset, part.end_col_offset or len(line)
    indent = line[: len(line) - len(line.lstrip())]
    inside = [f"{indent}{unit}{line[start:end]}"]
    if isinstance(part, ast.BoolOp) and len(inside[0]) > source.width:
        word = "and " if isinstance(part.op, ast.And) else "or "
        items = (line[item.col_offset : item.end_col_offset] for item in part.values)
        inside = [f"{indent}{unit}{word if index else ''}{item}" for index, item in enumerate(items)]
    if isinstance(part, _BRACKETED) and (is_test or line[end:] == "") and max(map(len, inside)) <= source.width:
        return source.newline.join([f"{line[:start]}(", *inside, f"{indent}){line[end:]}"])
    return line if is_test else indent + folded(source, line.lstrip(), indent, len(indent))
