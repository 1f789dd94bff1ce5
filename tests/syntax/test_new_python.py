"""Files of a newer Python than the one that runs: read in place, with today's rules."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from dllint.source import Source
from dllint.syntax.guard import NotParsed
from dllint.syntax.new_python import downgraded
from dllint.testing.cases import Project

NEW = [
    ("type X[T] = int\n", "X         = int\n"),
    ("type Y = dict[str, int]\n", "Y      = dict[str, int]\n"),
    ("def f[T: int, *Ts](x): pass\n", "def f             (x): pass\n"),
    ("class A[T](B): pass\n", "class A   (B): pass\n"),
    ("try:\n    pass\nexcept A, B:\n    pass\n", "try:\n    pass\nexcept A   :\n    pass\n"),
    ("x = t'a{b}'\n", "x = f'a{b}'\n"),
]
STRINGS = [
    ("x = f'{a['b']}' + f'{c}'\n", "x = f'{______}' + f'{c}'\n"),
    ("x = f'{\n a # c\n}'\n", "x = f'{________}'\n"),
    ("x = f'{f'{a}'}'\n", "x = f'{______}'\n"),
]


@pytest.mark.parametrize(("new", "old"), NEW)
def test_new_syntax_becomes_old_of_the_same_length(new: str, old: str) -> None:
    assert downgraded(Source("a.py", new)) == old
    assert len(new) == len(old)
    ast.parse(old)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads them as they are")
@pytest.mark.parametrize(("new", "old"), STRINGS)
def test_what_an_fstring_of_today_holds_becomes_a_name(new: str, old: str) -> None:
    assert downgraded(Source("a.py", new)) == old
    assert len(new) == len(old)


def test_what_is_no_python_at_all_says_what_python_says() -> None:
    with pytest.raises(NotParsed, match="never closed"):
        downgraded(Source("a.py", "f(\n"))


@pytest.mark.parametrize(
    ("text", "escape", "place"),
    [
        ('def f():\n    """See\n    \\url{x}.\n    """\n', "\\u", (3, 5)),
        ("x = 'C:\\Users'\n", "\\U", (1, 8)),
        ("x = '\\\\users\\Name'\n", "\\N", (1, 13)),
        ("x = '\\x41 \\x4'\n", "\\x", (1, 11)),
        ("x = b'\\u \\N \\x'\n", "\\x", (1, 13)),
        ("x = f'{a} \\url'\n", "\\u", (1, 11)),
        ("x = r'\\url' '\\U00110000'\n", "\\U", (1, 14)),
    ],
)
def test_a_broken_escape_is_broken_in_every_python(text: str, escape: str, place: tuple[int, int]) -> None:
    with pytest.raises(NotParsed) as error:
        downgraded(Source("a.py", text))
    assert error.value.message.startswith(f"`{escape}` begins no valid escape in any Python 3: write `\\{escape}`")
    assert (error.value.row, error.value.column) == place


def test_a_character_of_an_unknown_name_may_be_new() -> None:
    with pytest.raises(NotParsed, match="run it with a newer one"):
        downgraded(Source("a.py", "x = '\\\\url \\u0041 \\N{NO CHARACTER OF TODAY}'\n"))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads it as it is")
def test_a_hazard_in_a_file_of_a_newer_python_is_found_in_its_place(tmp_path: Path) -> None:
    text = (
        "from torch.utils.data import DataLoader\n"
        "type Batch[T] = list[T]\n"
        "def main[T](data: T):\n"
        "    try:\n"
        "        for batch in DataLoader(data, num_workers=2, collate_fn=lambda rows: rows): print(batch)\n"
        "    except OSError, ValueError:\n"
        "        pass\n"
        "if __name__ == '__main__':\n"
        "    main([1, 2])\n"
    )
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    (tmp_path / "dllint.toml").touch()
    (found,) = Project(tmp_path, ("train.py",), "DLL103").check()
    assert (found.code, found.row, found.column) == ("DLL103", 5, 65)
