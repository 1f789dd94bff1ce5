"""Parsing: what hurts LibCST is survived, and what has no tree says why."""

from __future__ import annotations

import gc
import time

import libcst as cst
import pytest

from dllint.garbage import uncollected
from dllint.source import Source
from dllint.syntax.guard import MAX_CHAIN, MAX_ELIFS, guard, lenient_guard
from dllint.syntax.parse import NotParsed, parse
from dllint.syntax.walk import walk


def refused(text: str) -> NotParsed:
    with pytest.raises(NotParsed) as caught:
        parse(Source("a.py", text))
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# only a comment",
        "x = 1",
        "match x:\n    case [1, *rest] if rest:\n        pass\n    case {'a': a, **more} | A(b=1):\n        pass\n",
        "def f[T: int, *Ts, **P](x: T) -> T: ...\ntype Pair[A] = tuple[A, A]\nclass C[T]: pass\n",
        "while chunk := read(): print(f'{chunk!r:>{width}} {chunk=} {f\"{1}\"}')\n",
        'x = f"{d["a"]}"\n',
        "try:\n    pass\nexcept* (A, B) as group:\n    pass\n",
        "with (open(a) as b, open(c) as d):\n    pass\n",
        "async def f():\n    return [y async for y in z if await y]\n",
        "a = 1\r\nif a:\r\n\tb = '''x\r\ny'''\r\n",
        "def f(a, /, b, *, c): print(*a, **b)\n",
    ],
)
def test_parses_and_prints_back(text: str) -> None:
    tree = parse(Source("a.py", text))
    assert tree.faithful
    assert tree.module.code == text


@pytest.mark.parametrize(
    "text",
    ["a = 1\rb = 2\r", "\fimport a\n", "if a:\n    b\n\fclass C:\n\f    c = 1\n", "if a:\n    b\n\\\nc\n"],
    ids=["lone CR", "form feed first", "form feed in front of code", "continued blank line"],
)
def test_positions_stay_right_where_libcst_does_not_print_the_file_back(text: str) -> None:
    tree = parse(Source("a.py", text))
    found = tree.spans(frozenset({cst.Name}))
    assert not tree.faithful
    assert found
    assert [text[start:end] for start, end in found.values()] == [node.value for node in found]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "x = 'é'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
    ],
    ids=["BOM", "cookie"],
)
def test_encodings(data: bytes, text: str) -> None:
    source = Source.from_bytes("a.py", data)
    tree = parse(source)
    assert tree.faithful
    assert tree.module.code == text
    assert source.rewritten([tree.module.code]).encode() == data


CHAINS = {
    "calls": "x = a" + ".f()" * 6_000 + "\n",
    "calls over lines": "x = (\n    a\n" + "    .f('return')\n" * 6_000 + ")\n",
    "subscripts": "x = a" + "[0]" * 6_000 + "\n",
    "sum": "x = " + " + ".join(["a"] * 12_000) + "\n",
    "backslashes": "x = " + " \\\n    + ".join(["a"] * 12_000) + "\n",
    "conjunction": "x = " + " and ".join(["a"] * 12_000) + "\n",
    "conditions": "x = " + "a if b else " * 12_000 + "a\n",
    "lambdas": "x = " + "lambda: " * 12_000 + "a\n",
    "signs": "x = " + "-" * 12_000 + "a\n",
    "strings": "x = " + "f'{a}' " * 12_000 + "\n",
    "comprehension": "x = [a " + "for a in b " * 12_000 + "]\n",
    "elifs": "if a:\n    pass\n" + "elif a:\n    pass\n" * 12_000,
    "returning elifs": "def f():\n    if a:\n        return 1\n" + "    elif a:\n        return 2\n" * 12_000,
    "parentheses": "x = " + "(" * 2_000 + "a" + ")" * 2_000 + "\n",
    "nested calls": "x = " + "f(" * 2_000 + "a" + ")" * 2_000 + "\n",
    "many chains": ("x = a" + ".f()" * 900 + "\n") * 100,
}


