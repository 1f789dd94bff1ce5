"""The example project: pages show what dllint says of it; what its fixes make of it trains everywhere.

`DLLINT_UPDATE=1 pytest tests/test_example.py` writes the output into the pages again.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SHOWN = re.compile(r"(?<=<!-- run: )(?P<command>dllint [^\n]*)( -->\n+```\w+\n)(?P<output>.*?)(?=```)", re.DOTALL)
ENV = {
    **{name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "CLICOLOR_FORCE"}},
    "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "rules"))),
    "OMP_NUM_THREADS": "1",
}
TORCH = importlib.util.find_spec("torch") is not None
REQUIRED = bool(os.environ.get("DLLINT_REQUIRE_TORCH"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of `examples/`."""
    ignore = shutil.ignore_patterns("reviews", "__pycache__")
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=ignore)
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=folder, env=ENV, capture_output=True, text=True, timeout=120)


def shown(folder: Path, command: str) -> str:
    """What a person sees who types a command."""
    done = run(folder, "-m", *shlex.split(command))
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


COMMANDS = [
    pytest.param(page, match["command"], id=f"{page.name}: {match['command']}")
    for page in PAGES
    for match in SHOWN.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "command"), COMMANDS)
def test_the_documentation_shows_real_output(page: Path, command: str, copy: Path) -> None:
    output = shown(copy, command)
    text = page.read_text(encoding="utf-8")
    if os.environ.get("DLLINT_UPDATE"):
        text = SHOWN.sub(lambda m: m[1] + m[2] + output if m["command"] == command else m[0], text)
        page.write_text(text, encoding="utf-8")
    assert [match["output"] for match in SHOWN.finditer(text) if match["command"] == command] == [output]


def test_readme_shows_something() -> None:
    assert any(parameter.values[0].name == "README.md" for parameter in COMMANDS)


@pytest.mark.torch
@pytest.mark.skipif(os.name != "posix", reason="fork and forkserver exist on Linux and macOS only")
@pytest.mark.skipif(not TORCH and not REQUIRED, reason="torch is not installed: pip install torch")
def test_the_example_trains_everywhere_once_it_is_fixed(copy: Path) -> None:
    project = copy / "examples" / "training"
    train = ("train.py", "--workers", "1", "--epochs", "2", "--start-method")  # each epoch's workers import torch
    assert run(project, "make_reviews.py").returncode == 0
    assert run(project, *train, "fork").returncode == 0
    assert "PicklingError" in run(project, *train, "spawn").stderr
    fixed = run(project, "-m", "dllint", "check", "--fix", "--unsafe-fixes", ".")
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr
    trained = {method: run(project, *train, method) for method in ("fork", "spawn", "forkserver")}
    assert {method: done.stderr for method, done in trained.items() if done.returncode} == {}
    assert len({done.stdout for done in trained.values()}) == 1, "the same losses under every start method"
