"""Findings of severity `info`: reported where a selector names their rule, and withheld from everyone else."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.editor.workbench import Workbench
from dllint.engine import Request, check, why
from dllint.finding import Severity
from dllint.registry import Layer

SMALL = """\
import os

from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, folder):
        self.names = os.listdir(folder)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.names[index]


def main(folder):
    return DataLoader(Images(folder), num_workers=2)
"""
ROW = 8


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "images.py").write_text(SMALL)
    return tmp_path


def told(project: Path, layer: Layer = Layer(), cache_dir: str = "") -> list[tuple[str, Severity]]:  # noqa: B008
    request = Request(paths=(str(project),), layer=layer, cache=bool(cache_dir), cache_dir=cache_dir)
    return [(finding.code, finding.severity) for finding, _ in check(request).findings]


FOUND = [("DLL201", Severity.INFO)]


def test_a_small_list_is_not_reported_unasked(project: Path) -> None:
    assert told(project) == []
    assert Workbench(Request(paths=(str(project),))).view().findings == ()


def test_its_message_says_from_what_size_it_matters(project: Path) -> None:
    findings = check(Request(paths=(str(project),), layer=Layer(select=("DLL201",)), cache=False)).findings
    assert " entries on it matters that every worker copies it page by page as it reads" in findings[0][0].message


@pytest.mark.parametrize(
    "layer",
    [
        Layer(select=("ALL",)),
        Layer(select=("memory",)),
        Layer(extend_select=("path-list-on-dataset",)),
        Layer(extend_select=("DLL2",)),
    ],
)
def test_it_is_for_those_who_select_its_rule(project: Path, layer: Layer) -> None:
    assert told(project, layer) == FOUND


@pytest.mark.parametrize(
    ("config", "found"),
    [('extend-select = ["DLL201"]', FOUND), ('select = ["DLL"]', FOUND), ('extend-select = ["DLL204"]', [])],
)
def test_the_configuration_selects_it_as_well(project: Path, config: str, found: list[tuple[str, Severity]]) -> None:
    (project / "dllint.toml").write_text(config)
    assert told(project) == found


def test_what_is_remembered_for_one_choice_is_not_told_for_another(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache, named = str(tmp_path_factory.mktemp("cache")), Layer(extend_select=("DLL201",))
    assert [told(project, layer, cache) for layer in (Layer(), named, Layer(), named)] == [[], FOUND, [], FOUND]


def test_only_those_who_select_it_get_its_fix(project: Path) -> None:
    check(Request(paths=(str(project),), fix=True, unsafe_fixes=True))
    assert (project / "images.py").read_text() == SMALL
    check(Request(paths=(str(project),), layer=Layer(select=("DLL201",)), fix=True, unsafe_fixes=True))
    assert "np.array" in (project / "images.py").read_text()


def test_a_comment_that_silences_it_is_of_use(project: Path) -> None:
    (project / "images.py").write_text(SMALL.replace("(folder)\n\n", "(folder)  # noqa: DLL201\n\n", 1))
    assert "noqa" in (project / "images.py").read_text()
    assert told(project, Layer(extend_select=("DLL901",))) == []


def test_why_says_how_to_see_it(project: Path) -> None:
    lines = why(Request(paths=(str(project),)), str(project / "images.py"), ROW)
    assert any("only info here, which `--extend-select DLL201` reports" in line for line in lines), lines