@pytest.mark.parametrize("text", CHAINS.values(), ids=CHAINS)
def test_too_deep_is_refused_before_the_parser_dies(text: str) -> None:
    started = time.process_time()
    error = refused(text)
    assert error.kind == "limits"
    assert "\n" not in error.message
    assert error.row >= 1
    assert error.column >= 1
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        "x = a" + ".f()" * 300 + "\n",
        "x = " + " + ".join(["a"] * 1_500) + "\n",
        "x = " + "[" * 150 + "]" * 150 + "\n",
        "x = " + "lambda: " * 500 + "a\n",
        "if a:\n    pass\n" + "elif a:\n    pass\n" * (MAX_ELIFS - 1),
        "x = [\n" + "    f(a, b='c').d + [1][0],\n" * 3_000 + "]\n",
        "x = f(\n" + "    a.b,\n" * 3_000 + ")\n",
        "X = '''\n" + "((((((((((....++++++++ \n" * 1_000 + "'''\n",
        "# (((((((((((((((( [[[[[[[[[[[[[[[\n" * 100 + "x = 1\n",
        "d = {}\n" + "d['a'] = d.get('a', (0, 1))[0] + 1\n" * 3_000,
    ],
)
def test_long_but_flat_or_deep_but_short_is_parsed_with_its_spans(text: str) -> None:
    tree = parse(Source("a.py", text))
    found = tree.spans(frozenset({cst.Name, cst.Call}))
    assert tree.faithful
    assert all(text[start:end] == node.value for node, (start, end) in found.items() if isinstance(node, cst.Name))
    assert sum(1 for _ in walk(tree.module)) > 0


def test_a_chain_at_the_limit_is_parsed() -> None:
    terms = " + ".join(["a"] * (MAX_CHAIN - 1))
    assert guard(f"x = {terms}\n") == f"x = {terms}\n"


