"""Files, names and configurations that once ended a run, hung it, or cost the findings of the files beside them."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from dllint.config import ConfigError
from dllint.editor.desk import Desk
from dllint.engine import Request, Result, check
from dllint.files.globs import Spec
from dllint.reading import contents
from dllint.registry import by_code
from dllint.report import Context
from dllint.report.formats import FORMATS, renderer
from dllint.source import Source, Unreadable
from dllint.survey.database import Database
from dllint.syntax.guard import MAX_CHARACTERS, MAX_TEXT, MAX_TREE, NotParsed, guard, lenient_guard

LOADER = "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=2, collate_fn=lambda b: b)\n"
"""DLL103, and DLL301 behind it."""


def write(root: Path, **files: str | bytes) -> Path:
    """A project: `a` is `a.py`, `a__ipynb` is `a.ipynb`."""
    (root / "dllint.toml").touch()
    for name, content in files.items():
        stem, _, suffix = name.partition("__")
        data = content if isinstance(content, bytes) else content.encode()
        (root / f"{stem}.{suffix or 'py'}").write_bytes(data)
    return root


def run(root: Path, **options: object) -> Result:
    result = check(Request(paths=(str(root),), **options))  # type: ignore[arg-type]
    assert not result.crashes
    return result


def codes(result: Result) -> set[tuple[str, str]]:
    return {(finding.path, finding.code) for finding, _ in result.findings}


# Encodings.


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "idna", "unicode_escape", "utf-7", "hz", "rot13", "hex"])
def test_an_odd_encoding_costs_its_own_file_only(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, a=LOADER, b=f"# coding: {encoding}\n{LOADER}x = 'a\\nb'\n")
    result = run(tmp_path)
    assert {("a.py", "DLL103"), ("b.py", "DLL903")} <= codes(result)
    context = Context(root=str(tmp_path), cwd=str(tmp_path), rules=by_code(), source=result.source)
    for form in FORMATS:
        assert renderer(form)(result.findings, context), form


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "euc-kr", "gb18030", "iso2022_jp", "koi8-r"])
def test_an_encoding_of_real_programs_is_read(encoding: str) -> None:
    data = f"# coding: {encoding}\nx = 'a\\nb'\n".encode(encoding)
    source = Source.from_bytes("a.py", data)
    assert source.encode() == data


@pytest.mark.parametrize("codec", ["future_fstrings", "future-fstrings", "future_annotations"])
def test_a_codec_that_rewrites_new_syntax_is_utf_8(codec: str) -> None:
    data = f"# -*- coding: {codec} -*-\nx = f'{{1}} \u00e9'\n".encode()
    source = Source.from_bytes("a.py", data)
    assert source.text.endswith("\u00e9'\n") and source.encode() == data


def test_bytes_that_their_encoding_lacks() -> None:
    with pytest.raises(Unreadable, match="byte 0xff"):
        Source.from_bytes("a.py", b"# coding: ascii\nx = '\xff'\n")


# Notebooks.


def test_a_notebook_with_an_endless_number(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": LOADER}
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"n": 0}, "cells": [cell]}
    text = json.dumps(book).replace('"n": 0', f'"n": {"9" * 5_000}')
    result = run(write(tmp_path, a=LOADER, b__ipynb=text))
    assert {("a.py", "DLL103"), ("b.ipynb", "DLL903")} <= codes(result)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ('"metadata": {"n": 0}', "nested too deeply"),
        ('"outputs": []', "nested too deeply"),
        ('"nbformat": 4', "nested too deeply"),
    ],
)
def test_a_notebook_that_nests_endlessly(tmp_path: Path, part: str, told: str) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": LOADER}
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"n": 0}, "cells": [cell]})
    name = part.partition(":")[0]
    for opened, closed in (("[", "]"), ('{"a": ', "}")):
        nested = text.replace(part, f"{name}: {opened * 10_000}1{closed * 10_000}")
        (tmp_path / "b.ipynb").write_text(nested, encoding="utf-8")
        result = run(write(tmp_path, a=LOADER))
        is_read = _is_read(nested)  # from Python 3.14 on, its stack decides how deep is too deep
        linted = is_read and name != '"nbformat"'
        assert {("a.py", "DLL103"), ("b.ipynb", "DLL103" if linted else "DLL903")} == codes(result)
        assert is_read or any(told in finding.message for finding, _ in result.findings)


def _is_read(text: str) -> bool:
    try:
        json.loads(text)
    except RecursionError:
        return False
    return True


# Fixes.


def test_the_class_of_a_named_tuple_that_is_made_and_used_at_once(tmp_path: Path) -> None:
    code = """
