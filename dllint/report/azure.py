"""Logging commands of Azure Pipelines."""

from __future__ import annotations

from dllint.finding import Finding, Severity
from dllint.report import Context, Findings, shown

_MESSAGE = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _MESSAGE | str.maketrans({"]": "%5D", ";": "%3B"})


def render(findings: Findings, context: Context) -> str:
    """One issue a finding; there are no notices, so what is not an error is a warning."""
    folder = context.repository
    return "".join(_issue(finding, context, folder) for finding, _ in findings)


def _issue(finding: Finding, context: Context, folder: str) -> str:
    row, column = context.location(finding.path, finding.span.start)
    properties = {
        "type": "error" if finding.severity is Severity.ERROR else "warning",
        "sourcepath": shown(context.relative(finding.path, folder)),
        "linenumber": str(row),
        "columnnumber": str(column),
        "code": finding.code,
    }
    named = "".join(f"{name}={value.translate(_PROPERTY)};" for name, value in properties.items())
    return f"##vso[task.logissue {named}]{shown(finding.message).translate(_MESSAGE)}\n"
