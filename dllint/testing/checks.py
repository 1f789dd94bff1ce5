"""What must hold for every case. Each check yields what is wrong, one line or block each, nothing when all is well."""

from __future__ import annotations

import ast
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from dllint.testing.cases import Project, Reported
from dllint.testing.expectations import Expectation
from dllint.testing.pages import Case, Page, unified

COMMENTS = {"own": "# dllint: ignore[{}]", "noqa": "# noqa: {}"}


class Fixed(NamedTuple):
    """The files after a run with `--fix`, what is reported on them, and the files after one more such run."""

    files: dict[str, str]
    left: list[Reported]
    again: dict[str, str]


class Runs:
    """What the engine makes of a case. Each run is made once, in a folder of its own."""

    def __init__(self, case: Case) -> None:
        self.case = case

    @cached_property
    def reported(self) -> list[Reported]:
        """What is reported on the case."""
        return self.reported_on({})

    def reported_on(self, changed: Mapping[str, str], *codes: str) -> list[Reported]:
        """The same when files have other texts, with these rules also selected."""
        with tempfile.TemporaryDirectory() as folder:
            project = Project.of(self.case, Path(folder).resolve())
            for path, text in changed.items():
                project.write(path, text)
            return project.check(*codes)

    @cached_property
    def unsafely_fixed(self) -> Fixed:
        """The case after `--fix --unsafe-fixes`."""
        return self._fixed(unsafe=True) if self.reported else Fixed(self.case.files, [], self.case.files)

    @cached_property
    def safely_fixed(self) -> Fixed:
        """The case after `--fix`, which changes nothing where the unsafe fixes don't either."""
        return self._fixed(unsafe=False) if self.unsafely_fixed.files != self.case.files else self.unsafely_fixed

    def _fixed(self, unsafe: bool) -> Fixed:
        with tempfile.TemporaryDirectory() as folder:
            project = Project.of(self.case, Path(folder).resolve())
            files = project.fix(unsafe)
            if files == self.case.files:
                return Fixed(files, self.reported, files)
            left = project.check()
            return Fixed(files, left, project.fix(unsafe) if left else files)


def problems(case: Case) -> Iterator[str]:
    """All that is wrong with a case. Raises Crashed if a rule does, ConfigError or UnknownRule for its settings."""
    runs = Runs(case)
    yield from findings(runs)
    yield from fixes(case, runs.unsafely_fixed, runs.reported)
    if runs.safely_fixed.files != runs.unsafely_fixed.files:
        yield from fixes(case, runs.safely_fixed, runs.reported)
    yield from diff(case, runs.unsafely_fixed)
    for kind in COMMENTS:
        yield from silenced(runs, kind)


def findings(runs: Runs) -> Iterator[str]:
    """Exactly what the page expects is reported, where it says and with the route that it shows."""
    case = runs.case
    yield from compare(case, runs.reported)
    for step in case.route:
        texts = [
            text for found in runs.reported for path, row, text in found.steps if (path, row) == (step.path, step.row)
        ]
        if not any(step.text in text for text in texts):
            yield f"{case.page}:{step.line}: no such step of a route: {texts}"


def compare(case: Case, reported: list[Reported]) -> list[str]:
    """What is expected and not reported, and the other way round."""
    left = list(reported)
    missing = []
    for expected in sorted(case.expectations, key=lambda e: (e.columns is None, not e.text)):
        found = next((item for item in left if _meets(case, expected, item)), None)
        if found is None:
            missing.append(f"{case.page}:{expected.line}: not reported: {expected}")
        else:
            left.remove(found)
    return missing + [f"{case.page}:{case.line}: not expected: {item}\n    {_line(case, item)}" for item in left]


def _line(case: Case, found: Reported) -> str:
    return case.files[found.path].splitlines()[found.row - 1]


def _meets(case: Case, expected: Expectation, found: Reported) -> bool:
    if (expected.path, expected.row, expected.code) != (found.path, found.row, found.code):
        return False
    end = found.end_column if found.end_row == found.row else len(_line(case, found)) + 1
    return expected.text in found.message and expected.columns in (None, (found.column, end))


