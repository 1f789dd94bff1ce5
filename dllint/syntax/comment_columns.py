"""Comments behind code that a fix makes shorter or longer: they stay below each other, or near the code."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence

from dllint.fix import Edit, apply
from dllint.source import Source, Span
from dllint.syntax.latest import latest

_APART = 2
"""Blanks before a comment that is not in one column with others."""


def in_columns(source: Source, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The blanks before comments whose line some edits, all of one file, change before the comment.

    A comment that was in one column with that of a line nearby keeps the column if the code leaves it free.
    """
    for row in sorted({source.location(edit.span.end)[0] for edit in edits}):
        line = source.row_span(row)
        if "#" not in source.text[line.start : line.end] or row not in _comments(source):
            continue
        at = _comments(source)[row]
        end = line.start + len(source.text[line.start : at].rstrip(" "))
        near = [edit for edit in edits if line.start <= edit.span.end and edit.span.start <= line.end]
        before = [edit for edit in near if edit.span.end <= end]
        changed = any(source.text[line.start : edit.span.end].strip() for edit in before)
        if not changed or len(before) < len(near) or any("#" in edit.text for edit in before):
            continue
        first = source.line_starts[source.location(min(edit.span.start for edit in before))[0] - 1]
        code = apply(source.text[:end], before)[first:].split(source.newline)[-1]
        gap, free = at - end, at - line.start - len(code)
        kept = free if _is_in_column(source, row) and free >= min(gap, _APART) else min(gap, _APART)
        if kept != gap:
            yield Edit(source.path, Span(end, at), " " * kept)


def _is_in_column(source: Source, row: int) -> bool:
    """Whether a line nearby, with no empty one in between, has a comment in the same column."""
    comments, lines = _comments(source), len(source.line_starts)
    column = comments[row] - source.line_starts[row - 1]
    for rows in (range(row - 1, 0, -1), range(row + 1, lines + 1)):
        for other in rows:
            if not source.line(other).strip():
                break
            if other in comments and comments[other] - source.line_starts[other - 1] == column:
                return True
    return False


@latest
def _comments(source: Source) -> dict[int, int]:
    """Where the comments behind code begin, by the rows that they are in; what follows a tab is left out."""
    found: dict[int, int] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline="").readline):
            row, column = token.start
            if token.type == tokenize.COMMENT and token.line[:column].strip():
                at = source.line_starts[row - 1] + column
                if source.text[at - 1] != "\t":
                    found[row] = at
    except (tokenize.TokenError, SyntaxError):
        return {}
    return found
