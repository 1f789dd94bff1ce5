"""A table in Markdown, for comments and step summaries."""

from __future__ import annotations

from dllint.finding import Finding
from dllint.fix import Applicability, Fix
from dllint.report import Context, Findings, by_hand

HEAD = "| | code | place | finding | fix |\n|---|---|---|---|---|\n"
_FIXES = {Applicability.SAFE: "`--fix`", Applicability.UNSAFE: "`--unsafe-fixes`", Applicability.MANUAL: "by hand"}


def render(findings: Findings, context: Context) -> str:
    """One row a finding; below the table what is to be done by hand."""
    if not findings:
        return "dllint found nothing.\n"
    rows = "".join(row(finding, fix, context) for finding, fix in findings)
    return f"{HEAD}{rows}{''.join(remedy(finding, fix, context) for finding, fix in findings)}"


def row(finding: Finding, fix: Fix | None, context: Context) -> str:
    """The finding's line of the table."""
    cells = (
        finding.severity.value,
        finding.code,
        f"`{context.place(finding.path, finding.span.start)}`",
        finding.message,
        _FIXES[fix.applicability] if fix else "",
    )
    return f"| {' | '.join(_cell(cell) for cell in cells)} |\n"


def remedy(finding: Finding, fix: Fix | None, context: Context) -> str:
    """What a person has to do; "" where nothing is known or dllint does it."""
    told = by_hand(fix)
    return f"\n{finding.code} in `{context.place(finding.path, finding.span.start)}`: {told}\n" if told else ""


def _cell(text: str) -> str:
    """The text as a cell: no bars, no newlines, and no tags but in what is quoted as code."""
    parts = text.replace("|", "\\|").replace("\n", " ").split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))
