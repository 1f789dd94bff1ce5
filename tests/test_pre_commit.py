"""The hooks, run by pre-commit itself from a clone of this repository, in the environment that it makes for them."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lint import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]
FINDING = re.compile(r"^\S+:\d+:\d+: DLL\d{3} .*$", re.MULTILINE)


def git(folder: Path, *args: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment of the hooks."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This repository as it is now, committed."""
    place = tmp_path_factory.mktemp("clone") / "dllint"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "all")
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The example project in a repository of its own, and an excluded file with a finding."""
    place = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "training", place, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(place, place / "old", ignore=shutil.ignore_patterns("old"))
    (place / "old" / "pyproject.toml").unlink()
    (place / "dllint.toml").write_text('extend-exclude = ["old/"]\n')
    git(place, "init", "-q")
    git(place, "add", "-A")
    return place


def hook(project: Path, clone: Path, home: Path, name: str, *files: str) -> tuple[int, list[str]]:
    """What a hook says of files, of all files when none is named."""
    chosen = ["--files", *files] if files else ["--all-files"]
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(clone), name, "--verbose", *chosen]
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "DLLINT_CACHE_DIR")}
    env |= {"PRE_COMMIT_HOME": str(home), "DLLINT_NO_CACHE": "1"}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done.returncode, sorted(FINDING.findall(done.stdout))


def standalone(project: Path, *files: str) -> list[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules"))), "DLLINT_NO_CACHE": "1"}
    command = [sys.executable, "-m", "dllint", "check", *files]
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    return sorted(done.stdout.splitlines())


def test_hooks_find_what_the_command_finds(project: Path, clone: Path, home: Path) -> None:
    every = standalone(project)
    assert len(every) == 8
    assert hook(project, clone, home, "dllint") == (1, every), "all files, the excluded ones among them"
    own = [line for line in every if line.startswith("vocab.py")]
    assert own
    assert hook(project, clone, home, "dllint", "vocab.py") == (1, own), "one changed file, judged in its project"
    assert hook(project, clone, home, "dllint", "old/vocab.py") == (0, [])
    assert hook(project, clone, home, "dllint", "README.md") == (0, [])
    assert hook(project, clone, home, "dllint-project", "vocab.py") == (1, every)


def test_the_fixing_hook_fails_when_it_changed_something(project: Path, clone: Path, home: Path) -> None:
    before = (project / "vocab.py").read_text()
    (project / "vocab.py").write_text(before.replace("lambda: UNK_ID", "lambda: 0"))
    git(project, "add", "-A")
    status, _ = hook(project, clone, home, "dllint-fix", "vocab.py")
    assert status == 1
    assert "defaultdict(int)" in (project / "vocab.py").read_text()
    git(project, "add", "-A")
    assert hook(project, clone, home, "dllint-fix") == (0, []), "what is left is for the other hook to say"


def test_the_hook_for_containers(project: Path, clone: Path, home: Path) -> None:
    compose = "services:\n  train:\n    image: pytorch/pytorch\n    command: python train.py\n"
    (project / "compose.yaml").write_text(compose)
    git(project, "add", "-A")
    expected = standalone(project, "--select", "DLL502", "compose.yaml")
    assert [line.split()[1] for line in expected] == ["DLL502"]
    assert hook(project, clone, home, "dllint-containers", "compose.yaml") == (1, expected)
