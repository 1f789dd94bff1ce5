"""How many public repositories break on Python 3.14: `python -m bench.survey FOLDER > docs/python314.md`.

`bench/survey.txt` pins repositories by commit. Those that are not in the folder yet are fetched, a few at a time, bare
and without their history; nothing of them is run. They are surveyed by the processes of this machine and by a Dask
cluster on it, one worker and two; all must say the same. Needs git, and `pip install ".[survey]"`.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from dllint.survey.database import Database
from dllint.survey.limits import Limits
from dllint.survey.outcome import KINDS
from dllint.survey.run import Plan, run
from dllint.survey.totals import NEW_ON_314, totals
from dllint.survey.trees import Tree, tree
from dllint.survey.unit import Settings, resident

LIST = Path(__file__).with_name("survey.txt")
HOST = "https://github.com"
AT_ONCE = 4
RESULTS = "here-2.db"
SETTINGS = Settings(Limits(seconds=30))

EXPLANATION = """\
# What breaks on Python 3.14

On Linux, worker processes were forked before Python 3.14. Its default is forkserver: what workers are given is pickled,
and the main script is imported again, as on macOS and Windows. Which programs does that break?

`dllint survey` read {sources} of the {listed} public repositories that [bench/survey.txt](../bench/survey.txt) pins:
research code and templates that train models with PyTorch, named by what they do (GANs, segmentation, detection,
classification, transformers), none chosen for its bugs. They are no random sample of all code; published packages,
which are tested on several platforms, are not among them. Each was analysed with the default selection and its own
configuration, on all platforms and Pythons that it allows.

*Break* means that the program stops with an exception, or hangs, when workers start; *on 3.14 only*, that it does not
where workers are forked. *For certain*: a loader that has workers was seen, with every step from it to the cause; else,
for instance, a dataset breaks for whoever gives it workers. dllint reports only what it can follow from loader to
cause, so these are lower bounds; how often it is wrong was measured on other code
([bench/PRECISION.md](../bench/PRECISION.md)).

Anyone can repeat it: `python -m bench.survey FOLDER{option} > docs/python314.md`."""


TRUST = """
## How far to trust it

Of each repository that breaks on 3.14 only among every fourth of the list (`--every 4`), one finding of each rule was
read against the source: 12, of which 11 are right. The wrong one is DLL106 in akolishchak/doom-net-pytorch: a number
that is added up from an HDF5 file is taken for something that keeps the file. Programs that dllint cannot follow, such
as those whose number of workers comes from a file that it does not read, are not counted."""


class Repository(NamedTuple):
    """A line of the list."""

    name: str
    commit: str

    def place(self, root: Path) -> Path:
        """The bare repository in the folder of all."""
        return root / f"{self.name}.git"

    def tree(self, root: Path) -> Tree:
        """The source that is surveyed."""
        return tree(f"{self.name}.git@{self.commit}", str(root))


class Measured(NamedTuple):
    """One run. `steady` is what must not differ between runs; memory in MiB; `load` of the machine at the end."""

    label: str
    sources: int
    seconds: float
    source_mb: float
    worker_mb: float
    steady: list[tuple[object, ...]]
    load: float

    @property
    def row(self) -> str:
        """A line of the table."""
        worker = f"{self.worker_mb:.0f} MiB" if self.worker_mb else ""
        rate = 60 * self.sources / self.seconds
        return f"| {self.label} | {rate:.0f} | {self.source_mb:.0f} MiB | {worker} | {self.load:.0f} |"


def repositories() -> list[Repository]:
    """The pinned repositories."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return [Repository(*line.split()) for line in lines if line and line[0] != "#"]


def fetch(root: Path, wanted: list[Repository], host: str = HOST) -> list[Repository]:
    """Fetch what is missing; those that are there then. What cannot be had any more is told and left out."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        there = list(pool.map(lambda each: _fetched(root, each, host), wanted))
    for each in (each for each, found in zip(wanted, there, strict=True) if not found):
        print(f"{each.name}: {each.commit} cannot be fetched", file=sys.stderr)
    return [each for each, found in zip(wanted, there, strict=True) if found]


def _fetched(root: Path, each: Repository, host: str) -> bool:
    place = each.place(root)
    if place.is_dir():
        return True
    partial = place.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    address = f"{host}/{each.name}"
    done = _git("init", "--quiet", "--bare", str(partial)) and _git(
        "--git-dir", str(partial), "fetch", "--quiet", "--depth=1", address, each.commit
    )
    if done:
        partial.rename(place)
    return done


def _git(*arguments: str) -> bool:
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    return not subprocess.run(["git", *arguments], env=quiet, capture_output=True).returncode


def measure(label: str, trees: list[Tree], plan: Plan, place: Path, workers: list[int]) -> Measured:
    """Survey into a new database, looking at the memory of the cluster's workers meanwhile."""
    database = Database(str(place), create=True)
    began = time.monotonic()
    with _memory(workers) as highest:
        run(trees, database, plan, lambda tree, outcome: None)
    seconds = time.monotonic() - began
    (source_mb,) = database.rows("SELECT max(peak_mb) FROM source")[0]
    return Measured(label, len(trees), seconds, float(source_mb), highest(), steady(database), os.getloadavg()[0])


