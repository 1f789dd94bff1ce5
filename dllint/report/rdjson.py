"""Reviewdog's diagnostic format, whose columns count the bytes of UTF-8."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dllint.finding import Finding
from dllint.fix import Fix
from dllint.report import Context, Findings, by_hand
from dllint.report.designs import SAME, each
from dllint.source import Span

_SOURCE = {"name": "dllint"}


def render(findings: Findings, context: Context) -> str:
    """One `DiagnosticResult`."""
    diagnostics = list(_diagnostics(findings, context))
    return json.dumps({"source": _SOURCE, "diagnostics": diagnostics}, indent=2) + "\n"


def lines(findings: Findings, context: Context) -> str:
    """One `Diagnostic` a line."""
    diagnostics = ({**diagnostic, "source": _SOURCE} for diagnostic in _diagnostics(findings, context))
    return "".join(json.dumps(diagnostic) + "\n" for diagnostic in diagnostics)


def _diagnostics(findings: Findings, context: Context) -> Iterator[dict[str, Any]]:
    """One a place, for reviewdog leaves out what the change does not touch; the first of a design names the others."""
    for finding, fix, others in each(findings):
        diagnostic = _diagnostic(finding, fix, context)
        same = [_related(SAME, one.path, one.span, context) for one, _ in others]
        yield {**diagnostic, "related_locations": diagnostic["related_locations"] + same}


def _diagnostic(finding: Finding, fix: Fix | None, context: Context) -> dict[str, Any]:
    remedy = by_hand(fix)
    path, span = context.shown(finding)
    here = (path, span) == (finding.path, finding.span)
    cause = "" if here else f"The cause is at {context.place(finding.path, finding.span.start)}."
    related = [] if here else [_related("the cause", finding.path, finding.span, context)]
    edit = context.suggestion(finding, fix) if path == finding.path else None
    url = context.url(finding.code)
    suggestions = [{"range": _range(edit.path, edit.span, context), "text": edit.text}] if edit else []
    return {
        "message": "\n\n".join(part for part in (finding.message, cause, remedy) if part),
        "location": _place(path, span, context),
        "severity": finding.severity.value.upper(),
        "code": {"value": finding.code, **({"url": url} if url else {})},
        **({"suggestions": suggestions} if suggestions else {}),
        "related_locations": related + [_related(note.text, note.path, note.span, context) for note in finding.notes],
    }


def _related(message: str, path: str, span: Span, context: Context) -> dict[str, Any]:
    return {"message": message, "location": _place(path, span, context)}


def _place(path: str, span: Span, context: Context) -> dict[str, Any]:
    return {"path": context.relative(path), "range": _range(path, span, context)}


def _range(path: str, span: Span, context: Context) -> dict[str, Any]:
    return {"start": _point(path, span.start, context), "end": _point(path, span.end, context)}


def _point(path: str, offset: int, context: Context) -> dict[str, int]:
    """Line and column; the bytes of a byte order mark are bytes of the first line."""
    source, offset = context.source(path).file, context.source(path).in_file(offset)
    row, column = source.location(offset)
    before = source.text[offset - column + 1 : offset]
    mark = 3 if source.bom and row == 1 else 0
    return {"line": row, "column": mark + len(before.encode("utf-8", "surrogatepass")) + 1}
