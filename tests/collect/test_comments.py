"""Comments are told from strings without a tokenizer, and as a tokenizer tells them."""

from __future__ import annotations

import tokenize

import pytest

from dllint.collect import comments
from dllint.collect.comments import scan
from dllint.source import Source

TEXTS = [
    "x = 1  # noqa\n",
    "x = '# noqa'  # NOQA: E501\n",
    'x = """\n# noqa\n"""  # noqa\n',
    'x = """a\\"""# noqa" ""\n# noqa\n"""\ny = 1  # noqa\n',
    "x = 'it\\'s # noqa'\ny = \"\\\\\"  # noqa\n",
    "x = ''  # noqa\ny = ''''# noqa'''  # noqa\n",
    "x = 'a\\\n# noqa'  # noqa\n",
    "x = r'\\'# noqa'  # noqa\n",
    "x = 1  # it's\ny = '# noqa'  # noqa's\n",
    "# flake8: noqa\nx = 1\r# noqa\r\ny = 2  # noqa\n",
    "f(\n    1,  # noqa\n    # noqa: F401\n)\n",
    "x = f'{a}# noqa{{' f\"{b['c']}\"  # noqa\n",
    "# dllint: noqa: DLL101\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_without_a_tokenizer_and_with_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("a.py", text)
    with monkeypatch.context() as patch:
        patch.setattr(tokenize, "generate_tokens", None)
        patch.setattr(comments, "_NESTING_FSTRINGS", False)  # else strings with braces are left to the tokenizer
        found = scan(source)
    monkeypatch.setattr(comments, "_outside_strings", lambda source: None)
    assert found and found == scan(source)


def test_an_own_comment_above_a_statement_is_tokenized() -> None:
    assert [entry.row for entry in scan(Source("a.py", "# dllint: ignore\nf(\n)\n"))] == [2, 3]


@pytest.mark.parametrize("text", ["x = 'open  # noqa\n", 'x = """open\n# noqa\n'])
def test_where_a_string_does_not_end_the_tokenizer_is_asked(text: str) -> None:
    assert comments._outside_strings(Source("a.py", text)) is None


@pytest.mark.parametrize(
    "text", ["f'{x['# noqa']}'  # noqa\n", "f'''{x  # noqa\n}'''\n", "f'{x!r:{y['a']}}' '# noqa'  # noqa\n"]
)
def test_a_string_that_may_hold_strings_is_left_to_the_tokenizer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "_NESTING_FSTRINGS", True)
    assert comments._outside_strings(Source("a.py", text)) is None


def test_lines_start_where_the_tokenizer_has_them() -> None:
    assert Source("a.py", "").line_starts == [0]
    assert Source("a.py", "a").line_starts == [0]
    assert Source("a.py", "a\n").line_starts == [0, 2]
    assert Source("a.py", "a\r\nb\rc\n\r\x0bd\x0c\x1c\u2028e\x85").line_starts == [0, 3, 5, 7, 8]
