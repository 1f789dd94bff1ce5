"""DLL106's fix: a property where that is right, else what stands in the way; and what a `__getstate__` leaves out."""

from __future__ import annotations

import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from dllint_rules.pickling.dll106_handle_on_dataset import HandleOnDataset

from dllint import Applicability, Finding, Fix, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

HEAD = """\
import gzip, h5py, lmdb, sqlite3, tarfile, threading
from torch.utils.data import DataLoader, Dataset

MODE = "r"

class Files(Dataset):
    def __init__(self, path, *more):
{init}
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return self.file
{more}
DataLoader(Files("."), num_workers=2)
"""


def program(init: str, more: str = "") -> str:
    """A dataset that keeps `file`, with a loader that has workers."""
    return HEAD.format(init=textwrap.indent(init, " " * 8), more=textwrap.indent(more, "    "))


def findings(code: str) -> tuple[Project, Source, list[Finding]]:
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    return project, source, list(HandleOnDataset().check(project))


def fix_of(code: str) -> tuple[Source, Fix]:
    project, source, (finding, *_) = findings(code)
    fix = HandleOnDataset().fix(finding, project)
    assert fix is not None
    return source, fix


def fixed(code: str) -> str:
    source, fix = fix_of(code)
    assert fix.applicability is Applicability.UNSAFE, fix.title
    result = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    assert not findings(result)[2], result
    compile(result, "a.py", "exec")
    return result


@pytest.mark.parametrize(
    ("init", "kept", "opened"),
    [
        ("self.file = open(path)", "self._file_path = path", "open(self._file_path)"),
        ("self.path = path\nself.file = open(path)", "", "open(self.path)"),
        ("self.path = path\nself.file = open(self.path, 'rb')", "", "open(self.path, 'rb')"),
        ("self.file = gzip.open(path, mode=MODE)", "self._file_path = path", "gzip.open(self._file_path, mode=MODE)"),
        ("self.file = h5py.File(path + '.h5')", "self._file_path = path + '.h5'", "h5py.File(self._file_path)"),
        ("self.file = tarfile.open(path, 'r:xz')", "self._file_path = path", "tarfile.open(self._file_path, 'r:xz')"),
        (
            "self.file = lmdb.open(path, max_readers=len(more))",
            "self._file_path = path",
            "lmdb.open(self._file_path, max_readers=self._file_max_readers)",
        ),
        (
            "path = path or '.'\nself.path = path\nself.file = open(path)",
            "self._file_path = path",
            "open(self._file_path)",
        ),
        (
            "self.path = path\nself.path += '/x'\nself.file = open(self.path)",
            "self._file_path = self.path",
            "open(self._file_path)",
        ),
    ],
)
def test_what_the_call_was_given_is_kept(init: str, kept: str, opened: str) -> None:
    result = fixed(program(init))
    assert f"self._file = {opened}\n" in result
    assert kept in result
    assert ("self._file_path = " in result) == bool(kept)


@pytest.mark.parametrize(
    ("written", "moved", "opened"),
    [
        ("import zipfile", "import zipfile", "zipfile.ZipFile"),
        ("import zipfile as z", "import zipfile as z", "z.ZipFile"),
        ("from zipfile import ZipFile", "from zipfile import ZipFile", "ZipFile"),
    ],
)
def test_an_import_in_init_goes_along(written: str, moved: str, opened: str) -> None:
    result = fixed(program(f"{written}\n\nself.file = {opened}(path)\nself.size = 4"))
    init, _, rest = result.partition("    @property\n")
    assert written not in init
    lines = f"        if self._file_pid != os.getpid():\n            {moved}\n\n            self._file = None"
    assert lines in rest
    assert f"            self._file = {opened}(self._file_path)\n" in rest
    used = fixed(program(f"{written}\n\nself.file = {opened}(path)\nself.size = len({opened}(path).namelist())"))
    assert used.count(written) == 2


@pytest.mark.parametrize(
    "init",
    [
        "opener = gzip.open\nself.file = opener(path)",
        "if more:\n    import zipfile\nself.file = zipfile.ZipFile(path)",
        "import gzip as z\nif more:\n    import tarfile as z\nself.file = z.open(path)",
    ],
)
def test_what_only_init_can_open_is_left_to_a_person(init: str) -> None:
    _, fix = fix_of(program(init))
    assert "which opens it, is a variable of `__init__`" in fix.title


