"""Fixes as a unified diff. That of Python files is one that `git apply` and `patch -p1` take."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from dllint.source import Source

_COLORS = ((b"--- ", b"1"), (b"+++ ", b"1"), (b"@@", b"36"), (b"-", b"31"), (b"+", b"32"))
_CONTROL = {number: f"\\{number:03o}" for number in (*range(32), 127)} | {9: "\\t", 10: "\\n", 13: "\\r"}
_MISSING = "\\ No newline at end of file\n"


def render(before: Source, after: Source, name: str) -> bytes:
    """One file's diff, its lines in the file's own encoding and with its own newlines; a notebook's, cell by cell."""
    if before.parts[0].cell is None:
        return _diff(before, after, f"a/{name}", f"b/{name}")
    pairs = zip(before.parts, after.parts, strict=True)
    named = ((old.source, new.source, f"{name}:cell {old.cell}") for old, new in pairs)
    return b"".join(_diff(old, new, place, place) for old, new, place in named if old.text != new.text)


def painted(data: bytes) -> bytes:
    """A diff in git's colors."""
    return b"".join(_painted(line) for line in data.splitlines(keepends=True))


def _painted(line: bytes) -> bytes:
    color = next((color for start, color in _COLORS if line.startswith(start)), b"")
    text = line.rstrip(b"\r\n")
    return b"\x1b[%bm%b\x1b[0m%b" % (color, text, line[len(text) :]) if color else line


def _diff(before: Source, after: Source, old: str, new: str) -> bytes:
    lines = list(difflib.unified_diff(_lines(before), _lines(after), _quoted(old), _quoted(new)))
    header = "".join(lines[:2]).encode("utf-8", "surrogateescape")
    return header + "".join(_ended(lines[2:])).encode(before.encoding, "surrogateescape")


def _quoted(name: str) -> str:
    """A name as git writes it: one with control characters in quotes, as C does."""
    if not re.search(r'["\\\x00-\x1f\x7f]', name):
        return name
    return '"' + re.sub(r'["\\]', r"\\\g<0>", name).translate(_CONTROL) + '"'


def _lines(source: Source) -> list[str]:
    """Lines as diff tools see them: only a line feed ends one, and a byte order mark belongs to the first."""
    text = f"\ufeff{source.text}" if source.bom else source.text
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ended(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_MISSING}"
