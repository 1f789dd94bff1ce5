"""SARIF 2.1.0, for code scanning: stable fingerprints, the route as a code flow, fixes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dllint import __version__
from dllint.finding import Certainty, Severity
from dllint.fix import Fix
from dllint.report import Context, Findings, by_hand, page
from dllint.report.designs import SAME, Design, each, more
from dllint.report.fingerprint import fingerprints, line_hashes
from dllint.rule import RuleInfo
from dllint.source import Span

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_UNREAD = ("DLL900", "DLL903")
"""Findings that are also said of the run: files that were not analyzed."""
CAUSE = "the cause"
_MOST = 500
"""Further places of a design; GitHub takes 1,000 locations of a result."""
_LONGEST = 1024
"""Characters that GitHub takes of a rule's descriptions."""


def render(findings: Findings, context: Context) -> str:
    """One log with one run."""
    return (
        json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_Run(findings, context).log()]}, indent=2) + "\n"
    )


class _Run:
    """What the results of one log share."""

    def __init__(self, findings: Findings, context: Context) -> None:
        self._findings = findings
        self._context = context
        self._repository = context.repository
        self._codes = sorted({finding.code for finding, _ in findings})
        self._hashes = cache(lambda path: line_hashes(context.source(path).file))

    def log(self) -> dict[str, Any]:
        root = Path(self._repository).as_uri()
        known = fingerprints(finding for finding, _ in self._findings)
        return {
            "tool": {"driver": self._driver()},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {"%SRCROOT%": {"uri": f"{root.rstrip('/')}/"}},
            "automationDetails": {"id": "dllint/"},
            "invocations": [self._invocation()],
            "results": [self._result(design, key) for design, key in zip(each(self._findings), known, strict=True)],
        }

    def _driver(self) -> dict[str, Any]:
        surest = {
            code: all(one.certainty is Certainty.CERTAIN for one, _ in self._findings if one.code == code)
            for code in self._codes
        }
        rules = [_rule(self._context.rules[code], surest[code], self._context.url(code)) for code in self._codes]
        site = {"informationUri": self._context.site} if self._context.site else {}
        return {"name": "dllint", "semanticVersion": __version__, "version": __version__, **site, "rules": rules}

    def _invocation(self) -> dict[str, Any]:
        told: list[dict[str, Any]] = [
            {"level": "error", "message": {"text": problem}} for problem in self._context.problems
        ]
        told += [
            {
                "level": "error",
                "message": {"text": finding.message},
                "locations": [self._location(finding.path, finding.span)],
                "associatedRule": {"id": finding.code, "index": self._codes.index(finding.code)},
            }
            for finding, _ in self._findings
            if finding.code in _UNREAD
        ]
        return {
            "executionSuccessful": not self._context.problems,
            "workingDirectory": {"uri": Path(self._context.cwd).as_uri()},
            "toolExecutionNotifications": told,
        }

    def _result(self, design: Design, key: str) -> dict[str, Any]:
        """One a place, an alert each; the first of a design names the others."""
        finding, fix, others = design
        path, span = self._context.shown(finding)
        row, _ = self._context.location(path, span.start)
        related = [
            {"id": number, **self._location(note.path, note.span, note.text)}
            for number, note in enumerate(finding.notes, start=1)
        ]
        if (path, span) != (finding.path, finding.span):
            related.append({"id": len(related) + 1, **self._location(finding.path, finding.span, CAUSE)})
        same = [
            {"id": number, **self._location(one.path, one.span, SAME)}
            for number, (one, _) in enumerate(others[:_MOST], start=len(related) + 1)
        ]
        flow = [
            self._location(finding.path, finding.span, finding.message),
            *map(_unnumbered, related[: len(finding.notes)]),
        ]
        return {
            "ruleId": finding.code,
            "ruleIndex": self._codes.index(finding.code),
            "level": _LEVELS[finding.severity],
            "message": {"text": self._message(design, len(related) > len(finding.notes))},
            "locations": [self._location(path, span)],
            "partialFingerprints": {
                "primaryLocationLineHash": self._hashes(path)[row - 1],
                "dllint/v1": key,
            },
            "properties": {"certainty": finding.certainty.value, "outcomes": finding.outcomes},
            **({"relatedLocations": related + same} if related or same else {}),
            **({"codeFlows": [_flow(flow)]} if related else {}),
            **({"fixes": [self._fix(fix)]} if fix and self._context.offers(fix) else {}),
        }

    def _message(self, design: Design, elsewhere: bool) -> str:
        """The message, the route as links to the related locations, and what is to be done by hand."""
        finding = design.finding
        route = ", ".join(f"[{_escaped(note.text)}]({number})" for number, note in enumerate(finding.notes, start=1))
        cause = f"See [{CAUSE}]({len(finding.notes) + 1})." if elsewhere else ""
        told = _unlinked(f"{finding.message}{more(design, self._context)}")
        parts = (told, cause, f"Route: {route}." if route else "", by_hand(design.fix))
        return "\n\n".join(part for part in parts if part)

    def _fix(self, fix: Fix) -> dict[str, Any]:
        edits = sorted(set(fix.edits))
        changes = [
            {
                "artifactLocation": self._artifact(path),
                "replacements": [
                    {"deletedRegion": self._region(path, edit.span), "insertedContent": {"text": edit.text}}
                    for edit in edits
                    if edit.path == path
                ],
            }
            for path in dict.fromkeys(edit.path for edit in edits)
        ]
        return {
            "description": {"text": fix.title},
            "artifactChanges": changes,
            "properties": {"applicability": fix.applicability.label},
        }

    def _location(self, path: str, span: Span, text: str = "") -> dict[str, Any]:
        region = self._region(path, self._context.first_line(path, span))
        place = {"physicalLocation": {"artifactLocation": self._artifact(path), "region": region}}
        return {**place, "message": {"text": text}} if text else place

    def _artifact(self, path: str) -> dict[str, str]:
        """Relative to the repository; a file elsewhere has its whole address."""
        relative = self._context.relative(path, self._repository)
        if relative.startswith("../") or Path(relative).is_absolute():
            return {"uri": Path(self._context.absolute(path)).as_uri()}
        return {"uri": quote(relative, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}

    def _region(self, path: str, span: Span) -> dict[str, int]:
        row, column = self._context.location(path, span.start)
        last, end = self._context.location(path, span.end)
        return {"startLine": row, "startColumn": column, "endLine": last, "endColumn": end}


def _rule(info: RuleInfo, sure: bool, url: str) -> dict[str, Any]:
    text = page.text(info)
    return {
        "id": info.code,
        "name": info.name,
        "shortDescription": {"text": info.summary[:_LONGEST]},
        "fullDescription": {"text": page.introduction(info)[:_LONGEST]},
        "help": {"text": text, "markdown": text},
        **({"helpUri": url} if url else {}),
        "defaultConfiguration": {"level": _LEVELS[info.severity], "enabled": info.default},
        "properties": {
            "tags": ["pytorch", "multiprocessing", Path(info.page).parent.name],
            "precision": "very-high" if sure else "high",
            "problem.severity": _PROBLEMS[info.severity],
        },
    }


def _escaped(text: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", text)


def _unlinked(text: str) -> str:
    """Code such as `hooks[0](1)` is not a link to a related location."""
    return re.sub(r"\[(?=[^\]]*\]\()", r"\\[", text)


def _flow(locations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"threadFlows": [{"locations": [{"location": location} for location in locations]}]}


def _unnumbered(location: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in location.items() if key != "id"}
