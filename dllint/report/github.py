"""Workflow commands that GitHub Actions shows as annotations, and the summary of the step."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from dllint.finding import Finding, Severity
from dllint.report import Context, Findings, by_hand, markdown, shown
from dllint.report.designs import Design, counted, each, more, told_once
from dllint.source import Span

PER_LEVEL = 10
"""Annotations of one level that a step may make; GitHub silently drops further ones."""
SUMMARY_BYTES = 1 << 20
"""A longer summary is not shown at all."""
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def render(findings: Findings, context: Context) -> str:
    """The worst findings as annotations, each design once before its other places; the rest as plain lines."""
    made: Counter[Severity] = Counter()
    lines = []
    for design in _each(findings, context):
        made[design.finding.severity] += 1
        kept = made[design.finding.severity] <= PER_LEVEL
        lines.append(_annotation(design, context) if kept else _plain(design, context))
    return "".join(lines)


def _each(findings: Findings, context: Context) -> list[Design]:
    """By severity, changed lines first: the first places of all designs, then the others. GitHub drops what is last."""
    ordered = sorted(findings, key=lambda item: _rank(item[0], context))
    first = {id(design.finding) for design in told_once(ordered)}
    severities = list(Severity)
    return sorted(each(ordered), key=lambda one: (severities.index(one.finding.severity), id(one.finding) not in first))


def _rank(finding: Finding, context: Context) -> tuple[int, bool]:
    return list(Severity).index(finding.severity), not context.touches(finding.path, finding.span)


def _plain(design: Design, context: Context) -> str:
    finding = design.finding
    return f"{context.place(finding.path, finding.span.start)}: {finding.code} {_message(design, context)}\n"


def _message(design: Design, context: Context) -> str:
    return shown(design.finding.message) + more(design, context)


def _annotation(design: Design, context: Context) -> str:
    """At the changed line that leads to the finding; the cause is named where it is another line."""
    finding = design.finding
    path, span = context.shown(finding)
    properties = {
        "file": shown(context.relative(path, _workspace(context))),
        **_region(path, span, context),
        "title": f"dllint ({finding.code})",
    }
    named = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    here = (path, span) == (finding.path, finding.span)
    cause = "" if here else f"The cause is at {context.place(finding.path, finding.span.start)}."
    parts = (_message(design, context), cause, by_hand(design.fix))
    message = "\n\n".join(part for part in parts if part)
    return f"::{_LEVELS[finding.severity]} {named}::{message.translate(_MESSAGE)}\n"


def _region(path: str, span: Span, context: Context) -> dict[str, str]:
    """Lines, and columns where there is only one line: with several, GitHub takes none."""
    row, column = context.location(path, span.start)
    last, end = context.location(path, span.end)
    columns = {"col": str(column), "endColumn": str(end)} if last == row else {}
    return {"line": str(row), "endLine": str(last), **columns}


def _workspace(context: Context) -> str:
    """Annotations are placed by paths below the workspace, which may not be the repository."""
    workspace = os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or context.repository)
    inside = os.path.realpath(context.root).startswith(os.path.join(workspace, ""))
    return workspace if inside else context.repository


def summary(findings: Findings, context: Context, room: int = SUMMARY_BYTES) -> str:
    """A heading and the table of all designs, as many as there is room for, in bytes."""
    parts = [f"### dllint: {counted(findings)}\n\n"]
    parts += [markdown.HEAD] if findings else []
    rows = list(_rows(findings, context))
    left = room - sum(len(part.encode()) for part in parts) - 200  # for the last line
    for number, row in enumerate(rows):
        left -= len(row.encode("utf-8", "backslashreplace"))
        if left < 0:
            return "".join((*parts, f"\nand {len(rows) - number} more, see the log of the step\n"))
        parts.append(row)
    return "".join(parts)


def _rows(findings: Findings, context: Context) -> Iterator[str]:
    for design in told_once(sorted(findings, key=lambda item: _rank(item[0], context))):
        yield markdown.row(design, context)
