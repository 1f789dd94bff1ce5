"""How often each rule reports: places, and designs."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from dllint.fix import Applicability
from dllint.report import Context, Findings
from dllint.report.designs import told_once


def text(findings: Findings, context: Context) -> str:
    """A line a rule, the most frequent first; `[*]` marks rules with findings that `--fix` fixes."""
    rows = _rows(findings, context)
    width = max((len(str(row["count"])) for row in rows), default=0)
    marked = any(row["fixable"] for row in rows)
    lines = []
    for row in rows:
        mark = ("[*] " if row["fixable"] else "    ") if marked else ""
        lines.append(f"{str(row['count']).rjust(width)}  {row['code']}  {mark}{row['name']}{_designs(row)}\n")
    return "".join(lines)


def _designs(row: dict[str, Any]) -> str:
    """The number of reported designs, if it is smaller."""
    number = row["designs"]
    return "" if number == row["count"] else f" ({number} design{'' if number == 1 else 's'})"


def as_json(findings: Findings, context: Context) -> str:
    """The same as an array of objects."""
    return json.dumps(_rows(findings, context), indent=2) + "\n"


def _rows(findings: Findings, context: Context) -> list[dict[str, Any]]:
    counts = Counter(finding.code for finding, _ in findings)
    safe = Counter(finding.code for finding, fix in findings if fix and fix.applicability is Applicability.SAFE)
    designs = Counter(design.finding.code for design in told_once(findings))
    return [
        {
            "code": code,
            "name": context.rules[code].name,
            "count": count,
            "designs": designs[code],
            "fixable": safe[code],
        }
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
