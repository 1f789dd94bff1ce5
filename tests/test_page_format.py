"""The page format itself: what `dllint.testing` reads, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.testing import pages
from dllint.testing.expectations import METHODS, Clause, PageError

PAGE = """# lambda-somewhere (DLL101)

One paragraph.

## Why

```text
prose, not a case
```

## Examples

`data.py`

```py
class Words:
    def __init__(self):
        self.counts = {"a": lambda: 0}  # DLL101: cannot be pickled  # DLL102
        #             ^^^^^^^^^^^^^^^^         ^
```

train.py

```py run=spawn,forkserver raises=AttributeError says="local object" run=fork ok prints=done fixed=fork
import data
for batch in loader:  # DLL301 (stays): guard
#^^^^^^^^^^^^^^^^^^^
    pass  # route: starts here
```

```diff
-a
+b
```

```toml
start-method = "spawn"
```

### Quiet ones

```py
a = 1
```

```py
a = 2
```

```py prose
a = 3
```
"""


@pytest.fixture
def page(tmp_path: Path) -> pages.Page:
    path = tmp_path / "dll101_lambda_somewhere.md"
    path.write_text(PAGE, encoding="utf-8")
    return pages.read(path)


def read(tmp_path: Path, text: str) -> pages.Page:
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return pages.read(path)


def test_title_sections_and_cases(page: pages.Page) -> None:
    assert page.title == "lambda-somewhere (DLL101)"
    assert [(section.level, section.title) for section in page.sections[1:]] == [
        (1, "lambda-somewhere (DLL101)"),
        (2, "Why"),
        (2, "Examples"),
        (3, "Quiet ones"),
    ]
    assert [case.name for case in page.cases] == ["Examples", "Quiet ones", "Quiet ones 2"]
    assert [case.files for case in page.cases[1:]] == [{"example.py": "a = 1\n"}, {"example.py": "a = 2\n"}]
    assert page.cases[1].config == ""


def test_expectations_are_read_and_stripped(page: pages.Page) -> None:
    case = page.cases[0]
    assert case.files == {
        "data.py": 'class Words:\n    def __init__(self):\n        self.counts = {"a": lambda: 0}\n',
        "train.py": "import data\nfor batch in loader:\n    pass\n",
    }
    found = [(e.path, e.row, e.code, e.text, e.stays, e.columns) for e in case.expectations]
    assert found == [
        ("data.py", 3, "DLL101", "cannot be pickled", False, (23, 39)),
        ("data.py", 3, "DLL102", "", False, (48, 49)),
        ("train.py", 2, "DLL301", "guard", True, (1, 21)),
    ]
    assert PAGE.splitlines()[case.expectations[2].line - 1].startswith("for batch in loader")
    assert [(step.path, step.row, step.text) for step in case.route] == [("train.py", 3, "starts here")]
    assert case.config == 'start-method = "spawn"\n'


def test_run_clauses(page: pages.Page) -> None:
    case = page.cases[0]
    assert case.main == "train.py"
    assert case.clauses == (
        Clause(("spawn", "forkserver"), "raises", ("AttributeError",), says="local object"),
        Clause(("fork",), "ok", prints="done"),
    )
    assert case.fixed_methods == ("fork",)
    assert page.cases[1].fixed_methods == METHODS


def test_write_diff_replaces_only_the_block(page: pages.Page) -> None:
    block = page.cases[0].diff
    assert block is not None
    assert block.text == "-a\n+b\n"
    pages.write_diff(page.path, block, "-one\n+two\n+three\n")
    assert page.path.read_text(encoding="utf-8") == PAGE.replace("-a\n+b\n", "-one\n+two\n+three\n")


def test_a_named_path_repeated_begins_a_new_case(tmp_path: Path) -> None:
    page = read(
        tmp_path,
        "# t\n\n`a.py`\n```py\nx = 1\n```\n`b.py`\n```py\ny = 1\n```\n`a.py`\n```py\nx = 2\n```\n```py\nz = 1\n```\n",
    )
    assert [case.files for case in page.cases] == [
        {"a.py": "x = 1\n", "b.py": "y = 1\n"},
        {"a.py": "x = 2\n", "example.py": "z = 1\n"},
    ]


def test_named_blocks_of_any_language_are_files(tmp_path: Path) -> None:
    page = read(tmp_path, "# t\n\n`pyproject.toml`\n\n```toml\n[project]\n```\n\n`data/names.txt`\n\n```text\na\n```\n")
    assert page.cases[0].files == {"pyproject.toml": "[project]\n", "data/names.txt": "a\n"}
    assert page.cases[0].config == ""


def test_fences_may_be_longer_to_hold_fences(tmp_path: Path) -> None:
    page = read(tmp_path, "# t\n````py\na = '''\n```\n'''\n````\n")
    assert page.cases[0].files == {"example.py": "a = '''\n```\n'''\n"}


def test_ignore_comments_stay(tmp_path: Path) -> None:
    page = read(tmp_path, "# t\n```py\na = 1  # noqa: DLL101\nb = 1  # dllint: ignore[DLL101]  # DLL901\n```\n")
    assert page.cases[0].files == {"example.py": "a = 1  # noqa: DLL101\nb = 1  # dllint: ignore[DLL101]\n"}
    assert [(e.row, e.code) for e in page.cases[0].expectations] == [(2, "DLL901")]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("```py\na = 1\n", "never closed"),
        ("```python\na = 1\n```\n", "not `python`"),
        ("```diff\n```\n", "follows no case"),
        ("```toml\n```\n```toml\n```\n", "second configuration"),
        ("```py\na = 1  # DLL101 is here\n```\n", "cannot read the expectation"),
        ("```py\n# DLL101\n```\n", "without code"),
        ("```py\na = 1  # DLL101\n# ^ ^\n```\n", "2 ranges for 1 findings"),
        ("```py runs=fork ok\n```\n", "unknown attribute"),
        ("```py run=threads ok\n```\n", "is not a start method"),
        ("```py run=fork\n```\n", "no outcome"),
        ("```py run=fork ok hangs\n```\n", "cannot read the attribute `hangs`"),
        ("```py run=fork ok run=fork hangs\n```\n", "named twice"),
        ("```py run=fork says='x\n```\n", "No closing quotation"),
    ],
)
def test_mistakes_are_refused_with_their_line(tmp_path: Path, block: str, message: str) -> None:
    with pytest.raises(PageError, match=message) as error:
        read(tmp_path, "# t\n" + block)
    assert f"{tmp_path / 'page.md'}:" in str(error.value)
