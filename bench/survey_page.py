"""The survey's answer as a page: `docs/python314.md`, from the databases of `bench.survey`."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from dllint.survey.database import Database
from dllint.survey.outcome import KINDS
from dllint.survey.totals import NEW_ON_314, totals

EXPLANATION = """\
# What breaks on Python 3.14

On Linux, worker processes were forked before Python 3.14. Its default is forkserver: what workers are given is pickled,
and the main script is imported again, as on macOS and Windows. Which programs does that break?

`dllint survey` read two kinds of public code. None of it was chosen for its bugs, and neither kind is a random sample.

* {repositories} repositories ([bench/survey.txt](../bench/survey.txt)): research code and templates that train models
  with PyTorch, named by what they do (GANs, segmentation, detection, classification, transformers).
* {packages} packages of the Python package index: {known} libraries around training
  ([bench/corpus.txt](../bench/corpus.txt)), which dllint was developed on, and {others} others that require
  torch ([bench/packages.txt](../bench/packages.txt)). A library counts as soon as one of its classes, examples or
  scripts breaks, which most of its users never meet.

All are pinned. Each was analysed with the default selection and its own configuration, on all platforms and Pythons
that it allows.

*Break* means that the program stops with an exception, or hangs, when workers start; *on 3.14 only*, that it does not
where workers are forked. *For certain*: a loader that has workers was seen, with every step from it to the cause; else,
for instance, a dataset breaks for whoever gives it workers. dllint reports only what it can follow from loader to
cause, so these are lower bounds where its findings are right; how often they are is said below.

Anyone can repeat it: `python -m bench.survey FOLDER > docs/python314.md`."""
TRUST = """
## How far to trust it

Of each source that breaks on 3.14 only, one finding of each rule was read against the source, 81 in all.

| | read | right | right under a condition | wrong |
|---|---:|---:|---:|---:|
| repositories | 47 | 47 | 0 | 0 |
| packages that dllint was developed on | 29 | 26 | 1 | 2 |
| the other packages | 5 | 2 | 1 | 2 |

* Wrong: DLL102 in transformers, where the key of a sort was taken for what is sorted, and DLL107 in gymnasium, where
  the number that `enumerate` gives was taken for what it numbers (both are mended since); DLL102 in nemo_toolkit, where
  `self.from_config_dict(...)` makes an object of another class; DLL107 in torchdata, whose queue cannot be pickled only
  where it goes to threads.
* Under a condition: DLL301 in torchmetrics starts a process on import only where `SKIP_SLOW_DOCTEST` is set, and in
  pytorch-ignite's assets only on Colab's TPUs.
* Without these, 20 of the packages break instead of 23. DLL106 in jiazhi412/AttGAN-PyTorch is right, but that program
  fails under fork too, for another reason; DLL301 breaks others of that repository.
* Two pairs of repositories share the code that breaks (dongdonghy and DJever23, Gawajn and crater2150).
* The repositories that could not be read were copies that lacked large notebooks.

Programs that dllint cannot follow, such as those whose number of workers comes from a file that it does not read, are
not counted.
"""
METHODS = "| start method | default on | that break | wrong data | memory |\n|---|---|---:|---:|---:|"
COSTS = """\
## What it costs

The two runs of all {all} sources, by two processes of one machine and by a Dask cluster of two workers on it, have the
same findings, to the letter; so have these of each eighth source, {some} in all, on {cores} cores. A load beyond the
workers is other work on the machine: it slowed these runs, and not all of them alike.

| run | sources a minute | most memory for one | most of a Dask worker itself | load of the machine |
|---|---:|---:|---:|---:|"""


class Measured(NamedTuple):
    """One run. Memory in MiB; `load` of the machine at the end."""

    label: str
    sources: int
    seconds: float
    source_mb: float
    worker_mb: float
    load: float

    @property
    def row(self) -> str:
        """A line of the table."""
        worker = f"{self.worker_mb:.0f} MiB" if self.worker_mb else ""
        rate = 60 * self.sources / self.seconds
        return f"| {self.label} | {rate:.0f} | {self.source_mb:.0f} MiB | {worker} | {self.load:.0f} |"


def write(results: Database, measured: list[Measured], known: int) -> str:
    """The page. `known` packages are those that dllint was developed on."""
    with TemporaryDirectory() as scratch:
        repositories, packages = (_part(results, form, Path(scratch, form)) for form in ("git", "folder"))
        counts = {"repositories": _sources(repositories), "packages": _sources(packages), "known": known}
        others = counts["packages"] - known
        return "\n".join(
            [
                EXPLANATION.format(**counts, others=others),
                "\n## Repositories\n",
                *answer(repositories, "repositories"),
                "\n## Packages\n",
                *answer(packages, "packages"),
                TRUST,
                COSTS.format(all=_sources(results), some=measured[0].sources, cores=os.cpu_count()),
                *(each.row for each in measured),
            ]
        )


def _sources(database: Database) -> int:
    return int(database.rows("SELECT count(*) FROM source")[0][0])


def _part(results: Database, form: str, place: Path) -> Database:
    """The sources of one form, in a database of their own."""
    with sqlite3.connect(place) as copy:
        results.connection.backup(copy)
    copy.close()
    part = Database(str(place))
    part.rows("DELETE FROM source WHERE form != ?", form)
    return part


def answer(database: Database, noun: str) -> Iterator[str]:
    """The survey's numbers as Markdown."""
    found = totals(database)
    analysed = found.outcomes["ok"]
    candidates = int(database.rows("SELECT count(*) FROM source WHERE outcome = 'ok' AND files")[0][0])
    share = f"{found.breaks_on_314} of {analysed} {noun} ({found.breaks_on_314 / analysed:.0%})"
    yield f"**{share} break on Python 3.14 only**, {found.certain_on_314} of them for certain."
    version = found.tools[0].partition("+")[0]
    others = "".join(f"; {count} {KINDS[kind]}" for kind, count in found.outcomes.items() if kind != "ok")
    yield f"\n{found.files:,} Python files in {candidates} {noun}{others}; dllint {version}.\n"
    yield METHODS
    for method in found.methods:
        harms = method.harms
        yield f"| {method.name} | {method.where} | {method.breaks} | {harms['corrupt']} | {harms['bloat']} |"
    yield f"\nWhy they break on 3.14 only:\n\n| rule | {noun} | findings |\n|---|---:|---:|"
    for code, name, sources, findings in database.rows(
        f"SELECT code, rule, count(DISTINCT source) AS sources, count(*) FROM finding WHERE {NEW_ON_314} "
        "GROUP BY code ORDER BY sources DESC, code"
    ):
        yield f"| {code} {name} | {sources} | {findings} |"
    alone = f"SELECT source FROM finding WHERE {NEW_ON_314} GROUP BY source HAVING min(code) = max(code)"
    (only,) = database.rows(f"SELECT count(*) FROM ({alone})")[0]
    yield f"\nIn {only} of the {found.breaks_on_314}, one rule alone is the reason."
