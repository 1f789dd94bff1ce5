"""The result of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from dllint.config import Config
from dllint.engine.corpus import Corpus
from dllint.finding import Finding
from dllint.fix import Fix
from dllint.source import Source


class Applied(NamedTuple):
    """A fix that was made: the finding's file and rule, and what was done."""

    path: str
    code: str
    title: str


class Change(msgspec.Struct, frozen=True):
    """A file before and after its fixes."""

    before: Source
    after: Source


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run found. Paths are relative to `root`."""

    root: str
    config: Config
    findings: tuple[tuple[Finding, Fix | None], ...]
    source: Callable[[str], Source]
    targets: frozenset[str] = frozenset()
    """The files reported on."""
    projects: int = 1
    """How many projects were checked, each alone."""
    codes: frozenset[str] = frozenset()
    """The rules that were asked."""
    changes: tuple[Change, ...] = ()
    applied: tuple[Applied, ...] = ()
    silenced: Mapping[str, int] = {}
    """Code to number of findings that got a comment."""
    crashes: tuple[str, ...] = ()
    """Why the exit status is 2 although the run came to its end: internal errors, missing paths, files not written."""
    warnings: tuple[str, ...] = ()

    @property
    def checked(self) -> int:
        """Number of files reported on."""
        return len(self.targets)

    @property
    def fixed(self) -> Counter[str]:
        """Code to number of findings that are gone."""
        return Counter(item.code for item in self.applied)


def quote(corpus: Corpus, findings: Iterable[Finding]) -> None:
    """Read what a report quotes while the files are what they were. Raises Changed."""
    for path in {path for finding in findings for path in paths(finding)}:
        corpus.source(path)


def paths(finding: Finding) -> Iterable[str]:
    """The files that a report of a finding quotes."""
    yield finding.path
    yield from (path for path, _ in finding.anchors)
    yield from (note.path for note in finding.notes)