ROWS = range(60_000)
TABLES = {
    "list": "X = [\n" + "".join(f"    ({row}, 'name{row}', -1.5),\n" for row in ROWS) + "]\n",
    "dict": "X = {\n" + "".join(f"    'key{row}': [{row}, 0x{row:x}],\n" for row in ROWS) + "}\n",
    "argument": "f(a, [\n" + "".join(f"    {row}.25, None, 'é{row}',\n" for row in ROWS) + "])\n",
    "rows": "X = (\n" + ("    [" + "12345, " * 1_000 + "],\n") * 180 + ")\n",
    "strings": "X = (\n" + "    'a line of text'\n" * ROWS.stop + ")\n",
    "in a function": "def f():\n    return {\n" + "".join(f"        {row}: 'text',\n" for row in ROWS) + "    }\n",
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_large_tables_are_shortened_and_offsets_stay_right(table: str) -> None:
    text = f"import a\n{table}\nlast = 1\n"
    assert len(text) > 1_000_000
    tree = parse(Source("a.py", text))
    found = tree.spans(frozenset({cst.Name, cst.SimpleString, cst.Integer}))
    assert tree.faithful
    assert len(tree.text) == len(text)
    assert len(found) < 40_000
    assert all(text[start:end] == node.value for node, (start, end) in found.items())  # type: ignore[attr-defined]
    assert any(getattr(node, "value", "") == "last" for node in found)
    compile(tree.text, "a.py", "exec")


def test_shortened_literals_keep_their_kind_and_first_elements() -> None:
    text = "X = (\n" + "".join(f"    'p{row}.jpg',\n" for row in range(5_000)) + ")\n"
    scope: dict[str, tuple[str, ...]] = {}
    exec(parse(Source("a.py", text)).text, scope)
    assert scope["X"][:3] == ("p0.jpg", "p1.jpg", "p2.jpg")
    assert 50 < len(scope["X"]) < 5_000


def test_too_large_is_refused() -> None:
    error = refused("def f(a):\n    return g(a)\n" * 80_000)
    assert error.kind == "limits"
    assert "too large" in error.message


@pytest.mark.parametrize(
    ("text", "row", "column", "part"),
    [
        ("x = 1\ny = (\n", 2, 5, "never closed"),
        ("def f(:\n    pass\n", 1, 7, "invalid syntax"),
        ("x = 1\n  y = 2\n", 2, None, "indent"),
        ("print 'hello'\n", 1, 1, "`print x` is Python 2, Python 3 has `print(x)`"),
        ("try:\n    a\nexcept A, e:\n    print e\n", 3, None, " is Python 2, Python 3 has "),
        ("raise ValueError, 'x'\n", 1, None, "`raise X, text` is Python 2, Python 3 has `raise X(text)`"),
        ("if x: raise ValueError, 'x'\n", 1, None, "`raise X, text` is Python 2"),
        ("if a <> b:\n    exec 'x'\n", 1, None, "Python 2?"),
        ("x = 0777\n", 1, None, "Python 2?"),
        ("f(ur'a')\n", 1, None, "Python 2?"),
        ("print(`x`)\n", 1, None, "Python 2?"),
        ("if x:\n        y = 1\n\tz = 2\n", 3, None, "tabs and spaces are mixed: in Python 2 a tab is 8 blanks"),
        ("if x:\n    y = 1\n\tz = 2\n", 3, None, "inconsistent use of tabs and spaces"),
        ("y = x.cuda(async=True)\n", 1, 12, "`async` is a keyword since Python 3.7, and no name; torch calls it "),
        ("def f(x, await = 1):\n    pass\n", 1, None, "`await` is a keyword since Python 3.7, and no name"),
        ("x.async()\n", 1, None, "`async` is a keyword since Python 3.7, and no name"),
        ("async def f(:\n    pass\n", 1, None, "invalid syntax"),
        ("x = '''\n", 1, None, "unterminated"),
        ("a\0b\n", 1, 1, "null byte"),
    ],
)
def test_syntax_errors_say_where_and_what(text: str, row: int, column: int | None, part: str) -> None:
    error = refused(text)
    assert error.kind == "syntax"
    assert part in error.message
    assert "\n" not in error.message
    assert error.python == ("2" if "Python 2" in part else "3.6" if "Python 3.7" in part else "")
    if "except" not in text:
        assert error.row == row
    assert column in (None, error.column)


def test_a_file_is_of_python_2_only_where_the_error_is() -> None:
    assert "Python 2" not in refused("'Read `size` <> 0.'\nsize = ???\n").message
    assert "Python 2" not in refused("with open('`a`') as f: size = ???\n").message
    assert "Python 2" not in refused("rates = {\n    'low': 0.02\n    'high': 256,\n}\n").message


def test_what_only_libcst_rejects_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(text: str) -> cst.Module:
        raise cst.ParserSyntaxError("not known here", lines=text.splitlines(True), raw_line=2, raw_column=3)

    monkeypatch.setattr(cst, "parse_module", reject)
    error = refused("a = 1\nb = 2\n")
    assert error.message == "Python accepts this file, but LibCST does not: not known here"
    assert (error.row, error.column, error.kind) == (2, 4, "syntax")


@pytest.mark.parametrize("problem", [RuntimeError("a\nb"), AssertionError(), BaseException("panic")])
def test_no_other_exception_gets_out(problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> cst.Module:
        raise problem

    monkeypatch.setattr(cst, "parse_module", fail)
    assert refused("x = 1\n").kind == "syntax"


@pytest.mark.parametrize("problem", [MemoryError(), RecursionError()])
def test_want_of_room_is_a_limit(problem: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> cst.Module:
        raise problem

    monkeypatch.setattr(cst, "parse_module", fail)
    assert refused("x = 1\n").kind == "limits"


def test_the_collector_is_as_before_afterwards() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_parsing_warns_about_nothing(recwarn: pytest.WarningsRecorder) -> None:
    refused("x = '\\d'\n(\n")
    assert not recwarn.list


@pytest.mark.parametrize(
    ("text", "looked_at"),
    [
        ("x = 1\n" * 10_000, True),
        ("def f():\n    return 1\n" * 10_000, False),
        ("def f():\n    return 1\n" * 100_000, True),
        ("x = " + " + ".join(["a"] * 5_000) + "\n", False),
    ],
    ids=["no border", "borders", "very large", "short"],
)
def test_what_python_might_die_of_is_looked_at(monkeypatch: pytest.MonkeyPatch, text: str, looked_at: bool) -> None:
    seen: list[str] = []
    monkeypatch.setattr("dllint.syntax.guard.guard", lambda text, most: seen.append(text) or text)
    assert lenient_guard(text) == text
    assert bool(seen) == looked_at