def test_parts_are_taken_anew() -> None:
    init = "self.file = h5py.File(path)\nself.images = self.file['images']\nself.labels = self.file['labels'][:]"
    result = fixed(program(init))
    assert "def images(self):\n        return self.file['images']\n" in result
    assert "self.images =" not in result
    assert "self.labels = self.file['labels'][:]\n" in result


@pytest.mark.parametrize(
    ("init", "kept", "taken"),
    [
        ("key = 'a' if more else 'b'\nself.file = h5py.File(path)", "self._file_key = key", "self._file_key"),
        ("self.key = path[0]\nkey = 0\nself.file = h5py.File(path)", "self._file_key = key", "self._file_key"),
        ("key = path[0]\nself.key = key\nself.file = h5py.File(path)", "", "self.key"),
        ("from os import sep as key\nself.file = h5py.File(path)", "self._file_key = key", "self._file_key"),
    ],
)
def test_what_tells_a_part_is_kept(init: str, kept: str, taken: str) -> None:
    result = fixed(program(f"{init}\nself.images = self.file[key]\nself.labels = self.file[f'{{key}}/labels']"))
    assert f"def images(self):\n        return self.file[{taken}]\n" in result
    assert kept in result
    assert kept or "_file_key" not in result
    assert "self._file_labels_key = f'{key}/labels'\n" in result
    assert "def labels(self):\n        return self.file[self._file_labels_key]\n" in result


def test_a_part_that_is_told_later_stays() -> None:
    _, fix = fix_of(program("self.file = h5py.File(path)\nkey = path[0]\nself.images = self.file[f'{key}/images']"))
    assert fix.title.endswith("; which part of it is kept depends on `key`, which is set later")


def test_names_that_are_taken_are_left_alone() -> None:
    result = fixed(program("self._file = 1\nself.file = open(path)"))
    assert "self._own_file = self._own_file_pid = None\n" in result
    result = fixed(program("self._file = open(path)\nself.file = 1").replace("return self.file", "return self._file"))
    assert "def _file(self):\n" in result
    assert "self._own_file = open(self._file_path)\n" in result

    result = fixed(program("self._file_path = 1\nself.file = open(path)"))
    assert "self._file_path_given = path\n" in result


def test_the_process_is_asked_under_the_name_that_the_module_has_for_it() -> None:
    result = fixed("from os import getpid\n" + program("self.file = open(path)"))
    assert "if self._file_pid != getpid():" in result
    result = fixed("os = 1\n" + program("self.file = open(path)"))
    assert "from os import getpid as _getpid\n" in result


@pytest.mark.parametrize(
    ("init", "more", "reason"),
    [
        ("if path:\n    self.file = open(path)", "", "not made in every case"),
        ("self.file = open(path, 'r+')", "", "something else than reading"),
        ("self.file = open(path, *more)", "", "something else than reading"),
        ("self.file = open(path, mode=more[0])", "", "something else than reading"),
        ("self.file = h5py.File(path, 'a')", "", "something else than reading"),
        ("self.file = sqlite3.connect(path)", "", "if a new connection will do"),
        ("self.file = open(path)\nself.first = self.file.readline()", "", "read before the workers start"),
        ("self.file = open(path)\nself.begin()", "def begin(self):\n    self.file.read()", "read before the workers"),
        ("self.file = open(path)", "def again(self):\n    self.file = None", "other code sets it"),
        ("self.file = open(path)", "def again(self):\n    del self.file", "other code sets it"),
        ("self.file = open(path)", "def has(self):\n    return hasattr(self, 'file')", "other code sets it"),
        ("self.file = open(path)", "def __del__(self):\n    self.file.flush()", "`__del__` of its own"),
        ("self.file = open(path)", "__slots__ = ('file',)", "`__slots__` of its own"),
        ("self.open(path)", "def open(self, path):\n    self.file = open(path)", "not made in `__init__`"),
    ],
)
def test_what_stands_in_the_way_is_said(init: str, more: str, reason: str) -> None:
    _, fix = fix_of(program(init, more))
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    assert reason in fix.title
    compile(fix.snippet, "a.py", "exec")
    assert "def file(self):" in fix.snippet


