"""The findings of `dllint check` compared with what a probe saw: confirmed, not reproduced, or not testable here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from dllint.config import load
from dllint.engine import Request, Result, check
from dllint.finding import Finding
from dllint.runtime.probe.messages import Part, Place
from dllint.runtime.probe.report import Answer, Checked, Report, Verdict
from dllint.source import Span

CONFIRMED, NOT_REPRODUCED, NOT_TESTABLE = "confirmed", "not reproduced", "not testable here"
PICKLING = {"DLL101", "DLL102", "DLL103", "DLL104", "DLL105", "DLL106", "DLL108"}
PICKLES = "shipped objects pickle"
"""The question that rules about pickling predict an answer to; what is slow or grows at their line confirms nothing."""
CONTAINERS = {"DLL201", "DLL202", "DLL203"}
QUESTIONS = {
    "DLL111": ("items come back", "items came back from the workers"),
    "DLL109": ("workers start", "workers started"),
    "DLL110": ("workers start", "workers started"),
    "DLL113": ("workers start", "workers started"),
    "DLL204": ("memory", "no container grew in a worker"),
    "DLL301": ("loads", "the program was run again by its workers and started nothing"),
    "DLL403": ("reads", "items were read"),
    "DLL406": ("reads", "items were read"),
    "DLL407": ("reads", "the epoch had all its batches, or was not read to its end"),
    "DLL601": ("workers share the items", "workers yield different items"),
    "DLL602": ("random streams differ", "the streams of all workers and epochs began differently"),
    "DLL606": ("random streams differ", "the streams of all workers and epochs began differently"),
    "DLL609": ("items survive", "workers read what the main process reads"),
}
"""By rule: the question that tests it, and what is said when all is well."""


def used_methods() -> frozenset[str]:
    """The start methods of the targets that the project's configuration names. Raises ConfigError."""
    return load((".",)).targets.methods()


def against(report: Report) -> Report:
    """The report with a verdict on each static finding of what the loader ships."""
    result = check(Request(paths=(".",), remedies=False))
    found = tuple(_judged(report, _Lines(finding, result)) for finding, _ in result.findings)
    return msgspec.structs.replace(report, checked=tuple(one for one in found if one is not None))


class _Lines:
    """A finding with its places as a probe writes them."""

    def __init__(self, finding: Finding, result: Result) -> None:
        self.finding = finding
        self._result = result
        self.cause = self._place(finding.path, finding.span)
        self.around = [self._place(path, span) for path, span in finding.anchors]
        self.around += [self._place(note.path, note.span) for note in finding.notes]

    def _place(self, path: str, span: Span) -> Place:
        source = self._result.source(path)
        first, last = source.location(span.start)[0], source.location(span.end)[0]
        place = os.path.realpath(os.path.join(self._result.root, path))
        here = os.path.realpath(os.getcwd())
        place = os.path.relpath(place, here) if place.startswith(here + os.sep) else place
        return Place(place.replace(os.sep, "/"), first, last)


class _Seen(NamedTuple):
    """A verdict and its reason."""

    verdict: str
    why: str


def _judged(report: Report, lines: _Lines) -> Checked | None:
    if not _concerns(report, lines):
        return None
    seen = _seen(report, lines)
    finding = lines.finding
    return Checked(finding.code, lines.cause, finding.message, seen.verdict, seen.why)


def _concerns(report: Report, lines: _Lines) -> bool:
    """Whether a finding is about the loader that was probed, or about what it ships."""
    made = report.loaded.made if report.loaded else ()
    parts = (*report.contents.culprits, *report.contents.holders, *report.contents.handles) if report.contents else ()
    code = report.contents.code if report.contents else ()
    at = [place for part in parts for place in part.places]
    return (
        any(_meet(place, line) for place in (lines.cause, *lines.around) for line in made)
        or any(_meet(lines.cause, place) for place in at)
        or any(place.covers(lines.cause.path, lines.cause.line) for place in code)
    )


def _meet(one: Place, other: Place) -> bool:
    return one.covers(other.path, other.line) or other.covers(one.path, one.line)


def _seen(report: Report, lines: _Lines) -> _Seen:
    code = lines.finding.code
    for method, answer, part in _bad(report):
        ruled = code in {answer.rule, part.rule if part else ""}
        here = part is not None and any(_meet(lines.cause, place) for place in part.places)
        pickled = here and code in PICKLING and answer.question == PICKLES
        if (ruled and (part is None or here or not part.places)) or pickled:
            what = f"{part.path}: {part.what}" if part else answer.text
            return _Seen(CONFIRMED, f"{answer.question} under {method} {answer.verdict.value}: {what}")
    if code in PICKLING:
        return _pickled(report)
    if code in CONTAINERS:
        return _contained(report, lines)
    if code == "DLL301" and not _is_target(report, lines.cause.path):
        return _Seen(NOT_TESTABLE, f"it is seen by probing {lines.cause.path}:..., the program itself")
    if code in QUESTIONS:
        return _asked(report, *QUESTIONS[code])
    return _Seen(NOT_TESTABLE, "a probe does not test this")


def _is_target(report: Report, path: str) -> bool:
    """Whether a file is what was probed, as the main program."""
    return os.path.normpath(report.target.rpartition(":")[0]).replace(os.sep, "/") == path


def _bad(report: Report) -> Iterator[tuple[str, Answer, Part | None]]:
    """What failed, or deserved a warning, part by part."""
    for method in report.methods:
        for answer in method.answers:
            if answer.verdict in (Verdict.FAILS, Verdict.WARNS):
                for part in answer.parts or (None,):
                    yield method.name, answer, part


def _pickled(report: Report) -> _Seen:
    if report.contents is None:
        return _Seen(NOT_TESTABLE, "what is shipped could not be looked at")
    if not any(method.name != "fork" for method in report.methods):
        return _Seen(NOT_TESTABLE, "nothing is pickled under fork")
    others = len(report.contents.culprits)
    return _Seen(NOT_REPRODUCED, f"what is there pickles{f'; {others} other parts do not' if others else ''}")


def _contained(report: Report, lines: _Lines) -> _Seen:
    holders: Sequence[Part] = report.contents.holders if report.contents else ()
    if not any(_meet(lines.cause, place) for part in holders for place in part.places):
        return _Seen(NOT_TESTABLE, "it holds too few objects here to be seen")
    return _asked(report, "memory", "workers did not grow by more than a few MB")


def _asked(report: Report, question: str, well: str) -> _Seen:
    """What is known of a question that failed nowhere for this reason."""
    verdicts = [answer.verdict for method in report.methods for answer in method.answers if answer.question == question]
    if Verdict.OK in verdicts:
        return _Seen(NOT_REPRODUCED, well)
    return _Seen(NOT_TESTABLE, f"`{question}` was not reached, or does not apply")
