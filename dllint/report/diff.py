"""Fixes as a unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from dllint.source import Source

_MISSING = "\\ No newline at end of file\n"


def render(before: Source, after: Source, name: str) -> bytes:
    """One file's diff, its lines in the file's own encoding and with its own newlines."""
    lines = list(difflib.unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}"))
    header = "".join(lines[:2]).encode("utf-8", "surrogateescape")
    return header + "".join(_ended(lines[2:])).encode(before.encoding, "surrogateescape")


def _lines(source: Source) -> list[str]:
    """Lines as diff tools see them: only a line feed ends one, and a byte order mark belongs to the first."""
    text = f"\ufeff{source.text}" if source.bom else source.text
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ended(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n{_MISSING}"
