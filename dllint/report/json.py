"""JSON for programs: the field names of ruff, and what only dllint knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dllint.finding import Finding
from dllint.fix import Edit, Fix
from dllint.report import Context, Findings
from dllint.report.designs import SAME, each
from dllint.report.fingerprint import fingerprints
from dllint.source import Part, Span


def render(findings: Findings, context: Context) -> str:
    """A JSON array, one object a finding."""
    return json.dumps(list(_rows(findings, context)), indent=2) + "\n"


def lines(findings: Findings, context: Context) -> str:
    """The same objects, one a line."""
    return "".join(json.dumps(row) + "\n" for row in _rows(findings, context))


def record(finding: Finding, fix: Fix | None, context: Context) -> dict[str, Any]:
    """One finding as such an object, for documents that have findings in them."""
    return next(_rows([(finding, fix)], context))


def _rows(findings: Findings, context: Context) -> Iterator[dict[str, Any]]:
    """One object a place; the first of a design names the others, and all of them its fingerprint."""
    known = fingerprints(finding for finding, _ in findings)
    first: dict[str, str] = {}
    for (finding, fix, others), fingerprint in zip(each(findings), known, strict=True):
        row = _finding(finding, fix, context)
        row["related"] += [_related(SAME, same.path, same.span, context) for same, _ in others]
        design = first.setdefault(finding.design or fingerprint, fingerprint)
        yield {**row, "fingerprint": fingerprint, "design": design}


def _finding(finding: Finding, fix: Fix | None, context: Context) -> dict[str, Any]:
    part = context.source(finding.path).part(finding.span.start)
    return {
        "code": finding.code,
        "name": context.rules[finding.code].name,
        "filename": context.absolute(finding.path),
        **_range(finding.path, finding.span, context),
        "message": finding.message,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "url": context.url(finding.code) or None,
        "noqa_row": part.location(finding.span.start)[0],
        "cell": part.cell,
        "fix": _fix(fix, context) if fix else None,
        "outcomes": finding.outcomes,
        "related": [_related(note.text, note.path, note.span, context) for note in finding.notes],
        "anchors": [_place(path, span, context) for path, span in finding.anchors],
    }


def _related(message: str, path: str, span: Span, context: Context) -> dict[str, Any]:
    return {"message": message, **_place(path, span, context)}


def _fix(fix: Fix, context: Context) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.label,
        "message": fix.title,
        "edits": [_edit(edit, context) for edit in sorted(set(fix.edits))],
        "snippet": fix.snippet or None,
    }


def _edit(edit: Edit, context: Context) -> dict[str, Any]:
    return {"content": edit.text, **_place(edit.path, edit.span, context)}


def _place(path: str, span: Span, context: Context) -> dict[str, Any]:
    cell = context.source(path).part(span.start).cell
    return {"filename": context.absolute(path), "cell": cell, **_range(path, span, context)}


def _range(path: str, span: Span, context: Context) -> dict[str, Any]:
    part = context.source(path).part(span.start)
    return {"location": _point(part, span.start), "end_location": _point(part, span.end)}


def _point(part: Part, offset: int) -> dict[str, int]:
    row, column = part.location(offset)
    return {"row": row, "column": column}
