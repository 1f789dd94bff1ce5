"""Another text for a cell, written into the notebook's JSON.

Only what changed is rewritten: escapes, order, indentation and outputs stay the same, byte for byte.
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from itertools import accumulate

from dllint.documents.cells import Cell, skip, strings

_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)
"""A character of a JSON string as it is written; what UTF-16 needs two escapes for is one."""


def spliced(raw: str, texts: list[tuple[Cell, str]]) -> str:
    """The JSON with other texts in these cells."""
    for cell, text in sorted(texts, reverse=True):
        if text != cell.text:
            raw = raw[: cell.start] + _value(raw, cell, text) + raw[cell.end :]
    return raw


def _value(raw: str, cell: Cell, text: str) -> str:
    """The JSON of a cell's source: one string, or a list with a string a line."""
    value, ascii_only = raw[cell.start : cell.end], raw.isascii() and "\\u" in raw
    if not cell.text or not text:
        return _fresh(value, text, ascii_only)
    at = places(value)
    border = f'",{value[1 : skip(value, 1)]}"' if value.startswith("[") else ""
    for start, end, new in reversed(_changes(cell.text, text)):
        lines = [_escaped(line, ascii_only) for line in _lines(new)]
        written = border.join(lines)
        if start == len(cell.text) and cell.text.endswith("\n"):
            written = border + written
        elif new.endswith("\n") and end < len(cell.text):
            written += border
        value = value[: at[start]] + written + value[at[end] :]
    return value


def places(value: str) -> list[int]:
    """The position of each character of a cell's text in the JSON of its source, and the end of the last one."""
    found = []
    last = 1
    for start, end in strings(value):
        if end - start > 2:
            found += [match.start() for match in _CHARACTER.finditer(value, start + 1, end - 1)]
            last = end - 1
    return [*found, last]


def _changes(old: str, new: str) -> list[tuple[int, int, str]]:
    """What is replaced: lines compared, and what changed lines have in common at their ends left out."""
    before, after = _lines(old), _lines(new)
    here, there = ([0, *accumulate(map(len, lines))] for lines in (before, after))
    return [
        _trimmed(old, here[first], here[last], new[there[start] : there[stop]])
        for kind, first, last, start, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if kind != "equal"
    ]


def _trimmed(old: str, start: int, end: int, new: str) -> tuple[int, int, str]:
    while start < end and new and old[start] == new[0]:
        start, new = start + 1, new[1:]
    while start < end and new and old[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    return start, end, new


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _escaped(text: str, ascii_only: bool) -> str:
    """The text as the inside of a JSON string; beyond ASCII as the notebook has it."""
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _fresh(value: str, text: str, ascii_only: bool) -> str:
    """The source of a cell that had none, or has none now."""
    if not value.startswith("["):
        return f'"{_escaped(text, ascii_only)}"'
    return f"[{', '.join(chr(34) + _escaped(line, ascii_only) + chr(34) for line in _lines(text))}]"
