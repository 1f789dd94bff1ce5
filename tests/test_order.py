"""Answers depend on the program alone: files, rules and questions in any order give the same findings and routes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.order import Files, alone, differences, findings, rewritten, rules
from tests.rewritten import renamed

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


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_rewriting(folder: Path) -> None:
    files = Files(folder)
    assert renamed(files.texts)[1], "nothing is renamed"
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
