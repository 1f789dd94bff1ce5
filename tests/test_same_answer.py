"""However dllint is run, one project gives the same findings and fixes: jobs, hash seeds, caches, edits, editors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dllint.editor.workbench import Workbench
from dllint.engine import Request

ROOT = Path(__file__).resolve().parent.parent
ARGUMENTS = ("--isolated", "--exit-zero", "--select", "ALL", "--output-format", "json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "training"
    shutil.copytree(ROOT / "examples" / "training", made)
    return made


def check(folder: Path, *arguments: str, seed: str = "0", paths: tuple[str, ...] = (".",)) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "dllint", "check", *ARGUMENTS, *arguments, *paths],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_jobs_hash_seeds_and_arguments(folder: Path) -> None:
    usual = check(folder, "--no-cache", "-j", "1")
    assert any(row["fix"] and row["related"] for row in usual), "nothing that could differ"
    assert check(folder, "--no-cache", "-j", "2") == usual
    assert [check(folder, "--no-cache", "-j", "1", seed=seed) for seed in ("1", "2", "3")] == [usual] * 3
    files = sorted((path.relative_to(folder).as_posix() for path in folder.rglob("*.py")), reverse=True)
    assert check(folder, "--no-cache", paths=tuple(files)) == usual


def test_caches_and_edits(folder: Path, tmp_path: Path) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    usual = check(folder, "--no-cache")
    assert [check(folder, *cache), check(folder, *cache)] == [usual, usual], "cold and warm"
    for place in sorted(folder.rglob("*.py")):
        text = place.read_bytes()
        place.write_bytes(b"raise SystemExit\n" + text.replace(b"lambda", b"print and lambda"))
        assert check(folder, *cache) == check(folder, "--no-cache"), f"{place.name} is another one"
        place.write_bytes(text)
        assert check(folder, *cache) == usual, f"{place.name} is as it was"


def test_an_editor_finds_what_a_run_finds(folder: Path) -> None:
    bench = Workbench(Request(paths=(str(folder),), isolated=True))
    first = [(finding.path, finding.span, finding.message) for finding in bench.view(exact=True).findings]
    assert first, "nothing that could differ"
    for place in sorted(folder.rglob("*.py")):
        name, text = place.relative_to(folder).as_posix(), place.read_bytes()
        for data in (text.replace(b"lambda", b"print and lambda"), text, None):
            bench.put(name, data)
            found = bench.view(exact=True).findings
        assert [(finding.path, finding.span, finding.message) for finding in found] == first, name
    rows = check(folder, "--no-cache")
    assert {(Path(row["filename"]).name, row["message"]) for row in rows} >= {
        (Path(path).name, message) for path, _, message in first
    }
