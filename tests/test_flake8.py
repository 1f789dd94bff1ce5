"""flake8's plugin, run by flake8 itself: it reports what the standalone command reports, place by place."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dllint import __version__
from tests.test_cli import PROGRAM, REPOSITORY

pytestmark = pytest.mark.skipif(importlib.util.find_spec("flake8") is None, reason="flake8 is not installed")

DATA = """\
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, names):
        self.names = names
        self.clean = lambda text: text.strip()  # Größe 中文

    def __getitem__(self, index):
        return self.clean(self.names[index])

    def __len__(self):
        return len(self.names)
"""
TRAIN = """\
from torch.utils.data import DataLoader

from data import Words

if __name__ == "__main__":
    größe = "中文"; loader = DataLoader(Words(3), num_workers=2, collate_fn=lambda b: b)
"""
METADATA = f"Metadata-Version: 2.1\nName: dllint\nVersion: {__version__}\n"
COUNTING = """\
import dllint.engine
from dllint.flake8 import Plugin as Plugin

ask = dllint.engine.check


def check(request):
    with open("asked", "a") as stream:
        stream.write("asked\\n")
    return ask(request)


dllint.engine.check = check
"""
SPAWNED = """\
import multiprocessing, sys
from flake8.main.cli import main

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of several files, whose hazard is only seen across them; an installation that announces the plugin."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "dllint.toml").touch()
    (project / "data.py").write_text(DATA, encoding="utf-8")
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    (project / "words.py").write_text(PROGRAM, encoding="utf-8")
    (project / "other.py").write_text("x = 1\n", encoding="utf-8")
    announce(tmp_path / "site", "dllint.flake8:Plugin")
    return project


def announce(site: Path, plugin: str) -> None:
    """The metadata of an installed dllint, found before any other."""
    info = site / f"dllint-{__version__}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(f"[flake8.extension]\nDLL = {plugin}\n")


def run(folder: Path, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A command in the project, with the plugin announced."""
    paths = (folder.parent / "site", REPOSITORY, REPOSITORY / "rules")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONUTF8": "1"}
    done = subprocess.run(command, cwd=folder, env=env, input=stdin.encode(), capture_output=True, check=False)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def flake8(folder: Path, *args: str, stdin: str = "") -> list[str]:
    done = run(folder, sys.executable, "-m", "flake8", "--select", "DLL", *args, stdin=stdin)
    assert done.returncode in (0, 1), done.stderr
    assert not done.stderr
    return sorted(line.removeprefix("./") for line in done.stdout.splitlines())


def standalone(folder: Path, *args: str) -> list[str]:
    done = run(folder, sys.executable, "-m", "dllint", "check", "--no-cache", *args)
    assert done.returncode in (0, 1), done.stderr
    return sorted(done.stdout.splitlines())


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.slow), "4"])
def test_it_reports_what_the_standalone_reports(
    folder: Path, jobs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DLLINT_CACHE_DIR", str(tmp_path / "cache"))
    expected = standalone(folder)
    assert len(expected) >= 3
    assert any(line.startswith("data.py:7:22: DLL102 ") for line in expected), "seen across files"
    assert any(line.startswith("train.py:6:75: DLL103 ") for line in expected), "columns are characters"
    assert flake8(folder, "-j", jobs, ".") == expected, "with an empty cache"
    assert flake8(folder, "-j", jobs, ".") == expected, "with a full one"
    assert flake8(folder, "-j", jobs, "data.py") == [line for line in expected if line.startswith("data.py")]


@pytest.mark.parametrize("way", [pytest.param("fork", marks=pytest.mark.slow), "spawn"])
def test_the_project_is_checked_once_however_workers_start(folder: Path, way: str, tmp_path: Path) -> None:
    announce(tmp_path / "site", "counting:Plugin")
    (tmp_path / "site" / "counting.py").write_text(COUNTING)
    (tmp_path / "site" / "spawned.py").write_text(SPAWNED)
    command = ["-m", "flake8"] if way == "fork" else [str(tmp_path / "site" / "spawned.py")]
    done = run(folder, sys.executable, *command, "--select", "DLL", "-j", "4", ".")
    assert sorted(line.removeprefix("./") for line in done.stdout.splitlines()) == standalone(folder), done.stderr
    assert (folder / "asked").read_text() == "asked\n"


def test_the_configuration_counts_and_flake8_may_ask_for_more(folder: Path) -> None:
    (folder / "dllint.toml").write_text('ignore = ["DLL101"]\nextend-exclude = ["train.py"]\n')
    quiet = flake8(folder, ".")
    assert quiet == standalone(folder)
    assert not any("DLL101" in line or "train.py" in line for line in quiet)
    (folder / "off.py").write_text("from torch.utils.data import DataLoader\nDataLoader([1], num_workers=0)\n")
    assert flake8(folder, "off.py") == []
    assert [line.split()[1] for line in flake8(folder, "--extend-select", "DLL605", "off.py")] == ["DLL605"]


def test_comments_silence_as_they_do_without_flake8(folder: Path) -> None:
    text = DATA.replace("# Größe", "# dllint: ignore[DLL102] Größe")
    (folder / "data.py").write_text(text, encoding="utf-8")
    assert flake8(folder, "data.py") == []
    (folder / "data.py").write_text(text.replace("dllint: ignore[DLL102]", "noqa: DLL102"), encoding="utf-8")
    assert flake8(folder, "data.py") == []
    assert flake8(folder, "words.py")


def test_standard_input_is_the_file_in_an_editor(folder: Path) -> None:
    (expected,) = standalone(folder, "data.py")
    edited = "# Größe\r\n" + DATA.replace("\n", "\r\n")
    assert flake8(folder, "--stdin-display-name", "data.py", "-", stdin=edited) == [expected.replace(":7:", ":8:")]
    assert flake8(folder, "--stdin-display-name", "data.py", "-", stdin="x = 1\n") == []


def test_syntax_errors_are_told_by_flake8_alone(folder: Path) -> None:
    (folder / "bad.py").write_text("from torch.utils.data import DataLoader\nx = (\n")
    assert flake8(folder, "bad.py") == []
    assert "E902" in run(folder, sys.executable, "-m", "flake8", "none.py").stdout
    assert "E999" in run(folder, sys.executable, "-m", "flake8", "bad.py").stdout


@pytest.mark.parametrize(
    ("config", "args", "told"),
    [
        ("selct = []\n", [], "unknown key `selct`; did you mean `select`?"),
        ("", ["--extend-select", "DLL77"], "unknown rule selector 'DLL77'"),
    ],
)
def test_what_a_person_must_correct_is_flake8s_failure(folder: Path, config: str, args: list[str], told: str) -> None:
    (folder / "dllint.toml").write_text(config)
    done = run(folder, sys.executable, "-m", "flake8", *args, ".")
    assert done.returncode == 1
    assert told in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_version_costs_no_engine(folder: Path) -> None:
    code = (
        "import sys; sys.argv[1:] = ['--version']\nfrom flake8.main.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([n for n in ('libcst', 'msgspec', 'dllint.engine', 'dllint_rules') if n in sys.modules])"
    )
    printed = run(folder, sys.executable, "-c", code).stdout
    assert f"dllint: {__version__}" in printed, "it is announced as a plugin"
    assert printed.endswith("[]\n")
