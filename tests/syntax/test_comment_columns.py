"""Comments behind code that a fix changes: in one column with their neighbours, else two blanks behind the code."""

from __future__ import annotations

import pytest

from dllint.fix import Edit, apply
from dllint.source import Source, Span
from dllint.syntax.comment_columns import in_columns


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    source = Source("a.py", text)
    edits = [Edit("a.py", Span(text.index(old), text.index(old) + len(old)), new) for old, new in pairs]
    return apply(text, [*edits, *in_columns(source, edits)])


def test_a_column_stays_one() -> None:
    text = "f(long(1)),   # one\ng(2),         # two\n\nh(3),  # three\n"
    assert replaced(text, ("long", "s")) == "f(s(1)),      # one\ng(2),         # two\n\nh(3),  # three\n"
    assert replaced(text, ("long", "longer")) == "f(longer(1)),  # one\ng(2),         # two\n\nh(3),  # three\n"
    both = replaced(text, ("long", "s"), ("g(2)", "more(2)"))
    assert both == "f(s(1)),      # one\nmore(2),      # two\n\nh(3),  # three\n"


def test_a_full_column_may_have_one_blank() -> None:
    assert replaced("f(long), # one\ng(2),    # two\n", ("2", "22")) == "f(long), # one\ng(22),   # two\n"
    assert replaced("f(long), # one\ng(2),    # two\n", ("2", "2222")) == "f(long), # one\ng(2222),  # two\n"
    assert replaced("f(long), # one\ng(2),    # two\n", ("long", "l")) == "f(l),    # one\ng(2),    # two\n"


@pytest.mark.parametrize("gap", [" ", "  ", "      "])
def test_a_comment_of_its_own_is_near_the_code(gap: str) -> None:
    text = f"f(long){gap}# one\n\n\ng(2){gap}   # two\n"
    assert replaced(text, ("long", "l")) == f"f(l){gap[:2]}# one\n\n\ng(2){gap}   # two\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if x:\n    ", "if x:\n        "),
        ("# one", "# first"),
        ("  # one", ""),
        ("g(2)", "g(22)  # noqa"),
    ],
)
def test_what_does_not_change_the_code_moves_no_comment(old: str, new: str) -> None:
    text = "if x:\n    f(1),    # one\n    g(2),    # two\n"
    assert replaced(text, (old, new)) == text.replace(old, new)


def test_strings_are_no_comments() -> None:
    text = "f(long, '#')    # one\ng = '''\n a(long1)    # two\n'''\n"
    assert replaced(text, ("long1", "l")) == text.replace("long1", "l")
    assert replaced(text, ("long,", "l,")) == text.replace("long,", "l,").replace("    # one", "  # one")


def test_several_lines_that_become_one() -> None:
    text = "f(\n    a,\n    b,\n)    # one\nk(2) # two\n"
    assert replaced(text, ("(\n    a,\n    b,\n)", "(c)")) == "f(c)  # one\nk(2) # two\n"