@pytest.mark.parametrize(
    "reads",
    [
        "return self.file.readline()",
        "line = self.file.readline()\nif not line:\n    self.file.seek(0)\nreturn line or self.file.readline()",
        "return next(self.file)",
        "lines = self.file\nreturn lines.read(80)",
        "for line in self.file:\n    return line",
        "self.file.read(8)\nself.file.seek(index)\nreturn self.file.read(8)",
        "if self.file.tell() > 80:\n    self.file.seek(0)\nreturn self.file.read(8)",
        "return pickle.load(self.file)",
    ],
)
def test_what_is_read_on_is_not_opened_again(reads: str) -> None:
    """Each of several workers would read the beginning, where they have read one file together."""
    code = program("self.file = open(path)").replace(
        "        return self.file\n", textwrap.indent(reads, " " * 8) + "\n"
    )
    _, fix = fix_of("import pickle\n" + code)
    assert (fix.applicability, fix.edits, fix.snippet) == (Applicability.MANUAL, (), "")
    assert "reads what comes next" in fix.title


@pytest.mark.parametrize(
    "reads",
    [
        "self.file.seek(index * 8)\nreturn self.file.read(8)",
        "self.file.seek(0)\nreturn self.file.read()",
        "if self.at(index):\n    self.file.seek(self.at(index))\nreturn pickle.load(self.file)",
        "file = self.file\nfile.seek(index)\nreturn file.readline()",
        "return read(self.file, index)",
    ],
)
def test_what_is_read_by_the_index_is_opened_again(reads: str) -> None:
    code = program("self.file = open(path)").replace(
        "        return self.file\n", textwrap.indent(reads, " " * 8) + "\n"
    )
    assert "def file(self):" in fixed("import pickle\n" + code)


def test_what_only_constructors_read_is_not_kept() -> None:
    derived = (
        "class More(Files):\n    def __init__(self, path):\n        super().__init__(path)\n"
        "        self.size = len(self.file)\n"
    )
    code = "import numpy as np\n" + program("self.file = np.load('a.npz')\nself.first = self.file['a']")
    code = code.replace("return self.file", "return self.first").replace("DataLoader(", f"{derived}DataLoader(")
    _, fix = fix_of(code)
    assert (fix.applicability, fix.edits, fix.snippet) == (Applicability.MANUAL, (), "")
    assert "in a `with` statement" in fix.title
    assert "def file(self):" in fixed(code.replace("return self.first", "return self.file['a'][index]"))


def test_a_lock_is_not_opened() -> None:
    project, _, (finding,) = findings(program("self.file = threading.Lock()"))
    fix = HandleOnDataset().fix(finding, project)
    assert fix is not None
    assert fix.title == "Leave `file` out of the pickle, and create it again"
    (edit,) = fix.edits
    code = program("lock = threading.RLock()\nself.file = threading.Condition(lock)")
    project, _, (finding,) = findings(code)
    by_hand = HandleOnDataset().fix(finding, project)
    assert by_hand is not None
    assert (by_hand.applicability, by_hand.edits) == (Applicability.MANUAL, ())
    assert "self.file = threading.Condition(lock)" in by_hand.snippet
    scope: dict[str, Any] = {"threading": threading}
    exec("class Files:\n" + edit.text, scope)
    files = scope["Files"]()
    files.file, files.size = threading.Lock(), 3
    files.file.acquire()
    state = files.__getstate__()
    assert state == {"size": 3}
    other = scope["Files"]()
    other.__setstate__(state)
    assert (other.size, other.file.locked()) == (3, False)


def test_a_library_that_may_use_the_attribute_stands_in_the_way() -> None:
    code = program("self.file = open(path)").replace("Files(Dataset)", "Files(Unknown, Dataset)")
    title = fix_of("from somewhere import Unknown\n" + code)[1].title
    assert title.endswith("the base class of `Files`, `somewhere.Unknown`, may use it")


def test_a_comment_goes_along_with_what_opens() -> None:
    assert "self._file = open(self._file_path)  # text\n" in fixed(program("self.file = open(path) # text"))


