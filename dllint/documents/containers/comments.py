"""`# dllint: ignore[...]` in container files, with `//` in JSON and `<!--` in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.model.facts import Suppression
from dllint.source import Source, Span

_COMMENT = re.compile(
    r"(?:^|(?<=\s))(?:#|//|<!--)\s*dllint\s*:\s*ignore\b(?:\s*\[(?P<codes>[^\]\r\n]*)\])?(?:\s*-->)?", re.I | re.M
)


def scan(source: Source) -> tuple[Suppression, ...]:
    """Every ignore comment. One on a line of its own applies to the next line that isn't a comment."""
    return tuple(_found(source))


def _found(source: Source) -> Iterator[Suppression]:
    for match in _COMMENT.finditer(source.text):
        row = source.location(match.start())[0]
        if not source.text[source.line_starts[row - 1] : match.start()].strip():
            row = _below(source, row)
        codes = tuple(code for code in re.split(r"[,\s]+", match["codes"] or "") if code)
        yield Suppression(row, codes, Span(match.start(), match.end()), True)


def _below(source: Source, row: int) -> int:
    last = len(source.line_starts)
    return next((below for below in range(row + 1, last + 1) if not _is_comment(source.line(below))), row)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "//", "<!--"))