def fixes(case: Case, fixed: Fixed, before: list[Reported]) -> Iterator[str]:
    """What the fixes make parses, is reported less or otherwise, no rule more often, and there is nothing left to fix.

    Of what a class has for the loaders of users, the next container is told once the first one is fixed.
    """
    if fixed.files == case.files:
        return  # they have the same findings, and the same fixes
    place = f"{case.page}:{case.line}"
    for path, text in fixed.files.items():
        if text != case.files[path] and path.endswith(".py") and (error := _syntax_error(text)):
            yield f"{place}: {path} does not parse after the fix: {error}"
    more = Counter(found.code for found in fixed.left) - Counter(found.code for found in before)
    if more:
        yield f"{place}: {', '.join(sorted(more))} is reported more often after the fix: {[*map(str, fixed.left)]}"
    said = [Counter((found.path, found.code, found.message) for found in reported) for reported in (before, fixed.left)]
    if said[0] <= said[1]:
        yield f"{place}: files were changed and nothing was fixed"
    if fixed.again != fixed.files:
        yield f"{place}: fixing again changes something"


def _syntax_error(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return str(error)
    return ""


def diff(case: Case, fixed: Fixed) -> Iterator[str]:
    """The diff of the page is what the unsafe fixes write, and what they leave is what the page says stays."""
    written = unified(case.files, fixed.files)
    if case.diff is None:
        if written and case.clauses:
            yield f"{case.page}:{case.line}: a program that is run and fixed must show its diff"
        return
    place = f"{case.page}:{case.diff.start}"
    if not written:
        yield f"{place}: nothing was fixed"
    elif case.diff.text != written:
        yield f"{place}: the fix writes another diff:\n{written}"
    stays = Counter(expected.code for expected in case.expectations if expected.stays)
    left = Counter(found.code for found in fixed.left)
    if left != stays:
        yield f"{place}: after the fix {_told(left)} is reported, the page says {_told(stays)} stays"


def _told(codes: Counter[str]) -> str:
    return ", ".join(f"{code} {number}" for code, number in sorted(codes.items())) or "nothing"


def silenced(runs: Runs, kind: str) -> Iterator[str]:
    """Comments of a kind at the ends of their lines silence all findings, and none of them counts as useless."""
    case = runs.case
    lines = {path: text.split("\n") for path, text in case.files.items()}
    silent = _to_silence(case, kind)
    ends = {(path, row): len(lines[path][row - 1]) for path, row in silent}
    for (path, row), expected in silent.items():
        comment = COMMENTS[kind].format(", ".join(sorted({found.code for found in expected})))
        lines[path][row - 1] += f"  {comment}"
    texts = {path: "\n".join(lines[path]) for path, _ in silent}
    for found in runs.reported_on(texts, "DLL901") if silent else ():
        here = found.path, found.row
        if here in silent and (found.code in {each.code for each in silent[here]} or found.column > ends[here]):
            yield f"{case.page}:{silent[here][0].line}: the comment of kind {kind!r} does not silence: {found}"


def _to_silence(case: Case, kind: str) -> dict[tuple[str, int], list[Expectation]]:
    """The lines with findings that a comment of a kind must silence."""
    found = defaultdict(list)
    for expected in case.expectations:
        # A second `noqa` on a line is heard by nobody; in files that are not Python, the first one is neither.
        written = case.files[expected.path].splitlines()[expected.row - 1]
        heard = kind not in written and (kind == "own" or expected.path.endswith(".py"))
        if heard and not expected.code.startswith("DLL9"):
            found[expected.path, expected.row].append(expected)
    return found


def page(parsed: Page, code: str, fixable: bool) -> Iterator[str]:
    """A rule's page shows a finding with its message, a case that stays quiet, and a diff exactly if there is a fix."""
    told = [expected for case in parsed.cases for expected in case.expectations if expected.code == code]
    if not any(expected.text for expected in told):
        yield f"{parsed.path}: no example of {code} that checks the message"
    if all(case.expectations for case in parsed.cases):
        yield f"{parsed.path}: no quiet example"
    if any(case.diff for case in parsed.cases) != fixable:
        yield f"{parsed.path}: {'no diff of a fix' if fixable else 'a diff, though the rule says that it never fixes'}"
