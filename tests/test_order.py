"""Answers depend on the program alone: files, rules and questions in any order give the same findings and routes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dllint.project.evaluate import fixpoint
from tests.order import Files, alone, differences, findings, rewritten, rules
from tests.rewritten import moved, renamed

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = [
    ROOT / "examples" / "training",
    ROOT / "tests" / "project",
    ROOT / "examples" / "monorepo",
]
PROJECTS = os.environ.get("DLLINT_ORDER", "")
"""Folders of projects for the long test, separated like a search path."""
PERMUTATIONS = int(os.environ.get("DLLINT_PERMUTATIONS", "20"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_order(folder: Path) -> None:
    files = Files(folder)
    assert findings(files.project(), rules()), "nothing is found, so nothing is compared"
    assert list(differences(files, permutations=3, seed=0)) == []


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_depth(folder: Path, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few questions open at a time make most answers provisional at first: none of these may be kept."""
    files = Files(folder)
    usual = findings(files.project(), rules())
    monkeypatch.setattr(fixpoint, "MAX_DEPTH", depth)
    assert findings(files.project(), rules()) == usual


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_rewriting(folder: Path) -> None:
    files = Files(folder)
    assert renamed(files.texts)[1], "nothing is renamed"
    assert moved(files.texts)[1], "no file gets another name"
    assert list(rewritten(files)) == []


MAKER = """from torch.utils.data import DataLoader


def plain(batch):
    return batch


def make(collate):
    return DataLoader(range(4), num_workers=2, collate_fn=collate)
"""


def callers(number: int, collate: str) -> str:
    """A wrapper of `make` with ten callers."""
    called = "".join(f"\n\ndef user{number}_{each}():\n    return wrapper{number}()\n" for each in range(10))
    return f"from lib import make, plain\n\n\ndef wrapper{number}():\n    return make({collate})\n{called}"


def calls(count: int, collate: str) -> str:
    """As many callers of `make`."""
    called = (f"\n\ndef build{number}():\n    return make({collate})\n" for number in range(count))
    return f"from lib import make, plain\n{''.join(called)}"


PROGRAMS = {
    "more calls of callers than are told apart": {
        "lib.py": MAKER,
        "a_lambda.py": callers(9, "lambda batch: batch"),
        **{f"m{number}.py": callers(number, "plain") for number in range(9)},
    },
    "more calls than are told apart": {
        "lib.py": MAKER,
        "a_lambda.py": calls(1, "lambda batch: batch").replace("build", "last"),
        "many.py": calls(150, "plain"),
    },
    "a loader that asks for the platform beside one that asks for CUDA": {
        "a.py": """import u

from torch.utils.data import DataLoader


def aside(cfg, n_jobs=0):
    return list(DataLoader(cfg, num_workers=n_jobs))
""",
        "b.py": """import torch
from torch.utils.data import DataLoader


def second():
    cuda = torch.cuda.is_available()
    workers = 4 if cuda else 0
    return list(DataLoader(range(4), num_workers=workers, collate_fn=lambda b: b))


if __name__ == "__main__":
    second()
""",
        "u.py": "import sys\n\nn_jobs = sys.platform\n",
    },
}


@pytest.mark.parametrize("texts", PROGRAMS.values(), ids=PROGRAMS)
def test_rewriting_of_programs(texts: dict[str, str]) -> None:
    files = Files(texts=texts)
    assert moved(files.texts)[1], "no file gets another name"
    found = findings(files.project(), rules())
    assert any("DLL103" in line for line in found), found
    assert list(rewritten(files)) == []


def test_one_rule_finds_what_all_find() -> None:
    files = Files(ROOT / "tests" / "project")
    together = findings(files.project(), rules())
    assert together, "nothing is found, so nothing is compared"
    assert sorted(line for found in alone(files).values() for line in found) == together


@pytest.mark.slow
@pytest.mark.skipif(not PROJECTS, reason="DLLINT_ORDER names no projects")
@pytest.mark.parametrize("folder", [Path(name) for name in PROJECTS.split(os.pathsep) if name], ids=lambda f: f.name)
def test_order_of_projects(folder: Path) -> None:
    files = Files(folder)
    assert list(differences(files, PERMUTATIONS, seed=1)) == []
    assert list(rewritten(files)) == []
