"""Files of old Pythons: read as far as they can be, in place, and never fixed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dllint.syntax.old_python import modernised
from dllint.testing.cases import Project


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print 'a', b\n", "pass; 'a', b\n"),
        ("print\n", "pass;\n"),
        ("if x: print x\n", "if x: pass; x\n"),
        ("exec code in names\n", "pass;code in names\n"),
        ("print >>log, x,\n", "pass;   log, x,\n"),
        ('print ("%d" % x) % y, z\n', 'pass; ("%d" % x) % y, z\n'),
        ("try: pass\nexcept (A, B), error: pass\n", "try: pass\nexcept (A, B)       : pass\n"),
        ("raise ValueError, 'no'\n", "raise ValueError      \n"),
        ("x.cuda(async=True)\n", "x.cuda(asynC=True)\n"),
        ("os.chmod(p, 0755)\n", "os.chmod(p,  755)\n"),
        ("a <> `b`\n", "a != (b)\n"),
        ("n = 10L\n", "n = 10 \n"),
        ("s = ur'x'\n", "s =  r'x'\n"),
    ],
)
def test_old_words_become_new_ones_of_the_same_length(old: str, new: str) -> None:
    assert modernised(old) == new
    assert len(old) == len(new)
    ast.parse(new)


@pytest.mark.parametrize(
    "text",
    [
        "print(x, file=log)\n",
        "printer = print\nprint.x = print[0]\n",
        "except_, e = raise_, 'print x'\n# print x\n'''\nprint x\n`a` <> 0755\n'''\n",
        "x = 0\ny = 0.5\nz = 0o755\nasync def f(): await g\n",
        "def f(print): print = 1\n",
    ],
)
def test_what_is_not_old_stays(text: str) -> None:
    assert modernised(text) == text


OLD = """\
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self):
        self.file = open("numbers")
    def __len__(self):
        return 2
    def __getitem__(self, index):
\tprint "item", index
        return self.file.readline()

def main():
    for batch in DataLoader(Numbers(), num_workers=2):
        batch.cuda(async=True)
"""


def test_hazards_beside_the_syntax_error_are_found_and_never_fixed(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(OLD)
    project = Project(tmp_path, ("old.py",), "DLL106")
    found = {(reported.code, reported.row) for reported in project.check("DLL900")}
    assert found == {("DLL106", 5), ("DLL900", 9)}
    assert project.fix(unsafe=True) == {"old.py": OLD}
