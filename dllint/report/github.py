"""Workflow commands that GitHub Actions shows as annotations, and the summary of the step."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from dllint.finding import Finding, Severity
from dllint.fix import Fix
from dllint.report import Context, Findings, by_hand, markdown, shown

PER_LEVEL = 10
"""Annotations of one level that a step may make; GitHub drops further ones without a word."""
SUMMARY_BYTES = 1 << 20
"""A longer summary is not shown at all."""
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def render(findings: Findings, context: Context) -> str:
    """The worst findings, on changed lines first, as annotations; what GitHub would drop as plain lines."""
    ordered = sorted(findings, key=lambda item: _rank(item[0], context))
    made: Counter[Severity] = Counter()
    lines = []
    for finding, fix in ordered:
        made[finding.severity] += 1
        kept = made[finding.severity] <= PER_LEVEL
        lines.append(_annotation(finding, fix, context) if kept else _plain(finding, context))
    return "".join(lines)


def _rank(finding: Finding, context: Context) -> tuple[int, bool]:
    return list(Severity).index(finding.severity), not context.touches(finding.path, finding.span)


def _plain(finding: Finding, context: Context) -> str:
    return f"{context.place(finding.path, finding.span.start)}: {finding.code} {shown(finding.message)}\n"


def _annotation(finding: Finding, fix: Fix | None, context: Context) -> str:
    properties = {
        "file": shown(context.relative(finding.path, _workspace(context))),
        **_region(finding, context),
        "title": f"dllint ({finding.code})",
    }
    named = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    remedy = by_hand(fix)
    message = f"{shown(finding.message)}\n\n{remedy}" if remedy else shown(finding.message)
    return f"::{_LEVELS[finding.severity]} {named}::{message.translate(_MESSAGE)}\n"


def _region(finding: Finding, context: Context) -> dict[str, str]:
    """Lines, and columns where there is only one line: with several, GitHub takes none."""
    row, column = context.location(finding.path, finding.span.start)
    last, end = context.location(finding.path, finding.span.end)
    columns = {"col": str(column), "endColumn": str(end)} if last == row else {}
    return {"line": str(row), "endLine": str(last), **columns}


def _workspace(context: Context) -> str:
    """Annotations are placed by paths below the workspace, which need not be the repository."""
    workspace = os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or context.repository)
    inside = os.path.realpath(context.root).startswith(os.path.join(workspace, ""))
    return workspace if inside else context.repository


def summary(findings: Findings, context: Context, room: int = SUMMARY_BYTES) -> str:
    """A heading and the table of all findings, as many as there is room for, in bytes."""
    parts = [f"### dllint: {len(findings)} finding{'' if len(findings) == 1 else 's'}\n\n"]
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
    for finding, fix in sorted(findings, key=lambda item: _rank(item[0], context)):
        yield markdown.row(finding, fix, context)
