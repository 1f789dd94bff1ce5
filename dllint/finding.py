"""A finding: one cause, reported once, with the route that makes it a bug. No node, no fix."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from dllint.source import Span


class Severity(str, Enum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Certainty(str, Enum):
    """How sure the analysis is that the hazard is real: the whole route is seen, or a step of it is inferred."""

    CERTAIN = "certain"
    LIKELY = "likely"


class Note(msgspec.Struct, frozen=True):
    """One step of the route from the cause to the workers."""

    path: str
    span: Span
    text: str


class Finding(msgspec.Struct, frozen=True):
    """What a rule reports.

    `path` is relative to the project's root, with forward slashes. `outcomes` says per start method (`fork`, `spawn`,
    `forkserver`) what happens: `exception`, `hang`, `corrupt`, `bloat` or `ok`. `anchors` are the places besides the
    cause where the finding may be shown or silenced, usually the boundary. `key` names cause and boundary without line
    numbers (baselines). `data` is what the rule's own `fix` needs. `group` names what several findings of a rule are
    about: a class with several lists, another Python. `design` is the engine's: the same for findings that are reported
    once, "" for a finding without others.
    """

    code: str
    path: str
    span: Span
    message: str
    severity: Severity = Severity.ERROR
    certainty: Certainty = Certainty.CERTAIN
    outcomes: dict[str, str] = {}
    notes: tuple[Note, ...] = ()
    anchors: tuple[tuple[str, Span], ...] = ()
    key: str = ""
    data: Any = None
    group: str = ""
    design: str = ""

    @property
    def identity(self) -> str:
        """What it is known by from run to run: names, no line numbers, so that edits elsewhere change nothing."""
        return f"{self.code}\0{self.key or f'{self.path} {self.message}'}"
