"""Where new text goes, and text moved to another indentation. Everything else of a file stays as it is."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence

import libcst as cst

from dllint.fix import Edit, Import
from dllint.source import Source
from dllint.syntax.headings import banner_above, comment_naming, is_of_one
from dllint.syntax.imports import add_imports
from dllint.syntax.names import free_name, reference
from dllint.syntax.parse import Tree

__all__ = ["free_name", "insertion_point", "place_imports", "reference", "reindent"]
_TAB = 8
"""Python's tab stops."""


def insertion_point(source: Source, tree: Tree, before: int) -> int:
    """The offset where a new module-level definition goes: above the top-level statement that contains `before`.

    Its decorators, the comments or strings that stand directly above it, a banner of its own, and a comment that an
    empty line parts from it but that names it stay with it; the comments that a file begins with stay first.
    """
    rows = tree.statement_rows
    row = source.location(before)[0]
    index = next((index for index, (_, last) in enumerate(rows) if row <= last), len(rows))
    if index == len(rows):
        return len(source.text)
    while index > 1 and _is_string(tree.module.body[index - 1]) and _stands_above(source, rows, index):
        index -= 1
    first = rows[index][0]
    floor = rows[index - 1][1] if index else 0
    top = first
    while top - 1 > floor and source.line(top - 1).startswith("#"):
        top -= 1
    banner = banner_above(source, top)
    if banner is not None and is_of_one(source, banner) and _is_alone(source, rows, index):
        top = banner[0]
    statement = tree.module.body[index]
    if isinstance(statement, (cst.ClassDef, cst.FunctionDef)):
        about = comment_naming(source, top, statement.name.value)
        top = about[0] if about is not None else top
    return source.row_span(first if top == 1 else top).start


def _is_alone(source: Source, rows: Sequence[tuple[int, int]], index: int) -> bool:
    """Whether a banner above a statement is about nothing else: the file ends below it, or another banner follows."""
    return index + 1 == len(rows) or banner_above(source, rows[index + 1][0]) is not None


def _stands_above(source: Source, rows: Sequence[tuple[int, int]], index: int) -> bool:
    """Whether only empty lines lie between a statement and the one before it."""
    between = range(rows[index - 1][1] + 1, rows[index][0])
    return not any(source.line(row).strip() for row in between)


def _is_string(statement: cst.CSTNode) -> bool:
    """Whether a statement is nothing but a string, which some write for a comment."""
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))


def place_imports(source: Source, tree: Tree, imports: Iterable[Import], used: int = 0) -> list[Edit]:
    """Edits that add the imports which the file lacks. Raises ValueError where one would shadow a name.

    Names join imports further down, too, where these end above `used`, the offset of what first uses a name.
    """
    return add_imports(source, tree, tree.statement_rows, imports, used)


def reindent(text: str, old: str, new: str) -> str:
    """Whole lines of code with the indentation `old` exchanged for `new`; the inside of strings is left alone.

    What the lines are indented with besides gets the kind of `new`: a level of spaces for a tab.
    Raises ValueError where the text cannot be told apart into tokens.
    """
    lines = _lines(text)
    inside = _rows_in_strings(text)
    return "".join(
        line if row in inside else _exchange(line, old, new) for row, line in enumerate(lines, start=1) if line
    )


def closed_up(text: str) -> str:
    """Whole lines of code with at most one empty line in a row, as inside a block; strings are left alone."""
    lines = _lines(text)
    inside = _rows_in_strings(text)
    bare = [not line.strip() and row not in inside for row, line in enumerate(lines, start=1)]
    return "".join(line for index, line in enumerate(lines) if not (index and bare[index] and bare[index - 1]))


def _lines(text: str) -> list[str]:
    return re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


def _exchange(line: str, old: str, new: str) -> str:
    bare = line.strip()
    if not bare:
        return line[len(line.rstrip("\r\n")) :]
    if line.startswith(old):
        rest = line[len(old) :]
        margin = rest[: len(rest) - len(rest.lstrip())]
        return (
            new
            + (margin.expandtabs(min(len(new), _TAB)) if new and not new.strip(" ") else margin)
            + rest[len(margin) :]
        )
    return new + line.lstrip() if bare.startswith("#") else line


def _rows_in_strings(text: str) -> set[int]:
    """The rows (from 1) that begin inside a string; one that stands alone moves along with what it describes."""
    rows: set[int] = set()
    begun: list[int] = []
    starts = {getattr(tokenize, f"{kind}STRING_START", None) for kind in "FT"} - {None}
    ends = {getattr(tokenize, f"{kind}STRING_END", None) for kind in "FT"} - {None}
    kinds: list[int] = []
    plain: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            first, last = token.start[0], token.end[0]
            if token.type == tokenize.NEWLINE:
                rows |= plain if kinds != [tokenize.STRING] else set()
                kinds, plain = [], set()
            elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
                kinds.append(token.type)
            if token.type in starts:
                begun.append(first)
            elif token.type in ends:
                rows.update(range(begun.pop() + 1, last + 1))
            elif token.type == tokenize.STRING:
                plain.update(range(first + 1, last + 1))
    except (tokenize.TokenError, SyntaxError) as error:
        raise ValueError(f"cannot be re-indented: {error}") from None
    return rows | plain
