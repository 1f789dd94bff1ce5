"""Wording and line length: pages, messages and help texts keep clear of what reviews rejected; the checker sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import reflow, wording
from docs.site import ROOT

LONG = "word " * 40


def test_pages_and_messages_have_no_rejected_wording() -> None:
    assert [str(wrong) for wrong in wording.everything()] == []


@pytest.mark.parametrize("page", reflow.pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose_has_lines_of_120_columns_at_most(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert reflow.wrapped(text) == text, "python -m docs.reflow wraps it"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Which rules may fix, says the configuration.", ", says the"),
        ("Findings hang on nothing.", "hang on nothing"),
        ("It waits for ever.", "for ever"),
        ("A tensor is no list.", "is no list"),
        ("There is no list, and it is no longer there.", ""),
        ("It fails, for it spawns.", ", for it"),
        ("Code for it, and for the others.", ""),
        ("It stands under the guard.", "stands under"),
        ("The behaviour of two analyses.", "behaviour"),
        ("`whoever` reads [anew](mended.md)", "anew"),
        ("This is not uncommon.", "not uncommon"),
    ],
)
def test_the_checker_sees_what_is_rejected(text: str, words: str) -> None:
    page = f"# Page\n\n```py\n# nobody mends this\n```\n\n{text}\n"
    assert [wrong.words for wrong in wording.in_page("page.md", page)] == ([words] if words else [])
    assert all(wrong.place == "page.md:7" for wrong in wording.in_page("page.md", page))


def test_messages_are_strings_that_are_no_docstrings() -> None:
    source = '"""Whoever reads this."""\nMESSAGE = "whoever reads this"\n\n\ndef f():\n    """Nobody."""\n'
    source += '    return "nobody knows"\n'
    assert [wrong.place for wrong in wording.in_messages("a.py", source)] == ["a.py:2", "a.py:7"]


@pytest.mark.parametrize(
    "kept",
    [
        f"# {LONG}\n",
        f"| {LONG}|\n",
        f"```text\n{LONG}\n```\n",
        f"  ```text\n  {LONG}\n  ```\n",
        f"<!--\n{LONG}\n-->\n",
        f"![{LONG}](picture.png)\n",
        "Short lines\nstay as\nthey are.\n",
        f"`{'x' * 130}`\n",
    ],
)
def test_what_is_not_wrapped(kept: str) -> None:
    assert reflow.wrapped(kept) == kept


def test_prose_is_wrapped() -> None:
    text = f"{LONG}- and `a code span` stays.\n\n* {LONG}`dllint check --fix`\n  {LONG}\n* Short.\n"
    new = reflow.wrapped(text)
    assert new.split() == text.split()
    assert all(len(line) <= reflow.WIDTH for line in new.splitlines())
    assert reflow.wrapped(new) == new
    assert [line[:2] for line in new.splitlines()].count("* ") == 2
    assert "`a code span`" in new
    assert "`dllint check --fix`" in new
