"""A shorter or a longer expression in place of another, with the lines around it as a formatter would lay them out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.outline import outline
from dllint.syntax.width import LEAST, placed, width

_OPENING, _CLOSING = {*"([{"}, {*")]}"}
_BEFORE_CALL = re.compile(r"\s*(?:return\s+|await\s+|\*{1,2}(?!\*)|[\w.]+\s*=\s*|\"\w+\":\s*|'\w+':\s*)*[\w.]*")
"""What may lead up to the brackets that a formatter opens first."""
_OF_LAMBDA = re.compile(
    r"[ \t]*#[ \t]*(?:noqa:[ \t]*E731|pylint:[ \t]*disable=unnecessary-lambda(?:-assignment)?)[ \t]*$", re.M
)
_NEEDLESS = re.compile(r"(?:\s=|\breturn) $")
"""After which brackets around one expression on one line say nothing."""


def fitted(source: Source, span: Span, text: str) -> tuple[Edit, ...]:
    """The edits that put one line of text in place of an expression, and take away a comment that silences nothing now.

    Where the project says how long lines are, brackets around it get lines of their own if a line is too long now, and
    lose them if it no longer is. A lambda's place below its key goes with the lambda. Lines that no formatter has laid
    out stay as they are.
    """
    span = _with_brackets(source, span) if text.isidentifier() else span
    edit = _beside_key(source, span, text) or (_laid_out(source, span, text) if source.width else None)
    plain = Edit(source.path, span, placed(source, text, span.start, span.end) if "," in text else text)
    return edit or plain, *without_silence(source, span.end)


def _beside_key(source: Source, span: Span, text: str) -> Edit | None:
    """The text on the line of its key or keyword, below which a lambda was put for its length; None if too long."""
    above = source.text[: span.start].rstrip()
    between, row = source.text[len(above) : span.start], source.location(len(above))[0]
    if source.newline not in between or above[-1:] not in (":", "="):
        return None
    seen = outline(source.text)
    value = source.text[span.start : span.end]
    node = seen.function_at(span.end - len(value.lstrip("( \t\r\n"))) if seen else None
    if seen is None or node is None or not isinstance(seen.parents[node][0], (ast.Dict, ast.keyword)):
        return None
    joined = f" {text}" if above.endswith(":") else text
    rest = source.text[span.end : source.row_span(source.location(span.end)[0]).end]
    line = f"{above[source.line_starts[row - 1] :]}{joined}{rest}"
    return Edit(source.path, Span(len(above), span.end), joined) if len(line) <= min(LEAST, width(source)) else None


def _with_brackets(source: Source, span: Span) -> Span:
    """An expression with the brackets right around it, which a name in its place does not need."""
    text = source.text
    is_inside = text[span.start - 1 : span.start] == "(" and text[span.end : span.end + 1] == ")"
    before = text[: max(0, span.start - 1)].rstrip(" ")
    return Span(span.start - 1, span.end + 1) if is_inside and before[-1:] in ("=", ",", "(", "[", ":") else span


def without_silence(source: Source, end: int) -> Iterator[Edit]:
    """The removal of `# noqa: E731` behind a lambda that goes: it silences what linters say of one that has a name."""
    row = source.row_span(source.location(end)[0])
    found = _OF_LAMBDA.search(source.text, end, row.end)
    if found:
        yield Edit(source.path, Span(found.start(), row.end), "")


def _laid_out(source: Source, span: Span, text: str) -> Edit | None:
    first, last = source.location(span.start)[0], source.location(span.end)[0]
    start, end = source.line_starts[first - 1], source.row_span(last).end
    old, new = source.text[start:end], f"{source.text[start : span.start]}{text}{source.text[span.end : end]}"
    if "#" in old or "#" in new:
        return None
    if len(new) <= source.width:
        return _joined(source, first, last, new)
    lines = _split(source, new) if len(new) > max(map(len, old.split(source.newline))) else ()
    if not lines and _is_all_between_brackets(source, first, last):
        indent = new[: len(new) - len(new.lstrip())]
        lines = tuple(f"{indent}{part}," for part in _parts(new.strip()))
    fits = len(lines) > 1 and all(len(line) <= source.width for line in lines)
    return Edit(source.path, Span(start, end), source.newline.join(lines)) if fits else None


def _split(source: Source, line: str) -> tuple[str, ...]:
    """A statement or an item with what is in its last brackets on lines of its own; empty where these are not found."""
    shape = _shape(line)
    if shape is None or not shape.pairs:
        return ()
    start, end = shape.pairs[-1]
    if line[end + 1 :] not in ("", ",", ":") or not _BEFORE_CALL.fullmatch(line, 0, start):
        return ()
    indent = line[: len(line) - len(line.lstrip())]
    inside = f"{indent}{source.unit}"
    body = line[start + 1 : end].strip()
    parts = [f"{part}," for part in _parts(body)]
    lines = [body] if len(inside) + len(body) <= source.width and body[-1:] != "," else parts
    return (line[: start + 1], *(inside + part for part in lines), f"{indent}{line[end:]}")


def _joined(source: Source, first: int, last: int, line: str) -> Edit | None:
    """A line together with the brackets that it is between, where it has lines of its own for its length only."""
    found = None
    start = source.line_starts[first - 1]
    old = " ".join(source.text[start : source.row_span(last).end].split())
    while _is_all_between_brackets(source, first, last) and not line.endswith(","):
        above, below = source.line(first - 1), source.line(last + 1)
        bare = below.strip() == ")" and _NEEDLESS.search(above[:-1]) and not _is_several(line)
        together = [f"{above}{item.strip()}{below.strip()}" for item in (old, line)]
        line = f"{above[:-1]}{line.strip()}" if bare else together[1]
        if len(together[0]) <= source.width or len(line) > source.width or "#" in line:
            break
        first, last, old = first - 1, last + 1, together[0]
        found = Edit(source.path, Span(source.line_starts[first - 1], source.row_span(last).end), line)
    return found


def _is_all_between_brackets(source: Source, first: int, last: int) -> bool:
    """Whether some lines are all that is between two brackets, which end and begin the lines around."""
    if first < 2 or last >= len(source.line_starts):
        return False
    return source.line(first - 1)[-1:] in _OPENING and source.line(last + 1).lstrip()[:1] in _CLOSING


def _is_several(line: str) -> bool:
    shape = _shape(line)
    return shape is None or bool(shape.commas)


def _parts(text: str) -> Iterator[str]:
    """What commas tell apart."""
    shape = _shape(text)
    commas = shape.commas if shape is not None else []
    yield from (part for a, b in pairwise((-1, *commas, len(text))) if (part := text[a + 1 : b].strip()))


class _Shape(NamedTuple):
    """Where the outer brackets of a line open and close, and its commas outside of them."""

    pairs: list[tuple[int, int]]
    commas: list[int]


def _shape(line: str) -> _Shape | None:
    """None where a bracket is closed on another line."""
    found, opened, depth = _Shape([], []), 0, 0
    margin = len(line) - len(line.lstrip())
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            column = token.start[1] + margin
            if token.type != tokenize.OP:
                continue
            if token.string in _OPENING:
                opened, depth = (opened if depth else column), depth + 1
            elif token.string in _CLOSING:
                depth -= 1
                if depth < 0:
                    return None
                if not depth:
                    found.pairs.append((opened, column))
            elif token.string == "," and not depth:
                found.commas.append(column)
    except (tokenize.TokenError, SyntaxError):
        return None
    return found
