"""Hostile archives: none writes outside its folder, none takes more than its limits, each has its outcome."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint.survey.child import Order, outcome
from dllint.survey.limits import MIB, Limits
from dllint.survey.outcome import Outcome
from dllint.survey.trees import identity, tree
from dllint.survey.unit import Settings, survey
from tests import hostile
from tests.hostile import KINDS, Kind

LIMITS = Limits(seconds=30, memory=400, unpacked=32, files=2000)
OUTSIDE = Path(tempfile.gettempdir(), "escaped-from-a-survey.py")


@pytest.fixture
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Kind, Path]]:
    """A hostile archive; nothing but it may have been written when the test is over."""
    kind: Kind = request.param
    path = tmp_path / "in" / "deep" / f"archive-1.0{kind.suffix}"
    path.parent.mkdir(parents=True)
    kind.make(path)
    OUTSIDE.unlink(missing_ok=True)
    yield kind, path
    assert not OUTSIDE.exists()
    left = {place for place in tmp_path.rglob("*") if place.is_file() and "scratch" not in place.parts}
    assert left == {path}


every = pytest.mark.parametrize("archive", KINDS, ids=lambda kind: kind.name, indirect=True)


def size(folder: Path) -> int:
    """The bytes of what was unpacked."""
    return sum(place.lstat().st_size for place in folder.rglob("*") if place.is_file())


@every
def test_it_stays_in_its_folder_and_has_its_outcome(archive: tuple[Kind, Path], tmp_path: Path) -> None:
    kind, path = archive
    scratch = tmp_path / "in" / "scratch"
    scratch.mkdir()
    given = tree(str(path))
    found = outcome(Order(given, identity(given), LIMITS, False, str(scratch)))
    assert found.kind in kind.outcome.split(), found
    assert bool(found.reason) == (found.kind != "ok")
    assert str(scratch) not in found.reason
    assert size(scratch) <= LIMITS.unpacked * MIB
    places = [*scratch.rglob("*")]
    assert len(places) <= LIMITS.files
    assert all(not place.is_symlink() and (place.is_dir() or place.is_file()) for place in places)


def test_there_are_enough_kinds() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 30


@pytest.mark.slow
@every
def test_a_process_says_the_same(archive: tuple[Kind, Path]) -> None:
    kind, path = archive
    found = survey(tree(str(path)), Settings(LIMITS))
    assert found.kind in kind.outcome.split(), found
    assert found.peak_mb <= LIMITS.memory + 150  # what can be added between two looks
    assert found.seconds <= LIMITS.seconds


def _survey(path: Path, limits: Limits) -> Outcome:
    return survey(tree(str(path)), Settings(limits))


def test_a_program_that_takes_long_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "long-1.0.zip"
    hostile.KINDS[0].make(path)
    found = _survey(path, Limits(seconds=0.01))
    assert (found.kind, found.reason) == ("over-time", "it takes more than 0.01 s")


def test_a_program_that_takes_much_memory_is_ended(tmp_path: Path) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    row = "    dict(name='x', path='y', loader=lambda: 0),\n"
    text = f"from torch.utils.data import DataLoader\nrows = [\n{row * 30_000}]\nDataLoader(rows, num_workers=2)\n"
    (folder / "large.py").write_text(text)
    found = _survey(folder, Limits(seconds=60, memory=64))
    assert (found.kind, found.reason) == ("over-memory", "it takes more than 64 MiB of memory")
    assert 64 < found.peak_mb < 400


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    os.mkdir(tmp_path / "scratch")
    for number, kind in enumerate(KINDS[:2]):
        path = tmp_path / f"{number}-1.0{kind.suffix}"
        kind.make(path)
        assert _survey(path, LIMITS).kind == "hostile"
    assert not os.listdir(tmp_path / "scratch")
