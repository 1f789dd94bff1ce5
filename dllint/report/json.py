"""JSON for programs: the field names of ruff, and what only dllint knows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from dllint.finding import Finding
from dllint.fix import Edit, Fix
from dllint.report import Context, Findings
from dllint.source import Span


def render(findings: Findings, context: Context) -> str:
    """A JSON array, one object a finding."""
    seen: Counter[str] = Counter()
    rows = [_finding(finding, fix, context, seen) for finding, fix in findings]
    return json.dumps(rows, indent=2) + "\n"


def _finding(finding: Finding, fix: Fix | None, context: Context, seen: Counter[str]) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": context.names[finding.code],
        "filename": context.absolute(finding.path),
        **_range(finding.path, finding.span, context),
        "message": finding.message,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "url": None,
        "noqa_row": context.location(finding.path, finding.span.start)[0],
        "cell": None,
        "fix": _fix(fix, context) if fix else None,
        "outcomes": finding.outcomes,
        "related": [{"message": note.text, **_place(note.path, note.span, context)} for note in finding.notes],
        "anchors": [_place(path, span, context) for path, span in finding.anchors],
        "fingerprint": _fingerprint(finding, seen),
    }


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
    return {"filename": context.absolute(path), **_range(path, span, context)}


def _range(path: str, span: Span, context: Context) -> dict[str, Any]:
    return {"location": _point(path, span.start, context), "end_location": _point(path, span.end, context)}


def _point(path: str, offset: int, context: Context) -> dict[str, int]:
    row, column = context.location(path, offset)
    return {"row": row, "column": column}


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """The same after edits elsewhere in the file: made of names, not of line numbers."""
    key = f"{finding.code}\0{finding.key or f'{finding.path} {finding.message}'}"
    seen[key] += 1
    return hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
