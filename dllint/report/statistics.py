"""How often each rule reports."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from dllint.fix import Applicability
from dllint.report import Context, Findings


def text(findings: Findings, context: Context) -> str:
    """A line a rule, the most frequent first; `[*]` marks rules with findings that `--fix` mends."""
    rows = _rows(findings, context)
    width = max((len(str(row["count"])) for row in rows), default=0)
    marked = any(row["fixable"] for row in rows)
    lines = []
    for row in rows:
        mark = ("[*] " if row["fixable"] else "    ") if marked else ""
        lines.append(f"{str(row['count']).rjust(width)}  {row['code']}  {mark}{row['name']}\n")
    return "".join(lines)


def as_json(findings: Findings, context: Context) -> str:
    """The same as an array of objects."""
    return json.dumps(_rows(findings, context), indent=2) + "\n"


def _rows(findings: Findings, context: Context) -> list[dict[str, Any]]:
    counts = Counter(finding.code for finding, _ in findings)
    safe = Counter(finding.code for finding, fix in findings if fix and fix.applicability is Applicability.SAFE)
    return [
        {"code": code, "name": context.rules[code].name, "count": count, "fixable": safe[code]}
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
