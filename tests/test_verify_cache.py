"""Stored answers are those of a run without any: `--verify-cache` compares them, here after random edits.

`DLLINT_EDITS=100 pytest -m slow tests/test_verify_cache.py` makes so many edits in each of five packages; a failure
names the edit and its seed.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from dllint.cli import cli
from dllint.editor.workbench import Workbench
from dllint.engine import Request, check, verified, verify
from dllint.engine.result import Result
from tests import mutations

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "training"
PACKAGES = ("torch/utils/data", "torch/multiprocessing", "torch/distributed/elastic", "fsspec", "multiprocessing")
EDITS = int(os.environ.get("DLLINT_EDITS", "100"))
FEW = 12
_TOP = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


class Edits:
    """Random changes of a folder's files: mutations, names that come and go, files that come, move and go."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self._rng = random.Random(seed)
        self._first = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
        self._number = 0

    def make(self) -> str:
        """Change one file; what was done."""
        self._number += 1
        files = sorted(self.folder.rglob("*.py"))
        path = self._rng.choice(files)
        text = path.read_text(encoding="utf-8")
        kind = self._rng.choice(["mutate", "mutate", "mutate", "rename", "comment", "restore", "new", "move", "delete"])
        match kind:
            case "mutate":
                path.write_text(mutations.mutated(self._rng, text), encoding="utf-8")
            case "rename":
                path.write_text(self._renamed(text), encoding="utf-8")
            case "comment":
                path.write_text(f"# {self._number}\n{text}", encoding="utf-8")
            case "new":
                self._new(path)
            case "move":
                path.rename(path.with_name(f"moved{self._number}.py"))
            case "delete" if len(files) > len(self._first) // 2:
                path.unlink()
            case _:
                path = self._rng.choice([*self._first])
                path.write_text(self._first[path], encoding="utf-8")
        return f"edit {self._number}: {kind} {path.relative_to(self.folder)}"

    def _renamed(self, text: str) -> str:
        """A name that is defined is not any more, or is another one."""
        names = _TOP.findall(text)
        if not names:
            return text + "\n\ndef added(*args, num_workers=2):\n    return args\n"
        return re.sub(rf"^(def|class) {self._rng.choice(names)}\b", r"\1 another", text, flags=re.MULTILINE)

    def _new(self, other: Path) -> None:
        """A module that uses an existing one and starts workers."""
        program = self._rng.choice(mutations.PROGRAMS)
        text = f"from {other.stem} import *\nfrom .{other.stem} import *\n{mutations.IMPORTS}{program}"
        (other.parent / f"new{self._number}.py").write_text(text, encoding="utf-8")


def compare(source: Path, folder: Path, edits: int, seed: int) -> int:
    """The findings seen on the way, after each edit the same with stored answers, without, and in an editor."""
    shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    script, seen = Edits(folder / source.name, seed), 0
    request = Request(paths=(str(script.folder),), isolated=True, cache_dir=str(folder / "cache"))
    bench = Workbench(request)
    for _ in range(edits):
        told = script.make()
        result = verified(request)
        assert result.crashes == (), f"seed {seed}, {told}"
        assert bench.refresh()
        view = bench.view(exact=True)
        shown = [(finding.path, finding.span, finding.code, finding.message) for finding in view.findings]
        fresh = [(finding.path, finding.span, finding.code, finding.message) for finding, _ in result.findings]
        assert shown == fresh, f"seed {seed}, {told}, in the editor"
        seen += len(fresh)
    return seen


def test_some_edits(tmp_path: Path) -> None:
    assert compare(EXAMPLE, tmp_path, FEW, 0) > FEW


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_many_edits(tmp_path: Path, package: str) -> None:
    spec = find_spec(package.partition("/")[0])
    assert spec is not None and spec.origin is not None
    source = Path(spec.origin).parent.joinpath(*package.split("/")[1:])
    print(package, compare(source, tmp_path, EDITS, PACKAGES.index(package)), "findings")


def forged(request: Request) -> Result:
    """A run; with the cache, the first finding is lost."""
    result = check(request)
    return msgspec.structs.replace(result, findings=result.findings[request.cache :])


def test_a_difference_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cache = shutil.copytree(EXAMPLE, tmp_path / "training"), tmp_path / "cache"
    request = Request(paths=(str(folder),), isolated=True, cache_dir=str(cache))
    usual = check(request)
    result = verify.verified(request, forged)
    assert len(result.findings) == len(usual.findings), "what a run without the cache finds is reported"
    first = usual.findings[0][0]
    place = f"{first.path}:{usual.source(first.path).place(first.span.start)}"
    assert result.crashes == (f"stored answers differ, only without the cache: {place}: {first.code}",)

    command = ["check", "--verify-cache", "--isolated", "--cache-dir", str(cache), str(folder)]
    done = CliRunner().invoke(cli, command)
    assert (done.exit_code, done.stderr.count("stored answers differ")) == (1, 0)
    monkeypatch.setattr("dllint.engine.check", forged)
    done = CliRunner().invoke(cli, command)
    assert (done.exit_code, done.stderr.count("stored answers differ")) == (2, 1)


@pytest.mark.parametrize("option", ["--no-cache", "--fix", "--add-noqa", "--diff"])
def test_what_makes_no_sense_with_it(option: str) -> None:
    done = CliRunner().invoke(cli, ["check", "--verify-cache", option, str(EXAMPLE)])
    assert (done.exit_code, "--verify-cache cannot be combined" in done.stderr) == (2, True)
