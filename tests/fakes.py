"""Rules for tests of the engine: they report words, so that a test's programs need no torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from dllint import Applicability, Edit, Finding, Fix, Import, Note, Project, Rule, Severity, Span, registry

_ANCHOR = re.compile(r"START\((\w+)\)")
DATASET = "# Dataset\n"
"""A word that lets a file through the filter."""


class Word(Rule):
    """Reports every name that begins with BAD; the rest of the name says what its fix is worth.

    `START(BAD_X)` anywhere in the project is the boundary of BAD_X.
    """

    code = "DLL801"
    name = "bad-word"
    summary = "A bad word"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        starts = {match[1]: (path, _span(match)) for path, match in _found(project, _ANCHOR)}
        for path, match in _found(project, re.compile(r"(?<!START\()\bBAD\w*")):
            word = match.group()
            if word == "BAD_RULE":
                raise RuntimeError("the rule\nbroke")
            anchors = (starts[word],) if word in starts else ()
            notes = tuple(Note(place, span, "started here") for place, span in anchors)
            yield Finding(self.code, path, _span(match), f"`{word}` is bad", anchors=anchors, notes=notes, data=word)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        path, span = finding.path, finding.span
        good = Edit(path, span, f"good_{finding.data[4:].lower()}")
        imports: tuple[Import, ...] = ()
        match finding.data:
            case "BAD_NONE":
                return None
            case "BAD_CRASH":
                raise RuntimeError("the fix broke")
            case "BAD_SYNTAX":
                good = Edit(path, span, "good (")
            case "BAD_STAY":
                good = Edit(path, span, "BAD_STAY + 0")
            case "BAD_WORSE":
                good = Edit(path, span, "WORSE")
            case "BAD_OMEGA":
                good = Edit(path, span, "'\N{GREEK CAPITAL LETTER OMEGA}'")
            case "BAD_IMPORT" | "BAD_IMPORT2":
                imports = (Import(path, "functools", "partial"),)
            case "BAD_SHARED" | "BAD_SHARED_WORSE":
                used = "WORSE" if finding.data.endswith("WORSE") else "_shared"
                edits = (Edit(path, Span(len(DATASET), len(DATASET)), "def _shared(): ...\n"), Edit(path, span, used))
                return Fix("share", edits, Applicability.SAFE, defines=("_shared",))
            case "BAD_APART":
                return Fix("in two files", (good, Edit("b.py", Span(0, 0), "x\n")), Applicability.SAFE)
            case "BAD_ALONE":
                alone = Fix("in one file", (good,), Applicability.SAFE)
                edits = (Edit(path, span, "shared"), Edit("b.py", Span(len(DATASET), len(DATASET)), "shared = 1\n"))
                return Fix("in two files", edits, Applicability.SAFE, alone=alone)
            case "BAD_MANUAL":
                return Fix("do it yourself", (), Applicability.MANUAL, snippet="good = 1\ngood = 2")
        trust = Applicability.UNSAFE if finding.data == "BAD_UNSAFE" else Applicability.SAFE
        return Fix(f"replace `{finding.data}`", (good,), trust, imports)


class Worse(Rule):
    """Reports WORSE, and every BAD_BOTH that Word reports too, less surely."""

    code = "DLL802"
    name = "worse-word"
    summary = "A worse word"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for path, match in _found(project, re.compile(r"\b(?:WORSE|BAD_BOTH)\b")):
            yield Finding(self.code, path, _span(match), "worse", Severity.WARNING)


class Shy(Rule):
    """Opt-in: reports SHY."""

    code = "DLL803"
    name = "shy-word"
    summary = "A word"
    default = False
    triggers = (b"SHY",)

    def check(self, project: Project) -> Iterator[Finding]:
        for path, match in _found(project, re.compile("SHY")):
            yield Finding(self.code, path, _span(match), "shy")


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules of this module instead of the real ones."""
    infos = (*map(registry.info, (Word, Worse, Shy)), *registry.DIAGNOSTICS)
    monkeypatch.setattr(registry, "rules", lambda: (Word, Worse, Shy))
    monkeypatch.setattr(registry, "infos", lambda: infos)
    monkeypatch.setattr(registry, "by_code", registry.by_code.__wrapped__)
    monkeypatch.setattr(registry, "families", registry.families.__wrapped__)


def _found(project: Project, pattern: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str]]]:
    for path in project.models:
        for match in pattern.finditer(project.source(path).text):
            yield path, match


def _span(match: re.Match[str]) -> Span:
    return Span(match.start(), match.end())
