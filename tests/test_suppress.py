"""Which comments silence what: the scanner of comments."""

from __future__ import annotations

from dllint.collect.comments import scan
from dllint.source import Source


def scanned(text: str) -> list[tuple[int, tuple[str, ...], bool]]:
    return [(entry.row, entry.codes, entry.own) for entry in scan(Source("a.py", text))]


def test_noqa_on_a_line() -> None:
    assert scanned("x = 1  # noqa\n") == [(1, (), False)]
    assert scanned("x = 1\ny = 2  #NoQA:DLL101,DLL2 why\n") == [(2, ("DLL101", "DLL2"), False)]
    assert scanned("x = 1  # type: ignore # noqa : dll101 E501\n") == [(1, ("dll101", "E501"), False)]


def test_words_that_only_look_like_noqa() -> None:
    assert scanned("x = 1  # noqable\n") == []
    assert scanned("x = '# noqa'\ny = '''\n# dllint: ignore[DLL101]\n'''\n") == []
    assert scanned("x = 1  # flake8: noqa\n") == [], "flake8 itself wants it on its own line"


def test_whole_file() -> None:
    assert scanned("# flake8: noqa\nx = 1\n") == [(0, (), False)]
    assert scanned('"""Doc."""\n# dllint: noqa: DLL101, DLL3\n') == [(0, ("DLL101", "DLL3"), False)]
    assert scanned("x = 1  # dllint: noqa: DLL101\n") == [(1, ("DLL101",), False)]


def test_own_comment_on_the_line() -> None:
    assert scanned("x = 1  # dllint: ignore[DLL101, lambda-on-dataset]\n") == [
        (1, ("DLL101", "lambda-on-dataset"), True)
    ]
    assert scanned("x = 1  # dllint: ignore\n") == [(1, (), True)]


def test_own_comment_above_covers_the_statement_below() -> None:
    text = "# dllint: ignore[DLL103]\n\nloader = DataLoader(\n    ds,\n    collate_fn=lambda x: x,\n)\ny = 1\n"
    assert [row for row, _, _ in scanned(text)] == [2, 3, 4, 5, 6]


def test_own_comment_above_a_decorated_function_covers_its_def() -> None:
    text = "# dllint: ignore[DLL104]\n@wraps(\n    f\n)\ndef g():\n    return 1\n"
    assert [row for row, _, _ in scanned(text)] == [2, 3, 4, 5]


def test_own_comment_in_brackets_covers_the_next_row() -> None:
    text = "f(\n    a,\n    # dllint: ignore[DLL103]\n    # really\n    b,\n    c,\n)\n"
    assert [row for row, _, _ in scanned(text)] == [5]


def test_own_comment_at_the_end_of_a_file_silences_nothing_else() -> None:
    assert scanned("x = 1\n# dllint: ignore[DLL101]\n") == [(2, ("DLL101",), True)]


def test_rows_survive_odd_newlines() -> None:
    assert scanned("a = 1\rb = 2  # noqa\r\nc = 3\n\fd = 4  # noqa\n") == [(2, (), False), (4, (), False)]


def test_spans_are_the_comment() -> None:
    text = "x = 1  # because # noqa: DLL101\n"
    (entry,) = scan(Source("a.py", text))
    assert text[entry.span.start : entry.span.end] == "# noqa: DLL101"


def test_a_file_the_tokenizer_rejects_still_has_its_comments() -> None:
    text = "x = '# noqa'\ny = 1  # noqa: DLL101\n# dllint: ignore[DLL2]\nz = (\n"
    assert scanned(text) == [(2, ("DLL101",), False), (4, ("DLL2",), True)]
