"""What must hold for every case. Each check yields what is wrong, one line or block each, and nothing when all is well.

A check writes its case into `folder`, which is empty and given by its real path.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dllint.testing.cases import Project, Reported
from dllint.testing.expectations import Expectation
from dllint.testing.pages import Case, Page, unified

COMMENTS = {"own": "# dllint: ignore[{}]", "noqa": "# noqa: {}"}


def findings(case: Case, folder: Path) -> Iterator[str]:
    """Exactly what the page expects is reported, where it says and with the route that it shows."""
    reported = Project.of(case, folder).check()
    yield from compare(case, reported)
    for step in case.route:
        texts = [text for found in reported for path, row, text in found.steps if (path, row) == (step.path, step.row)]
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


def fixes(case: Case, folder: Path, unsafe: bool) -> Iterator[str]:
    """What the fixes make parses, is reported less or otherwise, no rule more often, and there is nothing left to fix.

    Of what a class has for the loaders of users, the next container is told once the first one is fixed.
    """
    place = f"{case.page}:{case.line}"
    project = Project.of(case, folder)
    fixed = project.fix(unsafe)
    if fixed == case.files:
        return  # they have the same findings, and the same fixes
    after = project.check()
    again = project.fix(unsafe)
    before = Project.of(case, folder).check()
    for path, text in fixed.items():
        if text != case.files[path] and path.endswith(".py") and (error := _syntax_error(text)):
            yield f"{place}: {path} does not parse after the fix: {error}"
    more = Counter(found.code for found in after) - Counter(found.code for found in before)
    if more:
        yield f"{place}: {', '.join(sorted(more))} is reported more often after the fix: {[*map(str, after)]}"
    said = [Counter((found.path, found.code, found.message) for found in reported) for reported in (before, after)]
    if said[0] <= said[1]:
        yield f"{place}: files were changed and nothing was fixed"
    if again != fixed:
        yield f"{place}: fixing again changes something"


def _syntax_error(text: str) -> str:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return str(error)
    return ""


def diff(case: Case, folder: Path) -> Iterator[str]:
    """The diff of the page is what the fixes write, and what they leave is what the page says stays."""
    project = Project.of(case, folder)
    written = unified(case.files, project.fix(unsafe=True))
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
    left = Counter(found.code for found in project.check())
    if left != stays:
        yield f"{place}: after the fix {_told(left)} is reported, the page says {_told(stays)} stays"


def _told(codes: Counter[str]) -> str:
    return ", ".join(f"{code} {number}" for code, number in sorted(codes.items())) or "nothing"


def silencings(case: Case) -> Iterator[tuple[Expectation, str]]:
    """The findings of a case, each with a comment that must silence it."""
    for expected in case.expectations:
        for kind, comment in COMMENTS.items():
            # A second `noqa` on a line is heard by nobody; in files that are not Python, the first one is neither.
            written = case.files[expected.path].splitlines()[expected.row - 1]
            heard = kind not in written and (kind == "own" or expected.path.endswith(".py"))
            if heard and not expected.code.startswith("DLL9"):
                yield expected, comment.format(expected.code)


def silenced(case: Case, expected: Expectation, comment: str, folder: Path) -> Iterator[str]:
    """A comment at the end of its line silences a finding, and does not count as useless."""
    project = Project.of(case, folder)
    lines = case.files[expected.path].split("\n")
    end = len(lines[expected.row - 1])
    lines[expected.row - 1] += f"  {comment}"
    project.write(expected.path, "\n".join(lines))
    for found in project.check("DLL901"):
        here = (found.path, found.row) == (expected.path, expected.row)
        if here and (found.code == expected.code or found.column > end):
            yield f"{case.page}:{expected.line}: `{comment}` does not silence: {found}"


def page(parsed: Page, code: str, fixable: bool) -> Iterator[str]:
    """A rule's page shows a finding with its message, a case that stays quiet, and a diff exactly if there is a fix."""
    told = [expected for case in parsed.cases for expected in case.expectations if expected.code == code]
    if not any(expected.text for expected in told):
        yield f"{parsed.path}: no example of {code} that checks the message"
    if all(case.expectations for case in parsed.cases):
        yield f"{parsed.path}: no quiet example"
    if any(case.diff for case in parsed.cases) != fixable:
        yield f"{parsed.path}: {'no diff of a fix' if fixable else 'a diff, though the rule says that it never fixes'}"
