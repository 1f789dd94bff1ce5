"""Surveys on a Dask cluster of real processes: the same outcomes as here, whatever dies."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dllint.survey import run
from dllint.survey.cluster import NoCluster
from dllint.survey.database import Database
from dllint.survey.limits import Unfit
from dllint.survey.outcome import Outcome
from dllint.survey.run import Plan
from dllint.survey.trees import Tree, read
from dllint.survey.unit import Settings
from tests import surveys
from tests.cluster import Cluster
from tests.test_survey import steady

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills processes")
KILLS = 50


@pytest.fixture
def several(tmp_path: Path) -> list[Tree]:
    """Six sources: two with a finding, one damaged, one missing."""
    for number in range(4):
        text = surveys.PROGRAM if number % 2 else "import torch\n"
        surveys.wheel(tmp_path / f"p{number}-1.0-py3-none-any.whl", text)
    (tmp_path / "damaged-1.0.zip").write_bytes(b"PK")
    names = [*(f"p{number}-1.0-py3-none-any.whl" for number in range(4)), "damaged-1.0.zip", "missing"]
    (tmp_path / "all.txt").write_text("\n".join(names))
    return read([str(tmp_path / "all.txt")])


@pytest.fixture
def undisturbed(several: list[Tree], tmp_path: Path) -> list[tuple[object, ...]]:
    """What a run says that nothing disturbs."""
    return surveyed(several, tmp_path / "undisturbed.db", Plan(jobs=2))


def surveyed(
    given: list[Tree], place: Path, plan: Plan, seen: Callable[[Tree, Outcome], None] = lambda tree, outcome: None
) -> list[tuple[object, ...]]:
    """Run a survey into a new database; what it holds that must always be the same."""
    database = Database(str(place), create=True)
    run.run(given, database, plan, seen)
    database.close()
    return steady(place)


def test_a_cluster_says_the_same(several: list[Tree], undisturbed: list[tuple[object, ...]], tmp_path: Path) -> None:
    with Cluster(tmp_path, workers=2) as cluster:
        assert surveyed(several, tmp_path / "r.db", Plan(scheduler=cluster.address)) == undisturbed
        assert len(undisturbed) == 6 + 2


@pytest.mark.slow
def test_workers_with_another_dllint_are_refused(
    several: list[Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dllint.survey.cluster.tool", lambda: "0.0.1+other")
    with Cluster(tmp_path, workers=1) as cluster, pytest.raises(Unfit, match="install the same everywhere"):
        surveyed(several, tmp_path / "r.db", Plan(scheduler=cluster.address))


@pytest.mark.slow
def test_no_scheduler_answers(several: list[Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dllint.survey.cluster.CONNECT_S", 1)
    for address, told in (
        ("tcp://127.0.0.1:9", "no Dask scheduler answers"),
        ("nonsense://x", "unknown address scheme"),
    ):
        with pytest.raises(NoCluster, match=told):
            surveyed(several, tmp_path / "r.db", Plan(scheduler=address))


def test_without_dask(several: list[Tree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(NoCluster, match="Dask is not installed"):
        surveyed(several, tmp_path / "r.db", Plan(scheduler="tcp://127.0.0.1:9"))


@pytest.mark.slow
def test_workers_that_are_killed(several: list[Tree], undisturbed: list[tuple[object, ...]], tmp_path: Path) -> None:
    """One of two workers is killed after most of the outcomes, until fifty were."""
    chance = random.Random(1)
    killed = rounds = 0
    with Cluster(tmp_path, workers=2) as cluster:
        while killed < KILLS:

            def kill(tree: Tree, outcome: Outcome) -> None:
                nonlocal killed
                if killed < KILLS and chance.random() < 0.6:
                    time.sleep(chance.random() / 2)
                    cluster.kill_worker(chance.randrange(2))
                    killed += 1

            rounds += 1
            found = surveyed(several, tmp_path / f"{rounds}.db", Plan(scheduler=cluster.address), kill)
            assert found == undisturbed, f"round {rounds} after {killed} kills"
        wait_until_empty(cluster.scratch)
    assert killed == KILLS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_processes_of_this_machine_that_are_killed(
    several: list[Tree], undisturbed: list[tuple[object, ...]], tmp_path: Path
) -> None:
    """Without a cluster: one of the processes that analyse is killed after every second outcome or so."""
    chance = random.Random(2)
    killed = rounds = 0

    def kill(tree: Tree, outcome: Outcome) -> None:
        nonlocal killed
        time.sleep(chance.random() / 2)
        children = [int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()]
        if children and killed < KILLS and chance.random() < 0.6:
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(children), signal.SIGKILL)
                killed += 1

    while killed < KILLS:
        rounds += 1
        found = surveyed(several, tmp_path / f"{rounds}.db", Plan(jobs=2), kill)
        assert found == undisturbed, f"round {rounds} after {killed} kills"


@pytest.mark.slow
def test_a_scheduler_that_is_restarted(
    several: list[Tree], undisturbed: list[tuple[object, ...]], tmp_path: Path
) -> None:
    seen = []

    def restart(tree: Tree, outcome: Outcome) -> None:
        seen.append(tree.name)
        if len(seen) in (2, 4):
            cluster.kill_scheduler()
            time.sleep(1)
            cluster.start_scheduler()

    with Cluster(tmp_path, workers=2) as cluster:
        assert surveyed(several, tmp_path / "r.db", Plan(scheduler=cluster.address), restart) == undisturbed
    assert sorted(seen) == sorted(tree.name for tree in several)


def wait_until_empty(scratch: Path) -> None:
    """What a killed worker leaves is taken away by the process that it had started."""
    until = time.monotonic() + 20
    while time.monotonic() < until and [*scratch.glob("dllint-survey-*")]:
        time.sleep(0.2)
    assert not [*scratch.glob("dllint-survey-*")]


@pytest.mark.slow
def test_settings_travel(several: list[Tree], tmp_path: Path) -> None:
    with Cluster(tmp_path, workers=1) as cluster:
        database = Database(str(tmp_path / "r.db"), create=True)
        plan = Plan(scheduler=cluster.address, settings=Settings(isolated=True))
        run.run(several[:1], database, plan, lambda tree, outcome: None)
        assert '"isolated":true' in database.rows("SELECT settings FROM source")[0][0]
