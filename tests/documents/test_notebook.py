"""Notebooks as sources: what is read, where it is, and that a rewritten one is the same but for what was rewritten."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dllint.documents import read
from dllint.documents.notebook import Notebook, compose
from dllint.fix import Edit, edited, fits
from dllint.source import Source, Span, Unreadable
from tests.notebooks import notebook


def sources(raw: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


def replace(source: Source, old: str, new: str) -> Source:
    at = source.text.index(old)
    return edited(source, [Edit("n.ipynb", Span(at, at + len(old)), new)])


def test_cells_become_one_module() -> None:
    source = read("n.ipynb", notebook("x = 1", "# text\nx", "%%bash\nls", "%cd x\ny = 2;\n").encode())
    assert source.text == "x = 1\n\n0#d x\ny = 2;\n\n"
    assert [(part.cell, part.start, part.source.text) for part in source.parts] == [
        (1, 0, "x = 1\n"),
        (4, 7, "%cd x\ny = 2;\n\n"),
    ]
    assert source.place(source.text.index("x")) == "cell 1:1:1"
    assert source.place(source.text.index("y")) == "cell 4:2:1"
    assert source.part(6).cell == 1
    assert list(source.masked) == [Span(7, 12)]


@pytest.mark.parametrize("language", ["R", "julia", "bash"])
def test_other_languages_are_no_python(language: str) -> None:
    source = read("n.ipynb", notebook("x <- 1", language=language).encode())
    assert (source.text, source.part(0).source.text) == ("", "")


def test_a_cell_in_another_language() -> None:
    data = compose(
        [("code", "python", "x = 1"), ("code", "csharp", "int x;"), ("markdown", "", "x"), ("code", "", "y")]
    )
    assert read("n.ipynb", data).text == "x = 1\n\ny\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "Expecting '{' (line 1, column 1)"),
        ('{"cells": [\n', "Expecting '{' (line 2, column 1)"),
        ('{"nbformat": 4,\n "cells": [],}', "Illegal trailing comma (line 2, column 14)"),
        ('{"nbformat": 4, "cells": []}\n}', "Extra data (line 2, column 1)"),
        ('{"nbformat": 4 "cells": []}', "Expecting ',' (line 1, column 16)"),
        ('{"cells": [{"source": "x\n"}]}', "Invalid control character at (line 1, column 25)"),
        ("<<<<<<< HEAD\n{}", "Expecting '{' (line 1, column 1)"),
        ("{1: 2}", "Expecting property name enclosed in double quotes (line 1, column 2)"),
    ],
)
def test_broken_json(data: str, why: str) -> None:
    with pytest.raises(Unreadable) as error:
        read("n.ipynb", data.encode())
    assert str(error.value) == f"the notebook is not valid JSON: {why}"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{}", "not a notebook of format 4: it has no nbformat"),
        (b'{"nbformat": 3, "worksheets": []}', "not a notebook of format 4: it has nbformat 3"),
        (b'{"nbformat": 4, "cells": 3}', "not a notebook of format 4: it has no cells"),
        (b'{"nbformat": 4, "cells": [{"source": 3}]}', "not a notebook of format 4: the source of cell 1 is not text"),
        (b'{"nbformat": 4, "cells": [3]}', "the notebook is not valid JSON: Expecting '{' (line 1, column 27)"),
        (b'\xff{"nbformat": 4}', "the notebook is not valid UTF-8: invalid start byte at offset 0"),
        (b'{"a":' + b"[" * 100_000, "the notebook's JSON is nested too deeply"),
    ],
)
def test_other_files_with_that_name(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as error:
        read("n.ipynb", data)
    assert str(error.value) == why


def test_a_rewritten_cell_leaves_the_rest_as_it_is() -> None:
    before = notebook("é = 'ü'\nx = 1\nz = 3", "# text ä", "y = 2").replace("é", "\\u00e9")
    after = replace(read("n.ipynb", before.encode()), "x = 1", "x = 'ö'\n\nw = 5").encode().decode()
    assert after == before.replace('    "x = 1\\n",\n', '    "x = \'ö\'\\n",\n    "\\n",\n    "w = 5\\n",\n')


@pytest.mark.parametrize(
    ("source", "old", "new", "after"),
    [
        ('"a = 1"', "1", "2\n", '"a = 2\\n"'),
        ('"a = 1\\nb = \\"\\u00fc\\/\\""', "a = 1", "c", '"c\\nb = \\"\\u00fc\\/\\""'),
        ('["a = 1"]', "1\n", "1\nb = 2\n", '["a = 1\\n","b = 2"]'),
        ('[ "a\\n", "b" ]', "a\n", "", '[ "b" ]'),
        ('[\n"a\\n",\n"b"\n]', "b", "b\nc\nd", '[\n"a\\n",\n"b\\n",\n"c\\n",\n"d"\n]'),
        ('["a\\nb\\n", "c"]', "b", "x", '["a\\nx\\n", "c"]'),
        ('["a\\n","b\\n"]', "b\n", "b\n\nc", '["a\\n","b\\n","\\n","c"]'),
        ('["", "a"]', "a", "b", '["", "b"]'),
        ('"\\ud83d\\ude00 = 1; b"', "b", "\N{GRINNING FACE}", '"\\ud83d\\ude00 = 1; \\ud83d\\ude00"'),
        ('["a\\n",\n"b"]', "a\nb\n", "\n", "[]"),
        ("[]", "\n", "a\nb\n", '["a\\n", "b"]'),
        ('""', "\n", "a\nb\n", '"a\\nb"'),
    ],
)
def test_a_source_keeps_its_form(source: str, old: str, new: str, after: str) -> None:
    raw = '{"cells": [{"cell_type":"code","source":%s, "x": 1.0}],\t"nbformat": 4}'
    assert replace(Notebook("n.ipynb", raw % source), old, new).encode().decode() == raw % after


def test_a_byte_order_mark_stays() -> None:
    data = b"\xef\xbb\xbf" + notebook("x").encode()
    assert replace(read("n.ipynb", data), "x", "y").encode() == data.replace(b'"x"', b'"y"')


@given(
    st.lists(st.text("ab\n\"\\é\N{GRINNING FACE}#'% ", max_size=12), min_size=1, max_size=4),
    st.text('xy\n"\\é\N{GRINNING FACE}', max_size=8),
    st.tuples(st.integers(0, 60), st.integers(0, 12)),
    st.sampled_from([{}, {"indent": None}, {"indent": None, "separators": (",", ":")}, {"ensure_ascii": True}]),
)
def test_any_edit_of_any_cell(codes: list[str], new: str, where: tuple[int, int], layout: dict[str, object]) -> None:
    codes = ["x", *codes]
    raw = notebook(*codes, **layout)
    source = Notebook("n.ipynb", raw)
    start = min(where[0], len(source.text))
    edit = Edit("n.ipynb", Span(start, min(start + where[1], len(source.text))), new)
    if not fits(source, edit):
        return
    part = source.part(start)
    last = min(edit.span.end, part.start + len(part.source.text))
    wanted = part.source.text[: start - part.start] + new + part.source.text[last - part.start :]
    after = edited(source, [edit]).encode().decode()
    assert part.cell is not None
    assert sources(after) == [*codes[: part.cell - 1], wanted.removesuffix("\n"), *codes[part.cell :]]
    others = json.loads(after)
    others["cells"][part.cell - 1]["source"] = json.loads(raw)["cells"][part.cell - 1]["source"]
    assert others == json.loads(raw)


def test_an_edit_stays_in_its_cell() -> None:
    source = Notebook("n.ipynb", notebook("a\nb\n", "c\n%cd x\nd"))
    cell_end = source.text.index("c") - 1
    assert sources(edited(source, [Edit("", Span(cell_end, cell_end), "x\n")]).encode().decode())[0] == "a\nb\n\nx"
    assert sources(edited(source, [Edit("", Span(2, cell_end + 1), "")]).encode().decode())[0] == "a"
    for start, end, text, why in (
        (2, cell_end + 1, "x", "it reaches into the next cell"),
        (2, cell_end + 2, "", "it reaches into the next cell"),
        (cell_end + 1, len(source.text), "", "it would change what is for IPython"),
    ):
        edit = Edit("", Span(start, end), text)
        assert not fits(source, edit)
        with pytest.raises(ValueError, match=why):
            edited(source, [edit])
