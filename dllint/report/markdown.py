"""A table in Markdown, for comments and step summaries."""

from __future__ import annotations

import re

from dllint.finding import Finding
from dllint.fix import Applicability, Fix
from dllint.report import Context, Findings, by_hand, shown
from dllint.report.designs import Design, more, told_once

HEAD = "| | code | place | finding | fix |\n|---|---|---|---|---|\n"
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", re.DOTALL)
_FIXES = {Applicability.SAFE: "`--fix`", Applicability.UNSAFE: "`--unsafe-fixes`", Applicability.MANUAL: "by hand"}


def render(findings: Findings, context: Context) -> str:
    """One row a design; below the table what is to be done by hand."""
    if not findings:
        return "dllint found nothing.\n"
    designs = told_once(findings)
    rows = "".join(row(design, context) for design in designs)
    return f"{HEAD}{rows}{''.join(remedy(design.finding, design.fix, context) for design in designs)}"


def row(design: Design, context: Context) -> str:
    """The design's line of the table."""
    finding, fix = design.finding, design.fix
    cells = (
        finding.severity.value,
        finding.code,
        code(context.place(finding.path, finding.span.start)),
        prose(shown(finding.message) + more(design, context)),
        _FIXES[fix.applicability] if fix else "",
    )
    return f"| {' | '.join(_cell(cell) for cell in cells)} |\n"


def remedy(finding: Finding, fix: Fix | None, context: Context) -> str:
    """What a person has to do; "" where nothing is known or dllint does it."""
    told = by_hand(fix)
    return f"\n{finding.code} in {code(context.place(finding.path, finding.span.start))}: {told}\n" if told else ""


def code(text: str) -> str:
    """A text as code, whatever backquotes it has."""
    text = shown(text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def prose(text: str) -> str:
    """A message: what it quotes as code stays that, and nothing else is a tag, a link or a beginning of code."""
    parts, at = [], 0
    for quoted in _CODE.finditer(text):
        parts += [_plain(text[at : quoted.start()]), quoted[0]]
        at = quoted.end()
    return "".join((*parts, _plain(text[at:])))


def _plain(text: str) -> str:
    return re.sub(r"([\[\]`])", r"\\\1", text).replace("<", "&lt;")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
