"""What a block of a page claims: expectation comments in its lines, and run clauses in its info string.

The format is described in `dllint.testing`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from dllint.start_methods import NAMES

METHODS: tuple[str, ...] = NAMES

_MARKER = re.compile(r"(?:^|\s+)#\s*(?=DLL\d{3}\b|route: )")
_EXPECTED = re.compile(r"(?P<code>DLL\d{3})(?P<stays> \(stays\))?(?:: (?P<text>.*\S))?\s*$")
_CARETS = re.compile(r"\s*#\s*\^+(?:\s+\^+)*\s*$")
_CARET_GROUP = re.compile(r"#?\^+")


class PageError(Exception):
    """A page that does not follow the format; the message names page and line."""


@dataclass(frozen=True)
class Expectation:
    """One finding that must be reported.

    `row` counts in the stripped text, `columns` is 1-based with exclusive end, `line` is the page's line.
    """

    path: str
    row: int
    code: str
    text: str
    stays: bool
    columns: tuple[int, int] | None
    line: int


@dataclass(frozen=True)
class RouteStep:
    """A step that some finding's route must have."""

    path: str
    row: int
    text: str
    line: int


@dataclass(frozen=True)
class Clause:
    """What a program does under some start methods.

    `outcome` is ok, raises, hangs, dies or complains; `types` are exception names.
    """

    methods: tuple[str, ...]
    outcome: str
    types: tuple[str, ...] = ()
    says: str = ""
    prints: str = ""


@dataclass(frozen=True)
class Stripped:
    """A block's text without its expectations, and these."""

    text: str
    expectations: tuple[Expectation, ...]
    route: tuple[RouteStep, ...]


def strip(page: str, start: int, path: str, lines: tuple[str, ...]) -> Stripped:
    """Take the expectations out of a block's lines, which begin below the page's line `start`. Raises PageError."""
    kept: list[str] = []
    expectations: list[Expectation] = []
    route: list[RouteStep] = []
    for number, line in enumerate(lines, start + 1):
        place = f"{page}:{number}"
        if _CARETS.match(line):
            _fix_columns(place, expectations, len(kept), line)
            continue
        code, *markers = _MARKER.split(line)
        if markers and not code.strip():
            raise PageError(f"{place}: an expectation on a line without code")
        kept.append(code if markers else line)
        for marker in markers:
            if marker.startswith("route: "):
                route.append(RouteStep(path, len(kept), marker[len("route: ") :].strip(), number))
            else:
                expectations.append(_expectation(place, path, len(kept), marker, number))
    return Stripped("".join(line + "\n" for line in kept), tuple(expectations), tuple(route))


def _expectation(place: str, path: str, row: int, marker: str, line: int) -> Expectation:
    match = _EXPECTED.match(marker)
    if not match:
        raise PageError(f"{place}: cannot read the expectation `# {marker}`; write `# {marker[:6]}: text`")
    return Expectation(path, row, match["code"], match["text"] or "", bool(match["stays"]), None, line)


def _fix_columns(place: str, expectations: list[Expectation], row: int, carets: str) -> None:
    above = [index for index, expectation in enumerate(expectations) if expectation.row == row]
    groups = [(match.start() + 1, match.end() + 1) for match in _CARET_GROUP.finditer(carets)]
    if len(above) != len(groups):
        raise PageError(f"{place}: {len(groups)} ranges for {len(above)} findings on the line above")
    for index, columns in zip(above, groups, strict=True):
        expectations[index] = replace(expectations[index], columns=columns)


def clauses(place: str, attributes: tuple[str, ...]) -> tuple[tuple[Clause, ...], tuple[str, ...]]:
    """The run clauses of an info string, and the start methods under which the fixed program must work."""
    found: list[Clause] = []
    fixed = METHODS
    for attribute in attributes:
        key, _, value = attribute.partition("=")
        if key == "run":
            found.append(Clause(_methods(place, value), ""))
        elif key == "fixed":
            fixed = _methods(place, value)
        elif not found:
            raise PageError(f"{place}: unknown attribute `{attribute}` (expected `run=` first)")
        else:
            found[-1] = _extend(place, found[-1], key, value)
    for clause in found:
        if not clause.outcome:
            raise PageError(f"{place}: `run={','.join(clause.methods)}` has no outcome")
    named = [method for clause in found for method in clause.methods]
    if len(named) != len(set(named)):
        raise PageError(f"{place}: a start method is named twice")
    return tuple(found), fixed


def _extend(place: str, clause: Clause, key: str, value: str) -> Clause:
    match key:
        case "ok" | "hangs" | "dies" if not clause.outcome and not value:
            return replace(clause, outcome=key)
        case "raises" | "complains" if value and not clause.outcome:
            return replace(clause, outcome=key, types=tuple(value.split(",")))
        case "says" if value:
            return replace(clause, says=value)
        case "prints" if value:
            return replace(clause, prints=value)
    raise PageError(f"{place}: cannot read the attribute `{key}{'=' if value else ''}{value}`")


def _methods(place: str, value: str) -> tuple[str, ...]:
    methods = tuple(value.split(","))
    for method in methods:
        if method not in METHODS:
            raise PageError(f"{place}: `{method}` is not a start method; known: {', '.join(METHODS)}")
    return methods
