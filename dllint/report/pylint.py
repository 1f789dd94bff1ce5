"""Pylint's parseable text, which many CI systems read."""

from __future__ import annotations

from dllint.report import Context, Findings, shown


def render(findings: Findings, context: Context) -> str:
    """`path:row: [CODE] message`."""
    return "".join(
        f"{context.name(finding.path)}:{context.location(finding.path, finding.span.start)[0]}: "
        f"[{finding.code}] {shown(finding.message)}\n"
        for finding, _ in findings
    )
