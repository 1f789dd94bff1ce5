"""Several projects below one folder: each is checked as if it were asked about alone, in processes if they are many."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dllint.engine import Request, Result, check, plan, several
from dllint.reduce import child
from dllint.registry import Layer
from tests.lint import ROOT
from tests.test_cache import settle
from tests.test_cli import CONCISE, PROGRAM, dllint
from tests.test_verdict import judged

__all__ = ["judged", "settle"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three projects: two with a hazard, and a harmless one further down."""
    for name, text in (("first", PROGRAM), ("second", PROGRAM), ("more/third", "x = 1\n")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "pyproject.toml").touch()
        (tmp_path / name / "words.py").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that were started, for however few files; none is left behind."""
    found: list[subprocess.Popen[bytes]] = []
    real = child.start

    def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
        found.append(real(module, *arguments))
        return found[-1]

    monkeypatch.setattr(child, "start", start)
    monkeypatch.setattr(several, "WORTH", 0)
    yield found
    assert all(process.poll() is not None for process in found)


def run(*paths: Path, **options: Any) -> Result:
    return check(Request(paths=tuple(map(str, paths)), **options))


def told(result: Result) -> list[str]:
    """The findings as one reads them, with all that a report says of them."""
    return [
        f"{finding.path}:{result.source(finding.path).place(finding.span.start)} {finding.code} {finding.message} "
        f"{[(note.path, note.span, note.text) for note in finding.notes]} {finding.anchors} "
        f"{fix and [(edit.path, edit.span, edit.text) for edit in fix.edits]}"
        for finding, fix in result.findings
    ]


def test_each_project_is_checked_as_if_alone(folder: Path) -> None:
    result = run(folder)
    alone = run(folder / "first")
    assert result.root == str(folder)
    assert result.targets == {"first/words.py", "second/words.py", "more/third/words.py"}
    assert told(result) == [
        line.replace("words.py", f"{name}/words.py") for name in ("first", "second") for line in told(alone)
    ]
    assert len(told(alone)) == 1


def test_processes_come_to_the_same(folder: Path, started: list[object]) -> None:
    alone = run(folder, jobs=1)
    assert not started
    assert told(run(folder, jobs=2)) == told(alone)
    assert len(started) == 2


def test_a_few_small_projects_are_not_worth_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "start", None)
    assert len(run(folder, jobs=4).findings) == 2


def test_each_has_its_own_configuration(folder: Path) -> None:
    (folder / "first" / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL101"]\n', encoding="utf-8")
    assert [finding.path for finding, _ in run(folder).findings] == ["second/words.py"]


def test_arguments_choose_projects_and_files(folder: Path) -> None:
    asked = run(folder / "more", folder / "second" / "words.py")
    assert asked.targets == {"more/third/words.py", "second/words.py"}


def test_a_folder_with_a_file_of_its_own_is_one_project_and_says_so(folder: Path) -> None:
    (folder / "first" / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL101"]\n', encoding="utf-8")
    (folder / "train.py").write_text("x = 1\n", encoding="utf-8")
    result = run(folder)
    assert [finding.path for finding, _ in result.findings] == ["second/words.py"]
    assert result.checked == 4
    (warning,) = result.warnings
    assert "looks like several projects (first, more/third, second)" in warning
    assert not run(folder / "first").warnings


def test_folders_with_a_setup_script_look_like_projects_too(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "setup.py").write_text("x = 1\n", encoding="utf-8")
    (warning,) = run(tmp_path).warnings
    assert "looks like several projects (first, second)" in warning
    (tmp_path / "dllint.toml").touch()
    assert not run(tmp_path).warnings, "somebody wants it to be one"


@pytest.mark.parametrize("marker", ["dllint.toml", "pyproject.toml", ".git"])
def test_a_project_that_holds_others_is_one_project(folder: Path, marker: str) -> None:
    (folder / "first" / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL101"]\n', encoding="utf-8")
    (folder / marker).mkdir() if marker == ".git" else (folder / marker).touch()
    result = run(folder / "second")
    assert (result.root, [finding.path for finding, _ in result.findings]) == (str(folder), ["second/words.py"])
    assert not run(folder / "first").findings
    assert [finding.path for finding, _ in run(folder).findings] == ["second/words.py"]


def test_a_configuration_that_is_named_makes_one_project(folder: Path) -> None:
    (folder / "first" / "pyproject.toml").write_text('[tool.dllint]\nignore = ["DLL101"]\n', encoding="utf-8")
    named = folder / "other.toml"
    named.touch()
    assert [finding.path for finding, _ in run(folder, config=str(named)).findings] == [
        "first/words.py",
        "second/words.py",
    ]


def test_what_would_be_checked(folder: Path) -> None:
    planned = plan(Request(paths=(str(folder),)))
    assert planned.targets == run(folder).targets
    assert set(planned.files) == planned.targets


def test_excluded_folders_hold_no_projects(folder: Path) -> None:
    (folder / "first").rename(folder / "node_modules")
    assert {path.split("/")[0] for path in run(folder).targets} == {"second", "more"}


@pytest.mark.usefixtures("settle")
def test_only_what_changed_is_judged_again(folder: Path, judged: list[str], started: list[object]) -> None:
    options = {"cache": True, "cache_dir": str(folder / ".dllint-cache"), "jobs": 1}
    first = run(folder, **options)
    assert sorted(map(os.path.basename, judged)) == ["first", "second", "third"]
    del judged[:]
    assert told(run(folder, **{**options, "jobs": 2})) == told(first)
    assert not judged and not started
    (folder / "second" / "words.py").write_text("y = 2\n", encoding="utf-8")
    changed = run(folder, **{**options, "jobs": 2})
    assert [finding.path for finding, _ in changed.findings] == ["first/words.py"]
    assert [os.path.basename(root) for root in judged] == ["second"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_fixes_are_written_in_every_project(folder: Path, started: list[object], jobs: int) -> None:
    result = run(folder, fix=True, unsafe_fixes=True, jobs=jobs)
    assert not result.findings
    assert [(item.path, item.code) for item in result.applied] == [
        ("first/words.py", "DLL101"),
        ("second/words.py", "DLL101"),
    ]
    assert [change.before.path for change in result.changes] == ["first/words.py", "second/words.py"]
    for name in ("first", "second"):
        assert "lambda" not in (folder / name / "words.py").read_text(encoding="utf-8")


def test_what_is_not_to_be_written_is_told_only(folder: Path, started: list[object]) -> None:
    result = run(folder, fix=True, unsafe_fixes=True, write=False, jobs=2)
    assert [change.before.text for change in result.changes] == [PROGRAM, PROGRAM]
    assert "lambda" in (folder / "first" / "words.py").read_text(encoding="utf-8")


WORKER = """
import os, sys
from dllint.engine import several, worker
real = worker.checked
def checked(request):
    if request.paths[0].endswith("first"):
        {}
    return real(request)
