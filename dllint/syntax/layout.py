"""A file's own layout: its indentation, and the blank lines around module-level code."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from functools import lru_cache

from dllint.source import Source, indentation

BLANK = 2
"""Empty lines around a definition at module level."""
_MARKS = {'"', "'"}
_TRIPLE = {'"""', "'''"}


def indent_unit(source: Source, block: str) -> str:
    """One level of indentation of a block of a file's module-level code that has one, else of the file.

    Of two widths, what is indented only once says nothing.
    """
    own, often = indentation(block)
    by_chance = often < 2 and own[:1] == source.unit[:1]
    return (source.unit if by_chance else own) or source.unit


def in_quotes(source: Source, text: str) -> str:
    """Code of ours, whose strings have double quotes, with those that its file has."""
    mark = source.quote or _mark(source.text)
    return text if mark in text or "\\" in text else text.replace('"', mark)


@lru_cache(maxsize=8)
def _mark(text: str) -> str:
    """The quotes that most strings of a file have, but for those that hold the other ones."""
    found: Counter[str] = Counter()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            bare = token.string.lstrip("rbfuRBFU")
            if bare[:1] in _MARKS and bare[:3] not in _TRIPLE and not _MARKS - set(bare):
                continue
            found[bare[:1]] += bare[:1] in _MARKS and bare[:3] not in _TRIPLE
    except (tokenize.TokenError, SyntaxError):
        pass
    return "'" if found["'"] > found['"'] else '"'


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