from collections import namedtuple
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__(self, p):
        self.s = namedtuple("S", p.keys())(*p.values())
    def __getitem__(self, i): return 0
    def __len__(self): return 1
if __name__ == "__main__":
    for b in DataLoader(D({"a": 1}), num_workers=2): pass
"""
    ((finding, fix),) = run(write(tmp_path, a=code)).findings
    assert finding.code == "DLL105"
    assert fix is not None
    assert (fix.edits, fix.title) == ((), "Move the named tuple to module level; it has no name of its own")


HANDLE = """
import h5py
import lmdb
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__({parameters}):
        self.file = {made}
    def __getitem__(self, i): return self.file["x"][i]
    def __len__(self): return 1
if __name__ == "__main__":
    for b in DataLoader(D("x"), num_workers=2): pass
"""


def test_a_handle_of_an_init_with_positional_only_parameters(tmp_path: Path) -> None:
    code = HANDLE.format(parameters="self, root, /", made='h5py.File(root, "r")')
    run(write(tmp_path, a=code), fix=True, unsafe_fixes=True)
    text = (tmp_path / "a.py").read_text()
    assert "def file(self):" in text
    assert "self._file_path" in text or "self._file_root = root" in text


@pytest.mark.parametrize("more", ["**{'lock': False}", "**dict(lock=False), **dict(readonly=True)", "*[1]"])
def test_a_handle_that_is_given_what_is_unpacked(tmp_path: Path, more: str) -> None:
    code = HANDLE.format(parameters="self, root", made=f"lmdb.open(root, {more})")
    result = run(write(tmp_path, a=code), fix=True, unsafe_fixes=True)
    text = (tmp_path / "a.py").read_text()
    assert "DLL106" not in {finding.code for finding, _ in result.findings}
    kept = re.findall(r"self\._file_\w+ = (.+)", text)
    for part in more.split(", "):
        assert part.lstrip("*") in kept


def test_a_handle_that_is_not_known_to_be_read_is_told_with_what_it_is_given(tmp_path: Path) -> None:
    code = HANDLE.format(parameters="self, root", made="h5py.File(root, **{'mode': 'r'})")
    found = [fix for finding, fix in run(write(tmp_path, a=code)).findings if finding.code == "DLL106"]
    assert found[0] is not None and "self._file_options = {'mode': 'r'}" in found[0].snippet


# Time.


def seconds(root: Path, **options: object) -> float:
    began = time.process_time()
    run(root, **options)
    return time.process_time() - began


def test_a_seed_that_is_computed_in_many_steps(tmp_path: Path) -> None:
    steps = "".join(f"    seed = (seed ^ (seed >> {step})) + (seed << 1) * seed\n" for step in range(60))
    code = f"""
import random
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return random.random()
    def __len__(self): return 1
def init(worker):
    seed = 7 + worker
{steps}    random.seed(seed)
if __name__ == "__main__":
    loader = DataLoader(D(), num_workers=2, shuffle=True, worker_init_fn=init)
    print(list(loader), list(loader))
"""
    assert codes(run(write(tmp_path, a=code))) == {("a.py", "DLL606")}
    assert seconds(tmp_path) < 10


def test_a_number_of_workers_that_is_set_many_times(tmp_path: Path) -> None:
    steps = "".join("    workers = workers if c else workers\n" for _ in range(60))
    code = f"""
from torch.utils.data import DataLoader
def main(workers, c):
{steps}    return DataLoader([1], num_workers=workers, prefetch_factor=2, persistent_workers=True)
"""
    write(tmp_path, a=code)
    assert seconds(tmp_path) < 10


def test_many_findings_with_fixes_in_a_file(tmp_path: Path) -> None:
    loaders = "".join(f"a{row} = DataLoader(x, num_workers=2, collate_fn=lambda b: [b, {row}])\n" for row in range(400))
    write(tmp_path, a=f"from torch.utils.data import DataLoader\nx = [1]\n{loaders}")
    began = time.process_time()
    result = run(tmp_path)
    assert time.process_time() - began < 20
    assert sum(fix is not None for finding, fix in result.findings if finding.code == "DLL103") == 400


# Sizes.


def test_a_file_is_measured_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dllint.syntax.guard.blank_literals", lambda text: pytest.fail("it was parsed"))
    for text in ("x = [\n" + "1, 2, 3, 4,\n" * (MAX_CHARACTERS // 10) + "]\n", "x = '" + "a" * MAX_TEXT + "'\n"):
        for look in (guard, lenient_guard):
            with pytest.raises(NotParsed, match="too large"):
                look(text)


def test_text_in_strings_and_comments_is_not_code() -> None:
    for text in ('"""' + "a \\\" b ''' \n" * (MAX_CHARACTERS // 8) + '"""\n', "# some words\n" * (MAX_CHARACTERS // 8)):
        assert len(text) > MAX_CHARACTERS
        assert lenient_guard(text) == text


