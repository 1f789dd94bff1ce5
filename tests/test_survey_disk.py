"""A full disk stops a survey with a message; what was written stays, and the survey goes on when there is room."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dllint.survey import run
from dllint.survey.database import Database, NotUsable
from dllint.survey.limits import MIB, Unfit
from dllint.survey.outcome import Outcome
from dllint.survey.run import Plan, pending
from dllint.survey.trees import Tree, read
from tests import surveys
from tests.test_survey import steady

pytestmark = pytest.mark.slow


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes, where the system lets us make one."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("file systems can be mounted by root on Linux only")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def several(tmp_path: Path) -> list[Tree]:
    """Six sources with a hundred findings each."""
    loader = "DataLoader([1], num_workers=2, collate_fn=lambda batch: batch)\n"
    body = "".join(f"    loader_{number} = {loader}" for number in range(100))
    text = f'from torch.utils.data import DataLoader\n\nif __name__ == "__main__":\n{body}'
    return read([str(surveys.wheel(tmp_path / f"p{number}-1.0-py3-none-any.whl", text)) for number in range(6)])


def nothing(tree: Tree, outcome: Outcome) -> None:
    """Nobody looks on."""


def test_no_room_for_results(several: list[Tree], small: Path, tmp_path: Path) -> None:
    whole = Database(str(tmp_path / "whole.db"), create=True)
    run.run(several, whole, Plan(jobs=2), nothing)
    place = small / "r.db"
    ballast = small / "ballast"
    ballast.write_bytes(b"0" * (2 * MIB - 300_000))
    database = Database(str(place), create=True)
    with pytest.raises(NotUsable, match="database or disk is full"):
        run.run(several, database, Plan(jobs=2), nothing)
    database.close()
    ballast.unlink()
    again = Database(str(place), create=True)
    left = pending(several, again, Plan())
    assert 0 < len(left) < len(several)
    run.run(left, again, Plan(jobs=2), nothing)
    assert steady(place) == steady(tmp_path / "whole.db")


def test_no_room_to_unpack(several: list[Tree], small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(small))
    ballast = small / "ballast"
    ballast.write_bytes(b"0" * (2 * MIB - 8192))
    database = Database(str(tmp_path / "r.db"), create=True)
    with pytest.raises(Unfit, match="No space left on device"):
        run.run(several, database, Plan(jobs=2), nothing)
    assert database.rows("SELECT count(*) FROM source") == [(0,)]
    assert os.listdir(small) == ["ballast"]
    ballast.unlink()
    run.run(pending(several, database, Plan()), database, Plan(jobs=1), nothing)
    assert database.rows("SELECT outcome, count(*) FROM source") == [("ok", len(several))]
