"""Lines as long as a file has them: what a fix writes goes over several where one would be longer."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from itertools import pairwise

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import indent_at
from dllint.syntax.write import reindent

LEAST, MOST = 88, 120
_JOINING = ('"""', "'''", "\\\n", "\\\r")
"""What may continue a string on the next line."""


def width(source: Source) -> int:
    """How long its project wants the lines of a file; else how long they are, within what is usual."""
    return source.width or max(LEAST, min(MOST, max(map(len, source.text.splitlines()), default=0)))


def placed(source: Source, text: str, start: int, end: int) -> str:
    """A call in place of what stands between two offsets of a line; one that is no longer needs no lines of its own."""
    if len(text) <= end - start and source.newline not in source.text[start:end]:
        return text
    column, last = source.location(start)[1], source.location(end)[0]
    rest = source.row_span(last).end - end
    if source.text[end : source.row_span(last).end].strip("()[]{},: \t\r\n"):
        return text  # in the middle of a line, lines of its own would be harder to read than a long one
    return folded(source, text, indent_at(source, start), column - 1 + max(0, rest))


def enclosed(source: Source, span: Span, opening: str, closing: str) -> tuple[Edit, ...]:
    """An expression as the first argument of a call, whose name and bracket and whose other argument are given.

    `closing` is the other argument, if there is one, and the bracket behind it.
    """
    path, value = source.path, source.text[span.start : span.end]
    end = closing if closing == ")" else f", {closing}"
    around = (Edit(path, Span(span.start, span.start), opening), Edit(path, Span(span.end, span.end), end))
    whole = f"{opening}{value}{end}"
    if source.newline not in value:
        text = placed(source, whole, span.start, span.end)
        return around if text == whole else (Edit(path, span, text),)
    indent = indent_at(source, span.start)
    inner = indent + source.unit
    try:
        lines = reindent(value + source.newline, indent, inner).strip()
    except ValueError:
        return around
    column = source.location(span.start)[1]
    follows = source.text[span.end : source.row_span(source.location(span.end)[0]).end].strip()
    fits = column + len(opening) + len(value.partition(source.newline)[0]) <= width(source)
    if follows or (fits and not source.width):
        return (*around, *_shifted(source, span, len(opening)))
    laid_out = _joined if source.width else _aligned
    lines = laid_out(source, span, len(inner)) or lines
    other = f"{inner}{closing[:-1]},{source.newline}" if closing != ")" else ""
    rest = f"{other}{indent}{closing[-1]}"
    return (Edit(path, span, f"{opening}{source.newline}{inner}{lines},{source.newline}{rest}"),)


def _joined(source: Source, span: Span, column: int) -> str:
    """What stands on a line between its brackets, together with these where a formatter joins them; "" where not.

    A call around it gets lines of its own, so that it begins at another column. The brackets have had lines of their
    own because a line was too long: one that would fit shows that the formatter's lines are shorter.
    """
    first, *below = source.text[span.start : span.end].split(source.newline)
    if len(below) != 2 or first not in ("[", "(", "{") or below[1].strip() not in ("]", ")", "}"):
        return ""
    inside = below[0].strip()
    joined = f"{first}{inside}{below[1].strip()}"
    before = source.location(span.start)[1] - 1
    limit = width(source) if before + len(joined) > width(source) else min(LEAST, width(source))
    fits = column + len(joined) + len(",") <= limit
    return joined if fits and not inside.endswith(",") and "#" not in inside else ""


def _aligned(source: Source, span: Span, column: int) -> str:
    """An expression at another column, with the lines that are aligned with its beginning; "" where they are not."""
    first, *below = source.text[span.start : span.end].split(source.newline)
    before = source.location(span.start)[1] - 1
    if any(mark in source.text[span.start : span.end] for mark in _JOINING) or any(
        line[:before].strip() for line in below
    ):
        return ""
    return source.newline.join([first, *(" " * column + line[before:] for line in below)])


def _shifted(source: Source, span: Span, by: int) -> Iterator[Edit]:
    """The lines of an expression that are aligned with its beginning, as far to the right as that goes."""
    row, column = source.location(span.start)
    last = source.location(span.end)[0]
    below = [line for at in range(row + 1, last + 1) if (line := source.line(at)).strip()]
    text = source.text[span.start : span.end]
    if any(mark in text for mark in _JOINING) or any(line[: column - 1].strip() for line in below):
        return
    for at in range(row + 1, last + 1):
        if source.line(at).strip():
            yield Edit(source.path, Span(source.line_starts[at - 1], source.line_starts[at - 1]), " " * by)


def folded(source: Source, text: str, indent: str = "", beside: int = 0) -> str:
    """A call or a header, with what is in its first brackets on lines of its own where the line is too long.

    `beside` are the characters that share the line with it.
    """
    line, newline, more = text.partition(source.newline)
    limit = width(source)
    commas = _commas(line) if beside + len(line) > limit else []
    if len(commas) < 2:
        return text
    inner, first, last = indent + source.unit, commas[0], commas[-1]
    together = line[first + 1 : last].strip()
    lines = [together]
    if len(inner) + len(together) > limit:
        parts = pairwise(commas)
        lines = [f"{part}," for a, b in parts if (part := line[a + 1 : b].strip())]
    inside = source.newline.join(inner + part for part in lines)
    return f"{line[: first + 1]}{source.newline}{inside}{source.newline}{indent}{line[last:]}{newline}{more}"


def _commas(line: str) -> list[int]:
    """Where the first brackets open, their commas, and where they close; [] where they do not close on the line."""
    found: list[int] = []
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            depth += token.type == tokenize.OP and token.string in "([{"
            if token.type == tokenize.OP and token.string in "()[]{}," and depth == 1:
                if token.string == "," or token.string in "([{" or found:
                    found.append(token.start[1])
            depth -= token.type == tokenize.OP and token.string in ")]}"
            if found and not depth:
                return found
    except (tokenize.TokenError, SyntaxError):
        pass
    return []
