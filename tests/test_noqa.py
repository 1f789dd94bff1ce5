"""Comments that silence, written by `--add-noqa` and taken away by the fixes of DLL901 and DLL902."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dllint import ruff
from dllint.collect.comments import scan
from dllint.fix import apply
from dllint.noqa import NotTokenized, add, remedy
from dllint.registry import Layer
from dllint.source import Source, Span
from tests.fakes import DATASET, words
from tests.test_cli import check, folder, program
from tests.test_engine import make, run, told

__all__ = ["folder", "program", "words"]


def silenced(text: str, *codes: str, reason: str = "") -> str:
    """A text in which every HERE is reported, after its comments were written."""
    source = Source("a.py", text)
    places = [Span(at, at + 4) for at in range(len(text)) if text.startswith("HERE", at)]
    wanted = [(place, code) for place in places for code in codes or ("DLL101",)]
    return apply(text, add(source, scan(source), wanted, reason))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("HERE\n", "HERE  # noqa: DLL101\n"),
        ("HERE", "HERE  # noqa: DLL101"),
        ("HERE \t\r\ny = 1\r\n", "HERE  # noqa: DLL101\r\ny = 1\r\n"),
        ("HERE, HERE\n", "HERE, HERE  # noqa: DLL101\n"),
        ("HERE  # why\n", "HERE  # why  # noqa: DLL101\n"),
        ("HERE  # type: ignore\n", "HERE  # type: ignore  # noqa: DLL101\n"),
        ("HERE  # noqa: E501\n", "HERE  # noqa: E501, DLL101\n"),
        ("HERE  #NOQA:E501,W291 too long \n", "HERE  #NOQA:E501,W291, DLL101 too long\n"),
        ("HERE  # dllint: ignore[DLL2]\n", "HERE  # dllint: ignore[DLL2, DLL101]\n"),
        ("HERE  # dllint: noqa: DLL2\n", "HERE  # dllint: noqa: DLL2, DLL101\n"),
        ("f(\n    HERE,\n    1,\n)\n", "f(\n    HERE,  # noqa: DLL101\n    1,\n)\n"),
        ("f('# noqa: X1', HERE)\n", "f('# noqa: X1', HERE)  # noqa: DLL101\n"),
    ],
)
def test_a_comment_is_written_at_the_end_of_the_line(before: str, after: str) -> None:
    assert silenced(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("HERE\n", "HERE  # dllint: ignore[DLL101]\n"),
        ("HERE  # why\n", "HERE  # why  # dllint: ignore[DLL101]\n"),
        ("HERE  # noqa: E501\n", "HERE  # dllint: ignore[DLL101]  # noqa: E501\n"),
        ("HERE  # noqa: DLL201 so\n", "HERE  # dllint: ignore[DLL101]  # noqa: DLL201 so\n"),
        ("HERE  # dllint: ignore[DLL201]\n", "HERE  # dllint: ignore[DLL201, DLL101]\n"),
        ("HERE  # dllint: noqa: DLL201\n", "HERE  # dllint: noqa: DLL201, DLL101\n"),
        ("HERE  # noqa: E1  # dllint: ignore[DLL2]\n", "HERE  # noqa: E1  # dllint: ignore[DLL2, DLL101]\n"),
    ],
)
def test_a_comment_of_our_own_form(before: str, after: str) -> None:
    """What was silenced before is silenced after, and Ruff, which deletes what it does not know, deletes nothing."""
    source = Source("a.py", before)
    written = apply(before, add(source, scan(source), [(Span(0, 4), "DLL101")], own=True))
    assert written == after
    codes = [code for entry in scan(Source("a.py", after)) for code in entry.codes]
    assert set(codes) == {"DLL101", *(code for entry in scan(source) for code in entry.codes)}
    ruff_fix = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "RUF100,RUF102", "--fix-only", "-"]
    if importlib.util.find_spec("ruff") is not None:
        left = subprocess.run(ruff_fix, input=after, capture_output=True, text=True, check=False).stdout
        assert "".join(re.findall(r"# dllint:[^#\n]*(?<! )", after)) in left


@pytest.mark.parametrize(
    ("before", "row"),
    [
        ('x = HERE, """\ntext\n"""\n', 0),
        ('f()\nif x:\n\tf(HERE, """\n\t""")\n', 2),
        ("x = HERE + \\\n    1\n", 0),
        ("x = 1 + \\\n    HERE + \\\n    1\n", 0),
        ('x = f"""\n{HERE}\n"""\n', 0),
        ("@f\ndef g(x=HERE, y='''\n'''): pass\n", 1),
        ("class A:\n    '''Doc.'''\n\n    @f(HERE, '''\n''')\n    def g(self): pass\n", 3),
    ],
)
def test_where_the_line_ends_in_something_else_a_comment_stands_above_the_statement(before: str, row: int) -> None:
    lines = before.splitlines(keepends=True)
    indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
    lines.insert(row, f"{indent}# dllint: ignore[DLL101] so\n")
    assert silenced(before, reason="so") == "".join(lines)
    ast.parse("".join(lines))


def test_a_long_expression_may_have_its_comment_at_its_last_line() -> None:
    text = 'f(lambda: """\n""", 1)\n'
    source = Source("a.py", text)
    span = Span(2, text.index(", 1"))
    assert apply(text, add(source, (), [(span, "DLL103")])) == 'f(lambda: """\n""", 1)  # noqa: DLL103\n'


def test_codes_and_reasons() -> None:
    assert silenced("HERE\n", "DLL201", "DLL101", reason="small") == "HERE  # noqa: DLL101, DLL201 small\n"
    assert silenced("HERE  # noqa: E501 long\n", reason="small") == "HERE  # noqa: E501, DLL101 long small\n"


def test_a_file_that_has_no_end_gets_no_comments() -> None:
    with pytest.raises(NotTokenized):
        silenced("HERE = (\n")


LINES = (
    *("HERE\n", "f(HERE, 1)  # why\n", "f(HERE)  # noqa: E501\n", "x = '''HERE\n'''\n", "x = '''\nHERE'''\n"),
    *("f(\n    HERE,\n    '''\nHERE''', HERE)\n", "x = 1 + \\\n  HERE + \\\n  HERE\n", "if x:\n    HERE\n"),
    *("def g():\n    return f'''{HERE}\n{HERE}'''\n", "@f\ndef h(a='''\n''', b=HERE): HERE\n", "# HERE?\n"),
    *("x = HERE; y = HERE  # dllint: ignore[DLL2]\n", "\n", "\x0c\nclass A:\n\n    # HERE\n    x = HERE\n"),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map("".join),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_comments_change_nothing_else_and_are_heard(text: str, newline: str, ended: bool) -> None:
    text = (text if ended else text.rstrip("\n")).replace("\n", newline)
    after = silenced(text)
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))
    assert code_tokens(after) == code_tokens(text)
    assert after.count("\n") == after.count(newline) or newline == "\n"
    source = Source("a.py", after)
    heard = {entry.row for entry in scan(source) if "DLL101" in entry.codes}
    here = {source.location(at)[0] for at in range(len(after)) if after.startswith("HERE", at)}
    assert here <= heard | {row for row in here if source.line(row).lstrip().startswith("#")}
    assert silenced(text) == after


def code_tokens(text: str) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="").readline)
    return [(t.type, t.string) for t in tokens if t.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE)]


# Taking comments away.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x  # noqa: DLL801\n", "x\n"),
        ("x  # noqa: DLL801, E501\n", "x  # noqa: E501\n"),
        ("x  # noqa: E501,DLL801 why\n", "x  # noqa: E501 why\n"),
        ("x  # noqa: DLL801 why\n", "x  # why\n"),
        ("x  # because # noqa: DLL801\n", "x  # because\n"),
        ("x  # noqa: DLL801  # because\n", "x  # because\n"),
        ("x  # dllint: ignore[DLL801, bad-word]\n", "x\n"),
        ("x  # dllint: ignore\n", "x\n"),
        ("x  # dllint: ignore[nonsense]\n", "x\n"),
        ("x  # dllint: ignore[nonsense, DLL801, DLL803]\n", "x\n"),
        ("# dllint: noqa: DLL801\nx\n", "x\n"),
        ("f(\n    # dllint: ignore[DLL802]\n    x,\n)\n", "f(\n    x,\n)\n"),
        ("x  # dllint: noqa: DLL801", "x"),
        ("BAD_A\nBAD_NONE  # noqa: DLL801, DLL802\n", "good_a\nBAD_NONE  # noqa: DLL801\n"),
        ("x  # noqa\n", "x  # noqa\n"),
    ],
)
def test_what_silences_nothing_is_taken_away(tmp_path: Path, words: None, before: str, after: str) -> None:
    make(tmp_path, a=before)
    every = Layer(select=("ALL",))
    left = told(run(tmp_path, layer=every, fix=True))
    assert (tmp_path / "a.py").read_text() == f"# Dataset\n{after}"
    assert left == []


def test_a_fix_that_leaves_a_comment_without_use_is_made_and_the_comment_goes(tmp_path: Path, words: None) -> None:
    make(tmp_path, a="BAD_A, BAD_B  # dllint: ignore[shy-word]\n")
    run(tmp_path, layer=Layer(select=("ALL",)), fix=True)
    assert (tmp_path / "a.py").read_text() == "# Dataset\ngood_a, good_b\n"


def test_the_fix_may_be_switched_off(tmp_path: Path, words: None) -> None:
    (tmp_path / "dllint.toml").write_text('extend-select = ["DLL901"]\nunfixable = ["DLL901"]\n')
    make(tmp_path, a="x  # noqa: DLL801\n")
    assert told(run(tmp_path, fix=True)) == ["a.py:2 DLL901"]


def test_the_remedy_names_what_it_takes(tmp_path: Path, words: None) -> None:
    make(tmp_path, a="x  # noqa: DLL801, DLL777\ny  # dllint: ignore\n")
    result = run(tmp_path, layer=Layer(extend_select=("DLL901", "DLL902")))
    titles = [remedy(finding, result.source("a.py")).title for finding, _ in result.findings]
    assert titles == ["Remove `DLL801` from the comment", "Remove `DLL777` from the comment", "Remove the comment"]


# The command.


@pytest.mark.usefixtures("words")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"BAD_A\n", b"BAD_A  # noqa: DLL801\n"),
        (b"\xef\xbb\xbfBAD_A\r\nx = 1\r\n", b"\xef\xbb\xbfBAD_A  # noqa: DLL801\r\nx = 1\r\n"),
        (b"# coding: latin-1\nBAD_A, '\xe9'", b"# coding: latin-1\nBAD_A, '\xe9'  # noqa: DLL801"),
        (b"BAD_A, WORSE  # noqa: E501\n", b"BAD_A, WORSE  # noqa: E501, DLL801, DLL802\n"),
    ],
)
def test_add_noqa(folder: Path, before: bytes, after: bytes) -> None:
    head, tail = (b"", b"# Dataset\n") if before.startswith(b"\xef") else (b"", b"\n# Dataset\n")
    (folder / "a.py").write_bytes(head + before + tail)
    found = before.count(b"BAD") + before.count(b"WORSE")
    done = check("--add-noqa", "a.py")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith(f"Silenced {found} finding")
    assert (folder / "a.py").read_bytes() == head + after + tail
    assert check().exit_code == 0
    assert check("--add-noqa").stderr == "0 findings in 1 file.\n"


@pytest.mark.usefixtures("words")
def test_add_noqa_with_a_reason_and_as_a_diff(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    done = check("--add-noqa=until #12", "--diff")
    assert done.exit_code == 1
    assert "+BAD_A  # noqa: DLL801 until #12\n" in done.stdout
    assert (folder / "a.py").read_text() == f"{DATASET}BAD_A\n", "nothing is written"
    assert check("--add-noqa=until #12").exit_code == 0
    assert (folder / "a.py").read_text() == f"{DATASET}BAD_A  # noqa: DLL801 until #12\n"


@pytest.mark.usefixtures("words")
def test_add_noqa_writes_into_the_files_that_were_named(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_X\n")
    (folder / "b.py").write_text("import a\nSTART(BAD_X)\n")
    assert check("--add-noqa", "b.py").exit_code == 0
    assert (folder / "a.py").read_text() == f"{DATASET}BAD_X\n"
    assert (folder / "b.py").read_text() == "import a\nSTART(BAD_X)  # noqa: DLL801\n"


@pytest.mark.usefixtures("words")
def test_add_noqa_to_standard_input(folder: Path) -> None:
    done = check("-", "--add-noqa", stdin=b"BAD_A\r\n")
    assert (done.exit_code, done.stdout_bytes) == (0, b"BAD_A  # noqa: DLL801\r\n")


@pytest.mark.usefixtures("words")
def test_add_noqa_leaves_alone_what_it_cannot_write(folder: Path) -> None:
    (folder / "a.py").write_bytes(b"# coding: latin-1\n# Dataset\nBAD_A\n")
    (folder / "b.py").write_text(f"{DATASET}BAD_B\n")
    done = check("--add-noqa=wegen Ω")
    assert done.exit_code == 2
    assert "error: a.py: not silenced: 'latin-1' codec can't encode" in done.stderr.replace("iso-8859-1", "latin-1")
    assert (folder / "a.py").read_bytes() == b"# coding: latin-1\n# Dataset\nBAD_A\n"
    assert (folder / "b.py").read_text() == f"{DATASET}BAD_B  # noqa: DLL801 wegen Ω\n"


@pytest.mark.parametrize(
    ("args", "wrong"), [(["--fix"], "cannot be combined"), (["--add-noqa=a\nb"], "must be one line")]
)
def test_add_noqa_used_wrongly(folder: Path, args: list[str], wrong: str) -> None:
    done = check("--add-noqa", *args)
    assert done.exit_code == 2
    assert wrong in done.stderr


# Ruff, which may delete such comments.


@pytest.mark.parametrize(
    ("file", "text", "deletes"),
    [
        ("ruff.toml", '[lint]\nselect = ["RUF"]\n', True),
        ("ruff.toml", 'select = ["ALL"]\n', True),
        ("ruff.toml", '[lint]\nextend-select = ["RUF100"]\n', True),
        ("ruff.toml", '[lint]\nselect = ["RUF"]\nexternal = ["DLL"]\n', False),
        ("ruff.toml", '[lint]\nselect = ["RUF"]\nexternal = ["DLL1"]\n', True),
        ("ruff.toml", '[lint]\nselect = ["RUF"]\nignore = ["RUF100", "RUF102"]\n', False),
        ("ruff.toml", '[lint]\nselect = ["E", "F"]\n', False),
        ("ruff.toml", "not toml\n", False),
        ("pyproject.toml", '[tool.ruff.lint]\nselect = ["RUF"]\n', True),
        ("pyproject.toml", '[tool.other]\nselect = ["RUF"]\n', False),
        ("ruff.toml", 'extend = "base/ruff.toml"\n', True),
    ],
)
def test_ruff_deletes(tmp_path: Path, file: str, text: str, deletes: bool) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "ruff.toml").write_text('extend = "../ruff.toml"\n[lint]\nselect = ["RUF"]\n')
    (tmp_path / file).write_text(text)
    (tmp_path / "sub").mkdir()
    assert bool(ruff.deletes_comments(str(tmp_path / "sub"))) == deletes


@pytest.mark.usefixtures("words")
def test_add_noqa_warns_of_ruff(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    (folder / "ruff.toml").write_text('[lint]\nselect = ["RUF"]\n')
    assert 'add `lint.external = ["DLL"]`' in check("--add-noqa").stderr
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    (folder / "ruff.toml").write_text('[lint]\nselect = ["RUF"]\nexternal = ["DLL"]\n')
    assert "Ruff" not in check("--add-noqa").stderr
