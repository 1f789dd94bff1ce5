"""Processes beside this one: the same facts, no hang when one dies or somebody interrupts, no need for them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from dllint.reduce import Collected, pool
from tests.lint import ROOT

PROGRAM = "from torch.utils.data import DataLoader\n\n\ndef f(x):\n    return [g(y) for y in x if y]\n"
WORKER = """
import os, sys
from dllint.reduce import pool, worker
real = worker.collect_file
def collect_file(root, path):
    {}
    return real(root, path)
worker.collect_file = collect_file
worker.main()
"""
"""A worker with something before each file."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Files with their sizes, and a pool that is worth it for them, two or three files a batch."""
    monkeypatch.setattr(pool, "WORTH", 4)
    monkeypatch.setattr(pool, "BATCH", 200)
    for number in range(12):
        (tmp_path / f"f{number}.py").write_text(PROGRAM + f"x = {number}\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text("def f(:\n", encoding="utf-8")
    return [(path.name, path.stat().st_size) for path in tmp_path.iterdir()]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that were started; none is left behind."""
    found: list[subprocess.Popen[bytes]] = []
    real = pool._start

    def start(root: str) -> subprocess.Popen[bytes]:
        found.append(real(root))
        return found[-1]

    monkeypatch.setattr(pool, "_start", start)
    yield found
    assert all(process.poll() is not None for process in found)


def with_worker(monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    """Start workers that do something before each file."""

    def start(root: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", WORKER.format(before), json.dumps(sys.path), root]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    monkeypatch.setattr(pool, "_start", start)


def collected(root: Path, files: list[tuple[str, int]], jobs: int) -> dict[str, tuple[bytes, Collected]]:
    results = list(pool.collect_files(str(root), files, {}, jobs))
    assert sorted(fresh.path for fresh in results) == sorted(path for path, _ in files), "each once"
    return {fresh.path: (fresh.digest, fresh.item) for fresh in results}


def plain(results: dict[str, tuple[bytes, Collected]]) -> object:
    """The results as lists and dictionaries: expressions themselves are only equal to themselves."""
    return {
        path: (contents, msgspec.to_builtins(item, order="deterministic")) for path, (contents, item) in results.items()
    }


def told(results: dict[str, tuple[bytes, Collected]]) -> dict[str, str]:
    """The problem of every file that has one."""
    return {path: item.problem.message for path, (_, item) in results.items() if item.problem}


def test_processes_come_to_the_same(tmp_path: Path, files: list[tuple[str, int]], started: list[object]) -> None:
    alone = collected(tmp_path, files, 1)
    assert not started
    assert plain(collected(tmp_path, files, 3)) == plain(alone)
    assert len(started) == 3
    assert told(alone).keys() == {"broken.py"}


def test_few_files_are_not_worth_it(tmp_path: Path, started: list[object]) -> None:
    (tmp_path / "a.py").write_text(PROGRAM, encoding="utf-8")
    collected(tmp_path, [("a.py", len(PROGRAM))], 4)
    assert not started


def test_an_unsaved_file_is_collected_as_it_is(tmp_path: Path, files: list[tuple[str, int]]) -> None:
    results = list(pool.collect_files(str(tmp_path), files, {"f1.py": b"x = 1\n"}, 2))
    model = next(fresh.item.model for fresh in results if fresh.path == "f1.py")
    assert model is not None and model.bound == {"x"}


@pytest.mark.parametrize("death", ["os._exit(3)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_a_file_that_kills_is_told_of_and_the_others_are_not_lost(
    tmp_path: Path, files: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch, death: str
) -> None:
    with_worker(monkeypatch, f"if path == 'f5.py': {death}")
    problems = told(collected(tmp_path, files, 2))
    assert problems["f5.py"] == "not analyzed: the parser died of it"
    assert problems.keys() == {"f5.py", "broken.py"}


def test_processes_that_cannot_start_are_done_without(
    tmp_path: Path, files: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = collected(tmp_path, files, 1)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    assert plain(collected(tmp_path, files, 2)) == plain(alone)
    monkeypatch.undo()
    with_worker(monkeypatch, "pass")
    monkeypatch.setattr("tests.test_pool.WORKER", "raise SystemExit(1)  # {}")
    monkeypatch.setattr(pool, "WORTH", 4)
    assert plain(collected(tmp_path, files, 2)) == plain(alone)


def test_what_a_library_prints_is_no_answer(
    tmp_path: Path, files: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_worker(monkeypatch, "print('a word', flush=True); os.write(1, b'another')")
    assert told(collected(tmp_path, files, 2)).keys() == {"broken.py"}


def test_nothing_of_the_folder_is_run(
    tmp_path: Path, files: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("libcst", "dllint", "json", "sitecustomize", "usercustomize"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert told(collected(tmp_path, files, 2)).keys() == {"broken.py"}
    assert not (tmp_path / "executed").exists()


def test_who_stops_listening_leaves_no_process(
    tmp_path: Path, files: list[tuple[str, int]], started: list[subprocess.Popen[bytes]]
) -> None:
    results = pool.collect_files(str(tmp_path), files, {}, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert started and all(process.wait(10) is not None for process in started)


def _wait_for_group(group: int, size: int) -> None:
    """Wait until a process group has so many processes."""
    for _ in range(300):
        listed = subprocess.run(["ps", "-A", "-o", "pgid="], capture_output=True, text=True, check=True).stdout.split()
        if listed.count(str(group)) >= size:
            return
        time.sleep(0.1)
    raise AssertionError("no processes were started")


def _heed_interrupts() -> None:
    """What a shell starts in the background ignores SIGINT, and so does whatever that starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt" or not shutil.which("ps"), reason="signals, and `ps` to see who is there")
def test_an_interrupt_ends_it_at_once(tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"f{number}.py").write_text(PROGRAM * 400 + f"x = {number}\n", encoding="utf-8")
    (tmp_path / "dllint.toml").touch()
    command = [sys.executable, "-m", "dllint", "check", "--no-cache", "-j", "2", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules")))}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(  # type: ignore[call-overload]
        command, env=environment, start_new_session=True, preexec_fn=_heed_interrupts, **pipes
    ) as process:
        _wait_for_group(process.pid, 3)  # this one and its two
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everybody gets it
        output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert not b"".join(output).strip(), "no traceback of anybody"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
