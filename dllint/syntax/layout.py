"""A file's own layout: its indentation, and the empty lines around what stands at module level."""

from __future__ import annotations

import re

from dllint.source import Source

BLANK = 2
"""Empty lines around a definition at module level."""


def indent_unit(source: Source) -> str:
    """What one level of indentation is in a file."""
    first = re.search(r":[ \t]*(?:#.*)?(?:\r\n|\n|\r)([ \t]+)\S", source.text)
    return first[1] if first and len(first[1]) <= 8 else "    "


def indent_at(source: Source, offset: int) -> str:
    """The indentation of the line that an offset is in."""
    line = source.line(source.location(offset)[0])
    return line[: len(line) - len(line.lstrip())]


def begins_definition(line: str) -> bool:
    """Whether a line begins a function or class at module level, for which there are `BLANK` empty lines above."""
    return re.match(r"@|(?:async\s+)?def\s|class\s", line) is not None


def blank_above(source: Source, row: int) -> int:
    """How many empty lines are missing above a row for a definition to stand there."""
    above = row - 1
    while above > 0 and not source.line(above).strip():
        above -= 1
    return max(0, BLANK - (row - 1 - above)) if above else 0
