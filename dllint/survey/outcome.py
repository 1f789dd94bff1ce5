"""What became of a source: small, plain, and the same wherever and however often it is analyzed."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["ok", "broken", "hostile", "over-size", "over-time", "over-memory", "failed"]
KINDS: dict[Kind, str] = {
    "ok": "analyzed",
    "broken": "could not be read",
    "hostile": "refused as hostile",
    "over-size": "too large",
    "over-time": "took too long",
    "over-memory": "took too much memory",
    "failed": "failed in dllint itself",
}
"""Each outcome in words."""
LIMITED: tuple[Kind, ...] = ("over-size", "over-time", "over-memory")
"""Outcomes that other limits may change."""
MOST = 500
"""Findings that are kept of one source; the others are counted."""


def storable(text: str) -> str:
    """A text that can be sent and stored: names of files need not be one."""
    return text.encode("utf-8", "backslashreplace").decode()


class Step(msgspec.Struct, frozen=True):
    """A step of a finding's route."""

    text: str
    path: str
    row: int
    column: int


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """A finding as it is kept: places in rows and columns, with the code that it is about."""

    code: str
    rule: str
    severity: str
    certainty: str
    path: str
    row: int
    column: int
    message: str
    outcomes: dict[str, str]
    route: tuple[Step, ...]
    frame: str
    fix: str
    """What the fix does, "" where there is none."""
    fingerprint: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a source. Only `seconds` and `peak_mb` differ from run to run."""

    kind: Kind
    reason: str = ""
    identity: str = ""
    """What the content is known by."""
    files: int = 0
    """Python files that were reported on."""
    findings: tuple[Reported, ...] = ()
    omitted: int = 0
    """Findings beyond those that are kept."""
    warnings: tuple[str, ...] = ()
    seconds: float = 0
    peak_mb: float = 0