worker.checked = checked
worker.main()
"""


def _worker(before: str) -> subprocess.Popen[bytes]:
    """A process that does something before it checks the first project."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules")))}
    command = [sys.executable, "-c", WORKER.format(before)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no way to see the children of a process")
def test_copies_end_with_the_process_that_they_are_of(folder: Path) -> None:
    with _worker("import time; time.sleep(600)") as process:
        assert process.stdin
        child.greet(process)
        child.send(process.stdin, msgspec.msgpack.encode(Request(paths=(str(folder / "first"),))))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not (copy := children.read_text(encoding="ascii").strip()):
            time.sleep(0.01)
        process.kill()
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{copy}/exe"):
        assert time.monotonic() < deadline, "the copy goes on"
        time.sleep(0.05)


def test_a_project_that_kills_its_process_is_told_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "start", lambda module: _worker("os.abort()"))
    monkeypatch.setattr(several, "WORTH", 0)
    result = run(folder, jobs=2)
    assert [finding.path for finding, _ in result.findings] == ["second/words.py"]
    assert len(result.crashes) == 1 and result.crashes[0].startswith("first: the process that checked it died")


def test_processes_that_cannot_start_are_done_without(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(folder / "nowhere"))
    monkeypatch.setattr(several, "WORTH", 0)
    assert len(run(folder, jobs=2).findings) == 2


def test_a_broken_file_hides_no_other_project(folder: Path) -> None:
    (folder / "more" / "third" / "words.py").write_text("def f(:\n", encoding="utf-8")
    assert [(finding.path, finding.code) for finding, _ in run(folder / "first", folder / "more").findings] == [
        ("first/words.py", "DLL101")
    ], "as in one project: what matters to no loader is not parsed unless it is named"
    named = run(folder / "first", folder / "more" / "third" / "words.py")
    assert [finding.code for finding, _ in named.findings] == ["DLL101", "DLL900"]


def test_findings_know_which_project_is_theirs(folder: Path) -> None:
    identities = [finding.identity for finding, _ in run(folder).findings]
    assert len(set(identities)) == len(identities) == 2


def test_selected_rules_go_along(folder: Path, started: list[object]) -> None:
    assert not run(folder, layer=Layer(select=("DLL2",)), jobs=2).findings


def test_requests_and_pieces_are_plain_data(folder: Path) -> None:
    piece = several.checked(Request(paths=(str(folder / "first"),)))
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(piece), type=type(piece)) == piece


def test_from_the_command_line(folder: Path) -> None:
    done = dllint(folder, "check", "--no-cache", ".")
    first, second = done.stdout.splitlines()
    assert first.startswith(f"first/{CONCISE}") and second.startswith(f"second/{CONCISE}")
    assert done.returncode == 1
    assert done.stderr.startswith("2 findings in 2 files, 3 checked in 3 projects.")


def test_what_does_not_exist_hides_nothing(folder: Path) -> None:
    done = dllint(folder, "check", "--no-cache", "first/none.py", "second")
    assert done.returncode == 2
    assert done.stdout.startswith(f"second/{CONCISE}")
    assert "error: first/none.py: no such file or folder\n" in done.stderr


def test_a_wrong_configuration_anywhere_is_named(folder: Path) -> None:
    (folder / "second" / "pyproject.toml").write_text("[tool.dllint]\nselekt = []\n", encoding="utf-8")
    done = dllint(folder, "check", "--no-cache", ".")
    assert done.returncode == 2
    assert "second" in done.stderr and "selekt" in done.stderr
