"""What findings are known by from run to run, and how GitHub knows a line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

from dllint.finding import Finding
from dllint.source import Source

_WINDOW = 100
_BASE = 37
_BITS = (1 << 64) - 1
_END = 65535


def fingerprints(findings: Iterable[Finding]) -> Iterator[str]:
    """One for each finding, no two the same: made of names, so that edits elsewhere in the file change none."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.identity] += 1
        text = f"{finding.identity}\0{seen[finding.identity]}"
        yield hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def line_hashes(source: Source) -> list[str]:
    """The `primaryLocationLineHash` of each line, as GitHub's upload action computes it.

    A line is known by the 100 UTF-16 code units that begin with it, blanks and tabs left out: a polynomial modulo
    2**64, and a number that tells lines with equal hashes apart.
    """
    units, starts = _units(_as_read(source))
    units += [_END, *[0] * _WINDOW]
    seen: Counter[str] = Counter()
    hashes = []
    for start in starts:
        value = 0
        for unit in units[start : start + _WINDOW]:
            value = (value * _BASE + unit) & _BITS
        seen[f"{value:x}"] += 1
        hashes.append(f"{value:x}:{seen[f'{value:x}']}")
    return hashes


def _as_read(source: Source) -> str:
    """The text as a reader has it who takes every file for UTF-8 and leaves its byte order mark."""
    return source.encode().decode("utf-8", "replace")


def _units(text: str) -> tuple[list[int], list[int]]:
    """The code units that count, every newline being a line feed, and the places where lines start."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(" ", "").replace("\t", "")
    data = text.encode("utf-16-le", "surrogatepass")
    units = [low | high << 8 for low, high in zip(data[::2], data[1::2], strict=True)]
    return units, [0, *(place + 1 for place, unit in enumerate(units) if unit == ord("\n"))]
