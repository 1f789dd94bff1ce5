"""An expression in place of another, with the lines around it as formatters have them."""

from __future__ import annotations

import pytest

from dllint.fix import apply
from dllint.source import Source, Span
from dllint.syntax.fitted import fitted

SHORT, LONG = "_first", "operator.itemgetter(0)"


def laid_out(code: str, text: str, width: int) -> str:
    """The code with a text in place of its lambda, which goes to the second `§` where there is one."""
    start = code.index("lambda")
    end = code.index("§") if "§" in code else start + len("lambda x: x[0]")
    source = Source("a.py", code.replace("§", ""), "utf-8", False)
    source.width = width
    return apply(source.text, fitted(source, Span(start, end), text))


@pytest.mark.parametrize(
    ("code", "text", "width", "after"),
    [
        ("a = Loader(data, fn=lambda x: x[0])\n", LONG, 60, "a = Loader(data, fn=operator.itemgetter(0))\n"),
        ("a = Loader(data, fn=lambda x: x[0])\n", LONG, 40, "a = Loader(\n    data, fn=operator.itemgetter(0)\n)\n"),
        (
            "a = Loader(data, fn=lambda x: x[0])\n",
            LONG,
            32,
            "a = Loader(\n    data,\n    fn=operator.itemgetter(0),\n)\n",
        ),
        (
            "a = Loader(\n    data, 1, fn=lambda x: x[0]\n)\n",
            LONG,
            32,
            "a = Loader(\n    data,\n    1,\n    fn=operator.itemgetter(0),\n)\n",
        ),
        (
            "a = f(\n    1,\n    map(lambda x: x[0]),\n)\n",
            LONG,
            30,
            "a = f(\n    1,\n    map(\n        operator.itemgetter(0)\n    ),\n)\n",
        ),
        ("a = f(1, map(lambda x: x[0]))  # why\n", LONG, 35, "a = f(1, map(operator.itemgetter(0)))  # why\n"),
        ("a = b + f(lambda x: x[0])\n", LONG, 28, "a = b + f(operator.itemgetter(0))\n"),
        ("a = f(\n    lambda x: x[0]\n)\n", SHORT, 18, "a = f(_first)\n"),
        ("a = f(\n    lambda x: x[0]\n)\n", SHORT, 40, "a = f(\n    _first\n)\n"),
        ("a = f(\n    lambda x: x[0],\n)\n", SHORT, 18, "a = f(\n    _first,\n)\n"),
        ("a = (\n    lambda x: x[0]\n)\n", SHORT, 16, "a = _first\n"),
        ("a = f(  # why\n    lambda x: x[0]\n)\n", SHORT, 18, "a = f(  # why\n    _first\n)\n"),
        ("a = f(\n    [\n        lambda x: x[0]\n    ]\n)\n", SHORT, 19, "a = f([_first])\n"),
        ("a = f(\n    lambda x: (\n        x[0]\n    )§\n)\n", SHORT, 20, "a = f(_first)\n"),
        ("def f(a=(lambda x: x[0]), b=1): pass\n", SHORT, 60, "def f(a=_first, b=1): pass\n"),
        ("a = f((lambda x: x[0]))\n", SHORT, 60, "a = f(_first)\n"),
        ("a = (lambda x: x[0])(b)\n", SHORT, 60, "a = _first(b)\n"),
        ("a = f(lambda x: x[0])\n", SHORT, 60, "a = f(_first)\n"),
        ("a = f(b,\n      lambda x: x[0])\n", SHORT, 18, "a = f(b,\n      _first)\n"),
        ("a = {\n    'b':\n    lambda x: x[0],\n}\n", SHORT, 0, "a = {\n    'b': _first,\n}\n"),
        ("a = {\n    'b':\n    lambda x: x[0],\n}\n", SHORT, 16, "a = {\n    'b': _first,\n}\n"),
        ("a = {\n    'b':\n    lambda x: x[0],\n}\n", SHORT, 15, "a = {\n    'b':\n    _first,\n}\n"),
        ("a = {\n    'b':\n        lambda x:\n        x[0]§}\n", LONG, 0, "a = {\n    'b': operator.itemgetter(0)}\n"),
        ("a = f(b=\n      lambda x: x[0])\n", SHORT, 0, "a = f(b=_first)\n"),
        ("a = {'b':  # why\n     lambda x: x[0]}\n", SHORT, 0, "a = {'b':  # why\n     _first}\n"),
        ("if a:\n    lambda x: x[0]\n", SHORT, 0, "if a:\n    _first\n"),
        ("a = [\n    lambda x: x[0],\n]\n", SHORT, 0, "a = [\n    _first,\n]\n"),
    ],
)
def test_lines_are_those_of_a_formatter(code: str, text: str, width: int, after: str) -> None:
    assert laid_out(code, text, width) == after


def test_lines_stay_where_the_project_says_nothing() -> None:
    assert laid_out("a = f(\n    lambda x: x[0]\n)\n", SHORT, 0) == "a = f(\n    _first\n)\n"


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("  # noqa: E731", ""),
        ("  # pylint: disable=unnecessary-lambda-assignment", ""),
        ("  # noqa: E731, E501", "  # noqa: E731, E501"),
        ("  # noqa", "  # noqa"),
        ("  # noqa: E731  # why", "  # noqa: E731  # why"),
    ],
)
def test_a_comment_goes_that_silences_nothing_now(comment: str, left: str) -> None:
    for width in (0, 88):
        assert laid_out(f"a = lambda x: x[0]{comment}\n", SHORT, width) == f"a = _first{left}\n"
