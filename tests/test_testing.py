"""`dllint test`: it notices what a page says and is not so, and writes diffs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dllint.cli import cli
from tests.fakes import words

__all__ = ["words"]

PAGE = """\
# bad-word (DLL801)

Bad.

## Examples

```py
# Dataset
BAD_A  # DLL801: `BAD_A` is bad
```

```diff
--- example.py
+++ example.py
@@ -1,2 +1,2 @@
 # Dataset
-BAD_A
+good_a
```

## Not reported

```py
# Dataset
fine = 1
```
"""
pytestmark = pytest.mark.usefixtures("words")


def of(folder: Path, *args: str, page: str = PAGE, name: str = "dll801_bad_word.md") -> Result:
    (folder / name).write_text(page)
    return CliRunner().invoke(cli, ["test", *args, str(folder)])


def test_a_page_that_is_right(tmp_path: Path) -> None:
    done = of(tmp_path)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "2 cases on 1 page: all as the pages say.\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("  # DLL801: `BAD_A` is bad", "", "not expected: example.py:2:1-6: DLL801"),
        ("fine = 1", "fine = 1  # DLL801", "not reported:"),
        ("is bad\n", "is good\n", "not reported:"),
        ("+good_a", "+better", "the fix writes another diff:"),
        ("BAD_A  # DLL801: `BAD_A`", "BAD_NONE  # DLL801: `BAD_NONE`", "nothing was fixed"),
        ("BAD_A  # DLL801: `BAD_A`", "BAD_RULE  # DLL801: `BAD_RULE`", "internal error in DLL801"),
        (": `BAD_A` is bad", "", "no example of DLL801 that checks the message"),
        ("fine = 1", "SHY = 1\nBAD_NONE  # DLL801", "no quiet example"),
        ("# Dataset\nfine", "# Dataset\nx = 'BAD_A\nfine", "not expected"),
        ("```py\n# Dataset\nBAD", "```python\n# Dataset\nBAD", "write `py`"),
        ("## Not reported\n", "## Not\n```toml\nselct = []\n```\n", "unknown key `selct`"),
    ],
)
def test_a_page_that_is_wrong(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in PAGE
    done = of(tmp_path, page=PAGE.replace(old, new))
    assert done.exit_code == 1, done.output
    assert told in done.stdout
    assert "failed." in done.stderr


def test_diffs_are_written(tmp_path: Path) -> None:
    stale = PAGE.replace("+good_a", "+better\n+longer").replace("-BAD_A\n", "")
    assert of(tmp_path, "--update", page=stale).exit_code == 0
    assert (tmp_path / "dll801_bad_word.md").read_text() == PAGE


def test_a_page_of_no_known_rule(tmp_path: Path) -> None:
    done = of(tmp_path, name="dll777_other.md", page=PAGE)
    assert done.exit_code == 1
    assert "DLL777 is not a rule of an installed package" in done.stdout
    assert of(tmp_path / "..", "none.md").exit_code == 2


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("none", "no such file, folder or package"),
        (".", "no pages found"),
        ("a..b", "no such file"),
        ("json", "no pages found"),
    ],
)
def test_nothing_to_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["test", word])
    assert done.exit_code == 2
    assert told in done.stderr
