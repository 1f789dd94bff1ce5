"""Findings of one design, told once: the first of them, and where the others are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dllint.finding import Finding
from dllint.fix import Fix
from dllint.report import Context, Findings
from dllint.source import Part

FILES = 4
"""How many files a line of text names with their places."""
PLACES = 24
"""How many lines of one file are named."""
SAME = "the same here"


class Design(NamedTuple):
    """Findings that are reported once: the first of them with its fix, and the others."""

    finding: Finding
    fix: Fix | None
    others: Findings = ()


def told_once(findings: Findings) -> list[Design]:
    """The designs of these findings, in the order of their first places."""
    groups: dict[object, list[tuple[Finding, Fix | None]]] = {}
    for item in findings:
        groups.setdefault(item[0].design or id(item), []).append(item)
    return [Design(*group[0], group[1:]) for group in groups.values()]


def each(findings: Findings) -> list[Design]:
    """Every finding by itself, for reports that have a place for each: the first of a design has the others with it."""
    first = {id(design.finding): design for design in told_once(findings)}
    return [first.get(id(finding)) or Design(finding, fix) for finding, fix in findings]


def counted(findings: Findings) -> str:
    """`5 findings`, or `5 findings of 2 designs` if some are reported once."""
    number, designs = len(findings), len(told_once(findings))
    text = f"{number} finding{'' if number == 1 else 's'}"
    return text if designs == number else f"{text} of {designs} design{'' if designs == 1 else 's'}"


def more(design: Design, context: Context) -> str:
    """` (and 4 more here: lines 31, 33, 40, 41; 2 in b.py: lines 3, 9)`, or ""."""
    told = "; ".join(places(design, context, FILES))
    return f" (and {told.replace(' ', ' more ', 1)})" if told else ""


def places(design: Design, context: Context, most: int) -> Iterator[str]:
    """Where the others are, file by file: `4 here: lines 31, 33, 40, 41`; of many files, how many places they have."""
    files: dict[str, list[Finding]] = defaultdict(list)
    for finding, _ in design.others:
        files[finding.path].append(finding)
    paths = sorted(files, key=lambda path: (path != design.finding.path, path))
    shown = paths if len(paths) <= most + 1 else paths[:most]
    for path in shown:
        where = "here" if path == design.finding.path else f"in {context.name(path)}"
        yield f"{len(files[path])} {where}: {_lines(files[path], context)}"
    left = paths[len(shown) :]
    if left:
        yield f"{sum(len(files[path]) for path in left)} in {len(left)} other files"


def _lines(findings: Sequence[Finding], context: Context) -> str:
    """`lines 31, 33`; in a notebook `cell 2 line 1, cell 4 lines 3, 5`."""
    rows: dict[int | None, list[int]] = defaultdict(list)
    for finding in findings[:PLACES]:
        part: Part = context.source(finding.path).part(finding.span.start)
        rows[part.cell].append(part.location(finding.span.start)[0])
    told = [_rows(cell, list(dict.fromkeys(rows))) for cell, rows in rows.items()]
    return ", ".join((*told, *(["..."] if len(findings) > PLACES else [])))


def _rows(cell: int | None, rows: Sequence[int]) -> str:
    lines = f"line{'' if len(rows) == 1 else 's'} {', '.join(map(str, rows))}"
    return lines if cell is None else f"cell {cell} {lines}"
