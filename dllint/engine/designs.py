"""Which findings are one design: the lambdas of a `Compose`, the lists of a class, copied code, files in Python 2.

Reports tell such findings once and name the other places below; each place stays a finding of its own, which is fixed,
silenced and kept in a baseline by itself.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from dllint import registry
from dllint.finding import Finding
from dllint.source import Source

_NAME = re.compile(r"`[^`]*`")
Key = tuple[object, ...]
"""What the findings of one design have in common; one such thing is enough."""


def joined(findings: Sequence[Finding], source: Callable[[str], Source]) -> list[Finding]:
    """The findings in their order, those of one design with the same `design`. Raises Changed."""
    own = {info.code for info in registry.DIAGNOSTICS}
    groups = _Groups()
    for number, finding in enumerate(findings):
        for key in _own_keys(finding) if finding.code in own else _keys(finding, source):
            groups.join(key, number)
    designs = {number: _name(findings[at] for at in group) for group in groups.found() for number in group}
    return [
        msgspec.structs.replace(finding, design=designs[number]) if number in designs else finding
        for number, finding in enumerate(findings)
    ]


def _own_keys(finding: Finding) -> Iterator[Key]:
    """What dllint says of a file is about that file alone, unless others are written for the same other Python."""
    if finding.group:
        yield finding.code, finding.group


def _keys(finding: Finding, source: Callable[[str], Source]) -> Iterator[Key]:
    """The same message about the same text or by the same way; in one container or class, up to how it holds them."""
    kind, said = (finding.code, finding.severity), finding.message
    text = source(finding.path).text[finding.span.start : finding.span.end]
    yield *kind, said, " ".join(text.split())
    if finding.group:
        yield *kind, finding.group, _consequence(finding)
    boundaries = finding.anchors
    steps = {(note.path, note.span) for note in finding.notes}
    for step in {*steps, *boundaries}:
        yield *kind, said, *step
    meant = _meant(finding)
    for path, span in steps:
        if not any(path == at and whole.start <= span.start and span.end <= whole.end for at, whole in boundaries):
            yield *kind, *meant, path, span


def _meant(finding: Finding) -> tuple[frozenset[str], str]:
    """What is named, but for what holds it, and the consequence: in one `Compose`, lambdas are held in several ways."""
    what = finding.message.partition(": ")[0]
    holders = {name for note in finding.notes for name in _NAME.findall(note.text)}
    return frozenset(_NAME.findall(what)) - holders, _consequence(finding)


def _consequence(finding: Finding) -> str:
    """What a message says of what it names."""
    return finding.message.partition(": ")[2]


def _name(findings: Iterable[Finding]) -> str:
    """A design is called after its first place."""
    first = min(findings, key=lambda finding: (finding.path, finding.span))
    return f"{first.path}:{first.span.start}:{first.code}"


class _Groups:
    """Numbers that have a key in common, directly or by way of others."""

    def __init__(self) -> None:
        self._first: dict[Key, int] = {}
        self._parent: dict[int, int] = {}

    def join(self, key: Key, number: int) -> None:
        """A number has a key."""
        self._parent.setdefault(number, number)
        self._parent[self._root(number)] = self._root(self._first.setdefault(key, number))

    def _root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = number = self._parent[self._parent[number]]
        return number

    def found(self) -> Iterator[list[int]]:
        """The groups of more than one."""
        groups: dict[int, list[int]] = defaultdict(list)
        for number in self._parent:
            groups[self._root(number)].append(number)
        yield from (group for group in groups.values() if len(group) > 1)
