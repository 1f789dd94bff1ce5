"""Text for people: the findings of each file under its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dllint.fix import Applicability
from dllint.report import Context, Findings, shown


def render(findings: Findings, context: Context) -> str:
    """A block a file; rows and columns aligned, `[*]` where `--fix` does it."""
    ordered = sorted(findings, key=lambda item: item[0].path)
    blocks = groupby(ordered, key=lambda item: item[0].path)
    return "\n".join("".join(_block(path, tuple(items), context)) for path, items in blocks)


def _block(path: str, findings: Findings, context: Context) -> Iterator[str]:
    places = [context.source(path).place(finding.span.start).rpartition(":") for finding, _ in findings]
    rows = max(len(row) for row, _, _ in places)
    columns = max(len(column) for _, _, column in places)
    yield f"{context.paint('bold', context.name(path))}:\n"
    for (finding, fix), (row, _, column) in zip(findings, places, strict=True):
        code = context.paint(finding.severity.value, finding.code)
        safe = fix is not None and fix.applicability is Applicability.SAFE
        mark = context.paint("green", " [*]") if safe else ""
        yield f"  {row:>{rows}}:{column:<{columns}} {code}{mark} {shown(finding.message)}\n"
