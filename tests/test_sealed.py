"""Nothing of a checked repository is ever run: no program that its git configuration names, no package in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dllint import sealed
from tests.github import commit, git

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs of the configuration are shell scripts")

LOADER = "from torch.utils.data import DataLoader\nDataLoader([1], num_workers=2, collate_fn=lambda b: b)\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repository with two commits and changed files, whose configuration runs a script wherever git lets it."""
    top = tmp_path / "repository"
    top.mkdir()
    git(top, "init", "-q", "-b", "main")
    (top / ".gitattributes").write_text("*.py filter=evil diff=evil\nb.py filter=a.b\n")
    (top / "dllint.toml").touch()
    for name in ("a.py", "b.py"):
        (top / name).write_text("x = 1\n")
    commit(top)
    (top / "a.py").write_text(LOADER)
    commit(top)
    (top / "b.py").write_text(LOADER)
    (top / "new.py").write_text(LOADER)
    os.utime(top / "a.py", (1, 1))  # git compares what looks touched
    script = tmp_path / "evil"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {tmp_path / "run"}\ncat\n')
    script.chmod(0o755)
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (top / ".git" / "hooks" / hook).write_bytes(script.read_bytes())
        (top / ".git" / "hooks" / hook).chmod(0o755)
    lines = [f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n\tsshCommand = {script}\n\taskPass = {script}"]
    lines += [f"\thooksPath = {top / '.git' / 'hooks'}\n\teditor = {script}\n\tgitProxy = {script}"]
    for name in ("evil", "a.b"):
        lines.append(f'[filter "{name}"]\n\tclean = {script}\n\tsmudge = {script}\n\tprocess = {script}\n\trequired')
    lines += [f"[diff]\n\texternal = {script}", f'[diff "evil"]\n\tcommand = {script}\n\ttextconv = {script}']
    lines += [f"[pager]\n\tdiff = {script}\n[credential]\n\thelper = !{script}\n[extensions]\n\tpartialClone = origin"]
    lines += [f'[remote "origin"]\n\turl = "ext::{script}"\n\tpromisor = true\n\tuploadpack = {script}']
    with (top / ".git" / "config").open("a") as stream:
        stream.write("\n".join(lines) + "\n")
    return top


def dllint(top: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dllint", *words]
    return subprocess.run(command, cwd=cwd or top, capture_output=True, text=True, check=False, timeout=120)


def test_a_hostile_configuration_would_run(hostile: Path) -> None:
    """What the other tests refuse does run where git is left alone."""
    subprocess.run(["git", "status"], cwd=hostile, capture_output=True, check=False)
    assert (hostile.parent / "run").exists()


def test_the_base_of_a_change_runs_nothing(hostile: Path) -> None:
    done = dllint(hostile, "check", "--diff-base", "HEAD~1", "--no-cache", "--output-format", "pylint")
    assert not (hostile.parent / "run").exists(), (hostile.parent / "run").read_text()
    assert done.returncode == 1, done.stderr
    assert {line.partition(":")[0] for line in done.stdout.splitlines()} == {"a.py", "b.py", "new.py"}


def test_a_review_runs_nothing(hostile: Path) -> None:
    for name in ("b.py", "new.py"):
        (hostile / name).unlink()
    done = dllint(hostile, "review", "--base", "HEAD~1")
    assert done.returncode in (0, 1), done.stderr
    assert not (hostile.parent / "run").exists(), (hostile.parent / "run").read_text()


def test_a_survey_runs_nothing(hostile: Path) -> None:
    pytest.importorskip("psutil")
    dllint(hostile, "survey", "run", "--output", "found.db", f"{hostile}@HEAD", str(hostile), cwd=hostile.parent)
    assert not (hostile.parent / "run").exists(), (hostile.parent / "run").read_text()


def test_what_a_partial_clone_lacks_is_not_fetched_and_said(hostile: Path) -> None:
    base = git(hostile, "rev-parse", "HEAD~1:a.py").strip()
    (hostile / ".git" / "objects" / base[:2] / base[2:]).unlink()
    (hostile.parent / "run").unlink(missing_ok=True)
    done = dllint(hostile, "check", "--diff-base", "HEAD~1", "--no-cache")
    assert not (hostile.parent / "run").exists(), (hostile.parent / "run").read_text()
    assert done.returncode == 2
    assert "this clone is partial" in done.stderr


def test_a_filter_that_cannot_be_switched_off_is_refused(hostile: Path) -> None:
    with pytest.raises(sealed.Unsafe):
        sealed.without_filters(["filter.a=b.clean"])
    with (hostile / ".git" / "config").open("a") as stream:
        stream.write('[filter "a=b"]\n\tclean = false\n')
    done = dllint(hostile, "check", "--diff-base", "HEAD~1", "--no-cache")
    assert (done.returncode, "cannot be switched off" in done.stderr) == (2, True)


def test_a_package_in_the_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "a.py").write_text(LOADER)
    mark = f"open({str(tmp_path / 'run')!r}, 'w').close()\n"
    for name in ("evil", "click", "msgspec", "dllint_rules", "sitecustomize", "json", "yaml"):
        (tmp_path / f"{name}.py").write_text(mark)
    (tmp_path / "evil.egg-info").mkdir()
    (tmp_path / "evil.egg-info" / "entry_points.txt").write_text(
        "[dllint.rules]\nevil = evil\n[dllint.plugins]\nx = evil\n"
    )
    (tmp_path / "evil.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    done = dllint(tmp_path, "check", "--no-cache", "--select", "DLL103", "a.py")
    assert not (tmp_path / "run").exists()
    assert "DLL103" in done.stdout
