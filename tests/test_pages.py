"""Every case of every page is linted, fixed and silenced; what the page says must be exactly what happens.

`DLLINT_UPDATE=1 pytest tests/test_pages.py` writes the diffs of the pages anew.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from pathlib import Path

import pytest

from tests import pages
from tests.expectations import Expectation
from tests.lint import Project, Reported, all_pages, name

CASES = [case for page in all_pages() for case in page.cases]
UPDATE = bool(os.environ.get("DLLINT_UPDATE"))

each_case = pytest.mark.parametrize("case", CASES, ids=name)


@each_case
def test_findings_are_exact(case: pages.Case, tmp_path: Path) -> None:
    reported = Project.of(case, tmp_path).check()
    wrong = compare(case, reported)
    assert not wrong, "\n".join(["", *wrong])
    for step in case.route:
        texts = [text for found in reported for path, row, text in found.steps if (path, row) == (step.path, step.row)]
        assert any(step.text in text for text in texts), f"{case.page}:{step.line}: no such step of a route: {texts}"


def compare(case: pages.Case, reported: list[Reported]) -> list[str]:
    """What is expected and not reported, and the other way round, one line each."""
    left = list(reported)
    missing = []
    for expected in sorted(case.expectations, key=lambda e: (e.columns is None, not e.text)):
        found = next((item for item in left if meets(case, expected, item)), None)
        if found is None:
            missing.append(f"{case.page}:{expected.line}: not reported: {expected}")
        else:
            left.remove(found)
    return missing + [f"{case.page}:{case.line}: not expected: {item}\n    {line(case, item)}" for item in left]


def line(case: pages.Case, found: Reported) -> str:
    """The line of a finding."""
    return case.files[found.path].splitlines()[found.row - 1]


def meets(case: pages.Case, expected: Expectation, found: Reported) -> bool:
    """Whether a finding is the expected one."""
    if (expected.path, expected.row, expected.code) != (found.path, found.row, found.code):
        return False
    end = found.end_column if found.end_row == found.row else len(line(case, found)) + 1
    return expected.text in found.message and expected.columns in (None, (found.column, end))


@each_case
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixes_make_the_project_better(case: pages.Case, unsafe: bool, tmp_path: Path) -> None:
    project = Project.of(case, tmp_path)
    before = project.check()
    fixed = project.fix(unsafe)
    after = project.check()
    for path, text in fixed.items():
        if text != case.files[path] and path.endswith(".py"):
            ast.parse(text, path)
    more = Counter(found.code for found in after) - Counter(found.code for found in before)
    assert not more, f"reported more often after the fix: {after}"
    if fixed != case.files:
        assert len(after) < len(before), "files were changed and nothing was fixed"
    assert project.fix(unsafe) == fixed, "fixing again changes something"


@each_case
def test_the_diff_is_what_the_fix_writes(case: pages.Case, tmp_path: Path) -> None:
    project = Project.of(case, tmp_path)
    fixed = project.fix(unsafe=True)
    diff = pages.unified(case.files, fixed)
    if case.diff is None:
        assert not (diff and case.clauses), f"{case.page}:{case.line}: a program that is run and fixed shows its diff"
        return
    assert diff, f"{case.page}:{case.diff.start}: nothing was fixed"
    if UPDATE:
        update(case, diff)
    else:
        assert case.diff.text == diff, "renew it with DLLINT_UPDATE=1 pytest tests/test_pages.py"
    stays = Counter(expected.code for expected in case.expectations if expected.stays)
    assert Counter(found.code for found in project.check()) == stays


def update(case: pages.Case, diff: str) -> None:
    """Write a case's diff into its page, wherever earlier updates have moved it."""
    assert "PYTEST_XDIST_WORKER" not in os.environ, "several processes cannot update one page"
    current = next(again for again in pages.read(case.page).cases if again.name == case.name)
    assert current.diff is not None
    pages.write_diff(case.page, current.diff, diff)


SILENCED = [
    pytest.param(case, expected, comment, id=f"{name(case)}-{expected.path}-{expected.row}-{expected.code}-{kind}")
    for case in CASES
    for expected in case.expectations
    if not expected.code.startswith("DLL9")
    for kind, comment in (("own", "# dllint: ignore[{}]"), ("noqa", "# noqa: {}"))
    # A second `noqa` on a line is heard by nobody; in files that are not Python, the first one is neither.
    if kind not in case.files[expected.path].splitlines()[expected.row - 1]
    if kind == "own" or expected.path.endswith(".py")
]


@pytest.mark.parametrize(("case", "expected", "comment"), SILENCED)
def test_a_comment_on_the_line_silences(case: pages.Case, expected: Expectation, comment: str, tmp_path: Path) -> None:
    project = Project.of(case, tmp_path)
    lines = case.files[expected.path].split("\n")
    end = len(lines[expected.row - 1])
    lines[expected.row - 1] += "  " + comment.format(expected.code)
    project.write(expected.path, "\n".join(lines))
    here = [found for found in project.check("DLL901") if (found.path, found.row) == (expected.path, expected.row)]
    assert not [found for found in here if found.code == expected.code or found.column > end]


COMPARED = """# t

```py
a = 1  # DLL101: is kept
#   ^
b = 2  # DLL101
```
"""


@pytest.mark.parametrize(
    ("reported", "wrong"),
    [
        ([(1, 5, 6, "DLL101", "it is kept"), (2, 1, 2, "DLL101", "")], []),
        ([(1, 5, 6, "DLL101", "it is kept")], ["not reported"]),
        ([(1, 5, 6, "DLL101", "it is kept"), (2, 1, 2, "DLL101", ""), (2, 1, 2, "DLL102", "")], ["not expected"]),
        ([(1, 5, 6, "DLL101", "it is kept"), (2, 1, 2, "DLL101", ""), (2, 3, 4, "DLL101", "")], ["not expected"]),
        ([(1, 5, 6, "DLL101", "other text"), (2, 1, 2, "DLL101", "")], ["not reported", "not expected"]),
        ([(1, 4, 6, "DLL101", "it is kept"), (2, 1, 2, "DLL101", "")], ["not reported", "not expected"]),
        ([(1, 5, 6, "DLL102", "it is kept"), (2, 1, 2, "DLL101", "")], ["not reported", "not expected"]),
    ],
)
def test_the_comparison_notices_every_difference(
    reported: list[tuple[int, int, int, str, str]], wrong: list[str], tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text(COMPARED, encoding="utf-8")
    case = pages.read(tmp_path / "page.md").cases[0]
    found = [
        Reported("example.py", row, start, row, end, code, message, ()) for row, start, end, code, message in reported
    ]
    assert [line.split(": ")[1] for line in compare(case, found)] == wrong
