"""How much public code breaks on Python 3.14: `python -m bench.survey FOLDER > docs/python314.md`.

The packages and repositories of `bench.sources`. All of them are surveyed by two processes of this machine, and by a
Dask cluster of two workers on it; then each eighth of them four more times, for the time it takes: here and on a
cluster, one worker and two. All must say the same. With `--results`, what was stopped goes on where it was. Needs git,
and `pip install ".[survey]"`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench import corpus, sources, survey_page
from dllint.survey.database import Database
from dllint.survey.limits import Limits
from dllint.survey.run import Plan, pending, run
from dllint.survey.trees import Tree
from dllint.survey.unit import Settings, resident

WORKERS = 2
TIMED_EVERY = 8
SETTINGS = Settings(Limits(seconds=900))
"""Time enough on a machine that does other things too: the outcome must not depend on them."""

Steady = list[tuple[object, ...]]


class Engine(NamedTuple):
    """What analyses: processes of this machine, or the workers of a cluster with their process IDs."""

    label: str
    plan: Plan
    processes: tuple[int, ...] = ()


@contextlib.contextmanager
def here(jobs: int) -> Iterator[Engine]:
    """The processes of this machine."""
    yield Engine(f"this machine, {jobs} at a time", Plan(settings=SETTINGS, jobs=jobs))


@contextlib.contextmanager
def dask(workers: int) -> Iterator[Engine]:
    """A Dask cluster of worker processes with one thread each."""
    from distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        processes = tuple(client.run(os.getpid).values())
        label = f"Dask, {workers} worker{'s' if workers > 1 else ''}"
        yield Engine(label, Plan(settings=SETTINGS, scheduler=cluster.scheduler_address), processes)


def survey(engine: Engine, trees: list[Tree], place: Path) -> Steady:
    """Bring a database up to date; what it holds then."""
    database = Database(str(place), create=True)
    run(pending(trees, database, engine.plan), database, engine.plan, lambda tree, outcome: None)
    return steady(database)


def steady(database: Database) -> Steady:
    """What was found, without times and memory."""
    found = database.rows("SELECT name, identity, tool, outcome, reason, files, omitted FROM source ORDER BY name")
    return [*found, *database.rows("SELECT * FROM finding ORDER BY source, number")]


def measure(engine: Engine, trees: list[Tree], place: Path) -> tuple[survey_page.Measured, Steady]:
    """Survey into a new database, looking at the memory of the cluster's workers meanwhile."""
    began = time.monotonic()
    with _memory(engine.processes) as highest:
        found = survey(engine, trees, place)
    seconds = time.monotonic() - began
    (source_mb,) = Database(str(place)).rows("SELECT max(peak_mb) FROM source")[0]
    taken = survey_page.Measured(engine.label, len(trees), seconds, float(source_mb), highest(), os.getloadavg()[0])
    return taken, found


@contextlib.contextmanager
def _memory(processes: tuple[int, ...]) -> Iterator[Any]:
    """The most memory that one of these processes has while the block runs."""
    highest = [0.0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            highest[0] = max([highest[0], *map(resident, processes)])

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield lambda: highest[0]
    finally:
        ended.set()
        watching.join()


def survey_all(trees: list[Tree], folder: Path) -> Path:
    """Here and on a cluster: both must say the same. The database."""
    with here(WORKERS) as engine:
        found = survey(engine, trees, folder / "here.db")
    with dask(WORKERS) as engine:
        _same(engine, survey(engine, trees, folder / "dask.db"), found)
    return folder / "here.db"


def measure_all(trees: list[Tree], folder: Path) -> list[survey_page.Measured]:
    """What it costs, here and on a cluster, with one worker and with two: all must say the same."""
    measured = []
    first: Steady = []
    for number, chosen in enumerate((here(1), here(WORKERS), dask(1), dask(WORKERS))):
        with chosen as engine:
            taken, found = measure(engine, trees, folder / f"timed-{number}.db")
            first = first or found
            _same(engine, found, first)
            measured.append(taken)
    return measured


def _same(engine: Engine, found: Steady, first: Steady) -> None:
    if found != first:
        sys.exit(f"{engine.label}: {len({*found} ^ {*first})} rows are not as in the first run")


def main() -> None:
    """Fetch, survey, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the repositories; what is missing is fetched into it")
    parser.add_argument("--packages", type=Path, default=corpus.default_root(), help="default: %(default)s")
    parser.add_argument("--results", type=Path, help="keep the databases in this folder, and go on with them")
    args = parser.parse_args()
    trees = [
        *sources.fetch_packages(args.packages, sources.packages()),
        *sources.fetch_repositories(args.folder, sources.repositories()),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        kept = args.results or Path(scratch)
        kept.mkdir(parents=True, exist_ok=True)
        results = Database(str(survey_all(trees, kept)))
        measured = measure_all(trees[::TIMED_EVERY], Path(scratch))
        print(survey_page.write(results, measured, known=len(corpus.packages())))


if __name__ == "__main__":
    main()