@pytest.mark.parametrize("comment", ["self.file = open(path,  # text\n'r')", "self.file = open(path); n = 1"])
def test_a_line_with_more_is_left_to_a_person(comment: str) -> None:
    assert "comment" in fix_of(program(comment))[1].title


def test_a_variable_that_holds_it_first_is_not_needed() -> None:
    result = fixed(program("env = lmdb.open(path, lock=False)\nself.size = 4\nself.file = env"))
    assert "env =" not in result
    assert "            self._file = lmdb.open(self._file_path, lock=False)\n" in result


@pytest.mark.parametrize("first", ["self.file = ", "env = "])
def test_lines_aligned_with_the_bracket_stay_aligned(first: str) -> None:
    aligned = f"{first}lmdb.open(path,\n{' ' * len(first)}          lock=False)\nself.file = env"
    result = fixed(program(aligned if first == "env = " else aligned.rpartition("\n")[0]))
    opened = "            self._file = lmdb.open("
    assert f"{opened}self._file_path,\n{' ' * len(opened)}lock=False)\n" in result


def test_an_attribute_that_names_the_same_file_is_what_opens_it() -> None:
    opened, kept = "self.file = lmdb.open(path)", "import os.path\nself.root = os.path.expanduser(path)"
    result = fixed(program(f"{kept}\n{opened}"))
    assert "            self._file = None  # lmdb refuses to open a path twice in one process\n" in result
    assert "            self._file = lmdb.open(self.root)\n" in result
    assert "_file_path" not in result
    again = "def move(self):\n    self.root = ''"
    assert "self._file_path = path\n" in fixed(program(f"{kept}\n{opened}", again))
    _, fix = fix_of(program(f"{opened}\nself.size = self.file.stat()\n{kept}"))
    assert any("self._file_path = path\n" in edit.text for edit in fix.edits)
    assert "self._file_path = path\n" in fixed(program(f"self.root = path.lower()\n{opened}"))


def test_a_variable_that_also_reads_before_the_workers_start_stays() -> None:
    result = fixed(program("env = lmdb.open(path)\nself.size = env.stat()\nself.file = env"))
    assert "        env = lmdb.open(path)\n        self.size = env.stat()\n        self._file_path = path\n" in result
    assert "            self._file = lmdb.open(self._file_path)\n" in result


@pytest.mark.parametrize(
    "init",
    [
        "first = open(path)\nfirst.readline()\nself.file = first",
        "env = lmdb.open(path)\npath = 'b'\nself.file = env",
        "env = lmdb.open(path)\nenv = lmdb.open('b')\nself.file = env",
        "if more:\n    env = lmdb.open(path)\nself.file = env",
    ],
)
def test_a_variable_whose_value_could_be_another_one_is_left_to_a_person(init: str) -> None:
    assert fix_of(program(init))[1].applicability is Applicability.MANUAL


STATES = [
    ("return {{**self.__dict__, {}: None}}", True),
    ("state = self.__dict__.copy()\nstate[{}] = None\nreturn state", True),
    ("state = dict(self.__dict__)\ndel state[{}]\nreturn state", True),
    ("state = dict(vars(self))\nif {} in state:\n    state.pop({}, None)\nreturn state", True),
    ("'''Told.'''\nstate = {{**self.__dict__}}\nstate.pop({})\nreturn state", True),
    ("state = self.__dict__.copy()\nself.clean(state)\nreturn state", False),
    ("return self.path", False),
    ("state = self.__dict__.copy()\nfor name in NAMES:\n    state[name] = None\nreturn state", False),
]


@pytest.mark.parametrize(("body", "known"), STATES)
def test_a_getstate_answers_for_what_it_leaves_out(body: str, known: bool) -> None:
    init = "self.file = h5py.File(path)\nself.other = h5py.File(path)"
    for entry, left in (('"file"', ["other"]), ('"nothing"', ["file", "other"])):
        more = "def __getstate__(self):\n" + textwrap.indent(body.replace("{}", entry).format(), "    ")
        found = [finding.data.holder.name for finding in findings(program(init, more))[2]]
        assert found == (left if known else []), body


