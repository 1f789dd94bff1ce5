"""Every case of every page is linted, fixed and silenced; what the page says must be exactly what happens.

`DLLINT_UPDATE=1 pytest tests/test_pages.py` writes the diffs of the pages anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dllint.testing import checks, pages, runner
from dllint.testing.cases import Reported
from tests.lint import all_pages, name

CASES = [case for page in all_pages() for case in page.cases]
UPDATE = bool(os.environ.get("DLLINT_UPDATE"))


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_case(case: pages.Case, tmp_path: Path) -> None:
    if UPDATE:
        assert "PYTEST_XDIST_WORKER" not in os.environ, "several processes cannot update one page"
        case = runner.renew(case, tmp_path)
    wrong = list(checks.problems(case))
    assert not wrong, "\n".join(["", *wrong])


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
