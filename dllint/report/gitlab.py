"""GitLab's code quality report."""

from __future__ import annotations

import json
from typing import Any

from dllint.finding import Finding, Severity
from dllint.report import Context, Findings
from dllint.report.fingerprint import fingerprints

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(findings: Findings, context: Context) -> str:
    """A JSON array. The widget shows descriptions only, so they begin with the code."""
    folder = context.repository
    known = fingerprints(finding for finding, _ in findings)
    rows = [_issue(finding, key, context, folder) for (finding, _), key in zip(findings, known, strict=True)]
    return json.dumps(rows, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, context: Context, folder: str) -> dict[str, Any]:
    return {
        "description": f"{finding.code}: {finding.message}",
        "check_name": context.rules[finding.code].name,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": context.relative(finding.path, folder),
            "lines": {"begin": context.location(finding.path, finding.span.start)[0]},
        },
    }