def test_a_state_without_many_attributes_has_a_line_for_each() -> None:
    names = [f"archive_number_{index}" for index in range(3)]
    code = program("\n".join(f"self.{name} = open(path)" for name in names))
    code = code.replace("return self.file", f"return self.{', self.'.join(names)}")
    for name in names:
        source, fix = fix_of(code)
        assert name in fix.title
        code = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    assert not findings(code)[2]
    assert max(map(len, code.splitlines())) <= 88
    state = code.partition("def __getstate__(self):\n")[2].splitlines()
    assert (state[0], state[1], state[8]) == ("        return {", "            **self.__dict__,", "        }")


CLOSE = "def close(self):\n    self.file.close()\ndef __del__(self):\n    '''Close it.'''\n    self.close()"
ASKED = "def __del__(self):\n    if hasattr(self, 'file'):\n        self.file.close()"


@pytest.mark.parametrize(
    ("more", "closed"),
    [
        (CLOSE, "        if self._file is not None:\n            self._file.close()\n"),
        (ASKED, '        if getattr(self, "_file", None) is not None:\n            self._file.close()\n'),
        ("def __del__(self):\n    if self.file:\n        self.file.close()", "        if self._file is not None:\n"),
        (
            "def __del__(self):\n    try:\n        self.file.close()\n    except OSError:\n        pass",
            "            if self._file is not None:\n                self._file.close()\n        except OSError:\n",
        ),
    ],
)
def test_closing_does_not_open(more: str, closed: str, tmp_path: Path) -> None:
    result = fixed(program("self.file = open(path)", more))
    assert closed in result
    scope: dict[str, Any] = {}
    exec(result[: result.index("DataLoader(Files(")].replace("gzip, h5py, lmdb, ", ""), scope)
    files = scope["Files"](str(tmp_path / "missing"))
    assert files.__getstate__() == {"_file_path": str(tmp_path / "missing"), "_file": None, "_file_pid": None}
    files.__del__()
    (tmp_path / "missing").touch()
    opened = files.file
    files.__del__()
    assert opened.closed


@pytest.mark.parametrize(
    "more",
    [
        "def __del__(self):\n    self.file.close()\n    print(self)",
        "def __del__(self):\n    self.flush()\ndef flush(self):\n    self.file.flush()",
        "def __del__(self):\n    if self.file.closed:\n        self.file.close()",
        "def __del__(self):\n    self.__del__()",
        "def reopen(self):\n    if hasattr(self, 'file'):\n        print()",
    ],
)
def test_what_does_more_than_close(more: str) -> None:
    assert fix_of(program("self.file = open(path)", more))[1].applicability is Applicability.MANUAL


def test_a_transaction_begins_where_its_environment_is_opened() -> None:
    init = "self.env = lmdb.open(path, readonly=True)\nself.file = self.env.begin(buffers=True)\nself.file.get(b'n')"
    code = program(init, "def __del__(self):\n    if hasattr(self, 'env'):\n        self.env.close()")
    project, source, found = findings(code)
    titles = [fix.title for finding in found if (fix := HandleOnDataset().fix(finding, project))]
    assert titles[1] == "Make it in the process that uses it; `self.env`, which it reads, must be opened there first"
    for begun in ("lmdb.open(self._env_path, readonly=True)", "self.env.begin(buffers=True)"):
        source, fix = fix_of(code)
        code = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
        assert begun in code
    assert not findings(code)[2]
    assert "        self._file = self._file_pid = None\n        self.file.get(b'n')\n" in code


@pytest.mark.parametrize("given", ["path", "path, readonly=False"])
def test_a_transaction_that_may_write_is_left_alone(given: str) -> None:
    code = program(f"self.env = lmdb.open({given})\nself.file = self.env.begin()")
    source, fix = fix_of(code)
    code = apply(code, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    assert "may be opened for something else than reading" in fix_of(code)[1].title


def test_a_variable_that_is_given_twice_is_kept_once() -> None:
    result = fixed(program("self.file = lmdb.open(path, max_readers=a_b, max_spare_txns=a_b)").replace("*more", "a_b"))
    assert "lmdb.open(self._file_path, max_readers=self._a_b, max_spare_txns=self._a_b)" in result
    assert result.count("= a_b\n") == 1


def test_a_property_may_be_got_by_a_name_that_varies() -> None:
    more = "def show(self, name):\n    part = getattr(self, name)\n    return part\n"
    assert "def file(self):" in fixed(program("self.file = open(path)", more))
