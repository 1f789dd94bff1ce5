"""Every case of every page is linted, fixed and silenced; what the page says must be exactly what happens.

`DLLINT_UPDATE=1 pytest tests/test_pages.py` writes the diffs of the pages anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from dllint.testing import checks, pages, runner
from dllint.testing.cases import Reported
from dllint.testing.expectations import Expectation
from tests.lint import all_pages, name

CASES = [case for page in all_pages() for case in page.cases]
UPDATE = bool(os.environ.get("DLLINT_UPDATE"))

each_case = pytest.mark.parametrize("case", CASES, ids=name)


def holds(problems: Iterable[str]) -> None:
    """Fail with everything that is wrong."""
    wrong = list(problems)
    assert not wrong, "\n".join(["", *wrong])


@each_case
def test_findings_are_exact(case: pages.Case, tmp_path: Path) -> None:
    holds(checks.findings(case, tmp_path))


@each_case
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_fixes_make_the_project_better(case: pages.Case, unsafe: bool, tmp_path: Path) -> None:
    holds(checks.fixes(case, tmp_path, unsafe))


@each_case
def test_the_diff_is_what_the_fix_writes(case: pages.Case, tmp_path: Path) -> None:
    if UPDATE:
        assert "PYTEST_XDIST_WORKER" not in os.environ, "several processes cannot update one page"
        (tmp_path / "update").mkdir()
        (tmp_path / "check").mkdir()
        case = runner.renew(case, tmp_path / "update")
        holds(checks.diff(case, tmp_path / "check"))
    else:
        holds(checks.diff(case, tmp_path))


SILENCED = [
    pytest.param(case, expected, comment, id=f"{name(case)}-{expected.path}-{expected.row}-{comment}")
    for case in CASES
    for expected, comment in checks.silencings(case)
]


@pytest.mark.parametrize(("case", "expected", "comment"), SILENCED)
def test_a_comment_on_the_line_silences(case: pages.Case, expected: Expectation, comment: str, tmp_path: Path) -> None:
    holds(checks.silenced(case, expected, comment, tmp_path))


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
    assert [line.split(": ")[1] for line in checks.compare(case, found)] == wrong