def test_what_libcst_is_given_is_smaller() -> None:
    text = "def f(a):\n    return g(a)\n" * (MAX_TREE // 20)
    assert lenient_guard(text) == text
    with pytest.raises(NotParsed, match="too large"):
        guard(text)


def test_a_file_that_is_too_large_for_fixes_is_reported_on(tmp_path: Path) -> None:
    filler = "def f(a):\n    return g(a)\n" * (MAX_TREE // 20)
    result = run(write(tmp_path, a=f"{LOADER}{filler}"))
    (fix,) = [fix for finding, fix in result.findings if finding.code == "DLL103"]
    assert fix is not None
    assert (fix.edits, fix.title) == ((), "Fix it yourself; dllint cannot read this file well enough to change it")


# Files beside the code.


def fifo(place: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)


def zeros(place: Path) -> None:
    if not os.path.exists("/dev/zero"):
        pytest.skip("no such device here")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to("/dev/zero")


def huge(place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as stream:
        stream.truncate(1 << 33)


BESIDE = (".gitignore", ".git/info/exclude", "requirements.txt", "sub/.gitignore", "x.egg-info/entry_points.txt")


@pytest.mark.parametrize("put", [fifo, zeros, huge])
@pytest.mark.parametrize("name", BESIDE)
def test_a_file_beside_the_code_that_cannot_be_read_costs_nothing(
    tmp_path: Path, name: str, put: Callable[[Path], None]
) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path / name)
    write(tmp_path, a=LOADER)
    began = time.monotonic()
    assert ("a.py", "DLL103") in codes(apart(tmp_path))
    assert time.monotonic() - began < 30


def apart(root: Path) -> Result:
    """The run in a process of its own first, which is ended if it hangs."""
    words = [sys.executable, "-m", "dllint", "check", "--no-cache", "--exit-zero", str(root)]
    subprocess.run(words, cwd=root, check=True, timeout=60, capture_output=True)
    return run(root)


@pytest.mark.parametrize("put", [fifo, zeros])
def test_what_is_no_configuration_file_is_none(tmp_path: Path, put: Callable[[Path], None]) -> None:
    write(tmp_path, a=LOADER)
    put(tmp_path / "pyproject.toml")
    assert ("a.py", "DLL103") in codes(apart(tmp_path))


def test_a_configuration_without_end_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a=LOADER)
    huge(tmp_path / ".dllint.toml")
    with pytest.raises(ConfigError, match="too large"):
        run(tmp_path)


def test_a_cache_of_pipes_is_none(tmp_path: Path) -> None:
    write(tmp_path, a=LOADER)
    options = {"cache": True, "cache_dir": str(tmp_path / "cache")}
    run(tmp_path, **options)
    kept = [place for place in (tmp_path / "cache").rglob("*") if place.is_file()]
    assert len(kept) > 3
    for place in kept:
        place.unlink()
        fifo(place)
    words = [sys.executable, "-m", "dllint", "check", "--exit-zero", "--cache-dir", str(tmp_path / "cache"), "a.py"]
    done = subprocess.run(words, cwd=tmp_path, check=True, timeout=60, capture_output=True, text=True)
    assert "DLL103" in done.stdout


def test_a_file_of_the_kernel_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    if not os.path.exists("/proc/self/status"):
        pytest.skip("no such files here")
    assert b"Pid:" in contents("/proc/self/status")
    with pytest.raises(OSError, match="too large"):
        contents("/proc/self/status", 10)
    with pytest.raises(OSError, match="not a regular file"):
        contents(str(tmp_path))


# Configuration.


@pytest.mark.parametrize(
    "text", ["x = " + "[" * 100_000, "x = " + "[" * 100_000 + "]" * 100_000, "a" + ".a" * 100_000 + " = 1"]
)
def test_a_configuration_that_nests_endlessly(tmp_path: Path, text: str) -> None:
    write(tmp_path, a=LOADER)
    (tmp_path / "dllint.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"dllint\.toml(:\d+)?: "):
        run(tmp_path)


DIGITS = "9" * 5_000


@pytest.mark.parametrize("version", [f">=3.10,!=3.{DIGITS}", f">=3.{DIGITS}", f"3.{DIGITS}", f"~=3.10,<{DIGITS}"])
def test_a_target_without_end_is_refused(tmp_path: Path, version: str) -> None:
    write(tmp_path, a=LOADER)
    (tmp_path / "dllint.toml").write_text(f'target-python = "{version}"\n')
    with pytest.raises(ConfigError, match="target-python"):
        run(tmp_path)


@pytest.mark.parametrize("numpy", [f"numpy>=1.{DIGITS}", f"numpy>=1.0,!=1.{DIGITS}", f"numpy ~= 1.{DIGITS}"])
def test_requirements_without_end_are_not_used(tmp_path: Path, numpy: str) -> None:
    write(tmp_path, a=LOADER)
    text = f'[project]\nname = "x"\nrequires-python = ">=3.{DIGITS}"\ndependencies = ["{numpy}"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "requirements.txt").write_text(numpy)
    result = run(tmp_path)
    assert ("a.py", "DLL103") in codes(result)
    assert any("requires-python" in warning for warning in result.warnings)


# Patterns.


@pytest.mark.parametrize(
    "pattern", ["[z-a]", "a[b--c]", "[[:alpha:]]", "[[:nothing:]]", "[", "\\", "!", "/", "a" * 9_000]
)
@pytest.mark.filterwarnings("error")
def test_a_pattern_that_means_nothing_does_no_harm(tmp_path: Path, pattern: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(f"{pattern}\nignored.py\n")
    write(tmp_path, aa=LOADER, ignored=LOADER)
    assert {path for path, _ in codes(run(tmp_path))} == {"aa.py"}
    (tmp_path / "dllint.toml").write_text(f"extend-exclude = [{json.dumps(pattern)}]\n")
    assert {path for path, _ in codes(run(tmp_path))} == {"aa.py"}


@pytest.mark.parametrize(
    "pattern", ["*a" * 30 + "b", "**/a/" * 30 + "b", "*/" * 20 + "**/" * 20 + "b", "[a]*" * 30 + "b"]
)
@pytest.mark.parametrize("path", ["a" * 200 + ".py", "a/" * 60 + "a.py"])
def test_a_pattern_of_many_stars_takes_no_time(pattern: str, path: str) -> None:
    began = time.process_time()
    for _ in range(20):
        assert Spec([pattern]).covers(path, False) is False
    assert time.process_time() - began < 5


PIECES = ["a", "b", "*", "?", "[ab]", "[!a]", "[a-b]", "[b-a]", "[]a]", "[^]a]", "[[:alpha:]]", "\\a", " "]


def patterns(rng: random.Random) -> list[str]:
    """Patterns of all that git knows, but for `a**/`, which it takes for something else than it says."""

    def segment() -> str:
        return re.sub(r"\*+", "*", "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 4))))

    def pattern() -> str:
        parts = [rng.choice([segment(), segment(), "**", "*"]) for _ in range(rng.randint(1, 4))]
        return rng.choice(["", "", "!", "/"]) + "/".join(parts) + rng.choice(["", "", "/", " "])

    return [pattern() for _ in range(rng.randint(1, 3))]


@pytest.mark.skipif(not which("git") or os.name == "nt", reason="needs git, and its paths")
def test_patterns_mean_what_git_says(tmp_path: Path) -> None:
    rng = random.Random(20)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    asked = ["git", "-C", str(tmp_path), "check-ignore", "-z", "--stdin", "-v", "-n", "--no-index"]
    for _ in range(150):
        lines = patterns(rng)
        names = ("a", "b", "ab", "ba", "bb", "aab", "a b")
        paths = ["/".join(rng.choices(names, k=rng.randint(1, 4))) for _ in range(40)]
        (tmp_path / ".gitignore").write_text("\n".join(lines) + "\n")
        told = subprocess.run(asked, input="\0".join(paths), capture_output=True, text=True, check=False).stdout
        fields = told.split("\0")
        said = {fields[at + 3]: fields[at + 2] for at in range(0, len(fields) - 1, 4)}
        spec = Spec(lines)
        for path, pattern in said.items():
            parents = [path[:at] for at, character in enumerate(path) if character == "/"]
            ours = any(spec.verdict(parent, True) for parent in parents) or bool(spec.verdict(path, False))
            assert ours == (bool(pattern) and not pattern.startswith("!")), (lines, path, pattern)


# Paths that are not there, and caches in folders of others.


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that are looked into."""
    seen: list[str] = []
    scandir = os.scandir

    def noted(place: str = ".") -> Any:
        seen.append(str(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", noted)
    return seen


def test_a_path_that_does_not_exist_is_no_reason_to_look_around(
    tmp_path: Path, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside").mkdir()
    for path in ("/nonexistent-for-sure", "typo.py", "typo/inner", "beside/typo.py"):
        result = check(Request(paths=(path,)))
        assert result.crashes == (f"{path}: no such file or folder",)
    assert not [place for place in looked if "/dllint/" not in place and "/rules/" not in place]


def test_a_typo_beside_a_path_that_exists_changes_nothing_else(tmp_path: Path, looked: list[str]) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, a=LOADER)
    result = check(Request(paths=(str(tmp_path / "one"), str(tmp_path / "typo.py"), "/nonexistent-for-sure")))
    assert len(result.crashes) == 2
    assert {path for path, _ in codes(result)} == {"a.py"}
    assert str(tmp_path / "other") not in looked
    several = check(Request(paths=(str(tmp_path), str(tmp_path / "typo.py"))))
    assert {path for path, _ in codes(several)} == {"one/a.py", "other/a.py"}
    assert len(several.crashes) == 1


def test_the_folder_of_an_editor_may_go(tmp_path: Path, looked: list[str]) -> None:
    home = tmp_path / "gone"
    home.mkdir()
    (home / "a.py").write_text(LOADER)
    desk = Desk()
    desk.open_folders([str(home)])
    desk.put(str(home / "a.py"), LOADER.encode())
    assert desk.view(str(home / "a.py")) is not None
    shutil.rmtree(home)
    looked.clear()
    desk.refresh()
    desk.put(str(home / "a.py"), LOADER.encode() + b"x = 1\n")
    assert desk.view(str(home / "a.py")) is None
    assert str(tmp_path) not in looked
    home.mkdir()
    (home / "a.py").write_text(LOADER)
    desk.refresh()
    desk.put(str(home / "a.py"), LOADER.encode())
    assert desk.view(str(home / "a.py")) is not None


def test_a_cache_in_a_folder_of_others_hides_nothing_of_theirs(tmp_path: Path) -> None:
    write(tmp_path, a=LOADER)
    (tmp_path / "dllint.toml").write_text('cache-dir = "."\n')
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    run(tmp_path, cache=True)
    (made,) = tmp_path.glob("facts-*")
    assert {path.name for path in tmp_path.iterdir()} == {"a.py", "dllint.toml", ".git", made.name}
    asked = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    new = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert new.split() == ["??", "a.py", "??", "dllint.toml"]
    (tmp_path / "b.py").write_text(LOADER)
    assert {path for path, _ in codes(run(tmp_path, cache=True))} == {"a.py", "b.py"}


# Two fixes that would leave nothing.


def test_a_body_of_collections_alone_is_fixed_in_one_run(tmp_path: Path) -> None:
    code = """
import gc
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def tidy(self):
        gc.collect()
        gc.collect()
        gc.collect()
    def __getitem__(self, i):
        self.tidy()
        return i
    def __len__(self): return 1
if __name__ == "__main__":
    for b in DataLoader(D(), num_workers=2): pass
"""
    result = run(write(tmp_path, a=code), fix=True, unsafe_fixes=True)
    assert not result.findings
    assert "    def tidy(self):\n        pass\n    def" in (tmp_path / "a.py").read_text()
    assert not run(tmp_path, fix=True, unsafe_fixes=True).changes


# Surveys.


@pytest.mark.skipif(sys.platform != "linux", reason="such file names are a matter of Linux")
def test_a_survey_of_names_that_are_no_text(tmp_path: Path) -> None:
    pytest.importorskip("psutil")
    names = [os.fsdecode(name) for name in (b"fine", b"no\xfftext")]
    for name in names:
        (tmp_path / name).mkdir()
        write(tmp_path / name, a=LOADER)
        (tmp_path / name / os.fsdecode(b"\xfe.py")).write_text(LOADER)
        (tmp_path / name / "b.py").write_text("import torch\nx = (\n")
    words = [sys.executable, "-m", "dllint", "survey", "run", "-o", "found.db", *names]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=100)
    assert b"Traceback" not in done.stderr and b"internal" not in done.stderr, done.stderr
    rows = Database(str(tmp_path / "found.db")).rows("SELECT name, outcome, reason FROM source ORDER BY name")
    assert [(name, outcome) for name, outcome, _ in rows] == [("fine", "ok"), ("no\\udcfftext", "ok")], rows
    found = Database(str(tmp_path / "found.db")).rows("SELECT DISTINCT path FROM finding WHERE code = 'DLL103'")
    assert {path for (path,) in found} == {"a.py", "\\udcfe.py"}