def steady(database: Database) -> list[tuple[object, ...]]:
    """What was found, without times and memory."""
    sources = database.rows("SELECT name, identity, tool, outcome, reason, files, omitted FROM source ORDER BY name")
    return [*sources, *database.rows("SELECT * FROM finding ORDER BY source, number")]


@contextlib.contextmanager
def _memory(processes: list[int]) -> Iterator[Any]:
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


def on_cluster(workers: int, trees: list[Tree], place: Path) -> Measured:
    """Survey on a Dask cluster of worker processes with one thread each."""
    from distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        processes = list(client.run(os.getpid).values())
        plan = Plan(settings=SETTINGS, scheduler=cluster.scheduler_address)
        label = f"Dask, {workers} worker{'s' if workers > 1 else ''}"
        return measure(label, trees, plan, place, processes)


def on_this_machine(jobs: int, trees: list[Tree], place: Path) -> Measured:
    """Survey by the processes of this machine."""
    label = f"this machine, {jobs} at a time"
    return measure(label, trees, Plan(settings=SETTINGS, jobs=jobs), place, [])


def runs(trees: list[Tree], folder: Path) -> list[Measured]:
    """Here and on a cluster, one worker and two: every run must say the same. Exits where one does not."""
    found = [
        on_this_machine(1, trees, folder / "here-1.db"),
        on_this_machine(2, trees, folder / RESULTS),
        on_cluster(1, trees, folder / "dask-1.db"),
        on_cluster(2, trees, folder / "dask-2.db"),
    ]
    for other in found[1:]:
        if other.steady != found[0].steady:
            sys.exit(f"{other.label} says otherwise than {found[0].label}")
    return found


def answer(database: Database) -> Iterator[str]:
    """The survey's numbers as Markdown."""
    found = totals(database)
    analysed = found.outcomes["ok"]
    candidates = int(database.rows("SELECT count(*) FROM source WHERE outcome = 'ok' AND files")[0][0])
    share = f"{found.breaks_on_314} of {analysed} repositories ({found.breaks_on_314 / analysed:.0%})"
    yield f"**{share} break on Python 3.14 only**, {found.certain_on_314} of them for certain."
    version = found.tools[0].partition("+")[0]
    others = "".join(f"; {count} {KINDS[kind]}" for kind, count in found.outcomes.items() if kind != "ok")
    yield f"\n{found.files:,} Python files in {candidates} repositories{others}; dllint {version}.\n"
    yield "| start method | default on | repositories that break | wrong data | memory |\n|---|---|---:|---:|---:|"
    for method in found.methods:
        harms = method.harms
        yield f"| {method.name} | {method.where} | {method.breaks} | {harms['corrupt']} | {harms['bloat']} |"
    yield "\nWhy they break on 3.14 only:\n\n| rule | repositories | findings |\n|---|---:|---:|"
    for code, name, sources, findings in database.rows(
        f"SELECT code, rule, count(DISTINCT source) AS sources, count(*) FROM finding WHERE {NEW_ON_314} "
        "GROUP BY code ORDER BY sources DESC, code"
    ):
        yield f"| {code} {name} | {sources} | {findings} |"
    alone = f"SELECT source FROM finding WHERE {NEW_ON_314} GROUP BY source HAVING min(code) = max(code)"
    (only,) = database.rows(f"SELECT count(*) FROM ({alone})")[0]
    yield f"\nIn {only} of the {found.breaks_on_314}, one rule alone is the reason."


def write(trees: list[Tree], measured: list[Measured], results: Database) -> str:
    """The page."""
    listed = repositories()
    every = round(len(listed) / len(trees))
    option = f" --every {every}" if every > 1 else ""
    head = "| run | repositories a minute | most memory for one | most of a Dask worker itself | load of the machine |"
    return "\n".join(
        [
            EXPLANATION.format(sources=len(trees), listed=len(listed), option=option),
            "\n## The answer\n",
            *answer(results),
            TRUST,
            "\n## What it costs\n",
            f"{len(trees)} repositories, {os.cpu_count()} cores. All runs have the same findings, to the letter.",
            "A load beyond the workers is other work, which makes them slower, and two little faster than one.\n",
            f"{head}\n|---|---:|---:|---:|---:|",
            *(each.row for each in measured),
        ]
    )


def main() -> None:
    """Fetch, survey, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the repositories; what is missing is fetched into it")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th repository of the list")
    parser.add_argument("--results", type=Path, help="keep the databases in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        kept = args.results or Path(scratch)
        trees = [each.tree(args.folder) for each in fetch(args.folder, repositories()[:: args.every])]
        print(write(trees, runs(trees, kept), Database(str(kept / RESULTS))))


if __name__ == "__main__":
    main()
