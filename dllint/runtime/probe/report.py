"""What a probe found, as it is written to JSON and read again to compare."""

from __future__ import annotations

from enum import Enum

import msgspec

from dllint.runtime.probe.messages import Contents, Loaded, Part, Place, Sample, Speed

VERSION = 1
ENOUGH = 200
"""Number of items below which memory is reported, but not its growth."""


class Verdict(str, Enum):
    OK = "ok"
    FAILS = "fails"
    WARNS = "warns"
    UNKNOWN = "unknown"


class Answer(msgspec.Struct, frozen=True):
    """One question, answered for one start method, with the static rule that explains it."""

    question: str
    verdict: Verdict
    text: str = ""
    rule: str = ""
    parts: tuple[Part, ...] = ()
    places: tuple[Place, ...] = ()


class Method(msgspec.Struct, frozen=True):
    """What happened under one start method."""

    name: str
    used: bool
    """The loader, or a target of the project, uses it."""
    answers: tuple[Answer, ...]
    samples: tuple[Sample, ...] = ()
    items: int = 0
    seconds: float = 0.0
    reading_ms: float | None = None
    """Per item, in a worker."""
    collating_ms: float | None = None
    descriptors: float | None = None
    """Per batch that is kept."""
    shared_mb: float | None = None
    output: str = ""
    """The end of what was printed, where something failed."""
    printed: int = 0

    @property
    def failed(self) -> bool:
        return any(answer.verdict is Verdict.FAILS for answer in self.answers)

    def growth(self) -> float | None:
        """MB that each worker took for itself per 1,000 items that were read in all."""
        if len(self.samples) < 2 or not self.samples[0].private:
            return None
        first, last = self.samples[0], self.samples[-1]
        if last.items - first.items < ENOUGH:
            return None
        grown = sum(last.private) - sum(first.private)
        return 1000 * grown / len(last.private) / (last.items - first.items)


class Checked(msgspec.Struct, frozen=True):
    """A static finding, and what the probe saw of it."""

    code: str
    place: Place
    message: str
    verdict: str
    """confirmed, not reproduced, or not testable here."""
    why: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything."""

    version: int = VERSION
    dllint: str
    target: str
    platform: str
    loaded: Loaded | None = None
    contents: Contents | None = None
    methods: tuple[Method, ...] = ()
    speed: tuple[Speed, ...] = ()
    speed_method: str = ""
    checked: tuple[Checked, ...] | None = None

    @property
    def failed(self) -> bool:
        """Whether something failed under a method that is used."""
        return any(method.used and method.failed for method in self.methods)


class NotAReport(Exception):
    """A file that isn't a report of this version."""


def encode(report: Report) -> bytes:
    """Readable JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"


def decode(data: bytes) -> Report:
    """Raises NotAReport."""
    try:
        report = msgspec.json.decode(data, type=Report)
    except msgspec.DecodeError as error:
        raise NotAReport(str(error)) from None
    if report.version != VERSION:
        raise NotAReport(f"it is of version {report.version}, and this is {VERSION}")
    return report
