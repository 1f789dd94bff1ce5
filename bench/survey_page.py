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

Before Python 3.14, Linux forked worker processes by default. The default of Python 3.14 is forkserver: what workers
receive is pickled, and the main script is imported again, as on macOS and Windows. Which programs does that break?

`dllint survey` read two kinds of public code. No source was chosen for its bugs, and neither kind is a random sample.

* {repositories} repositories ([bench/survey.txt](../bench/survey.txt)): research code and templates that train models
  with PyTorch, named by what they do (GANs, segmentation, detection, classification, transformers).
* {packages} packages of the Python package index: {known} libraries around training
  ([bench/corpus.txt](../bench/corpus.txt)), which dllint was developed on, and {others} others that require
  torch ([bench/packages.txt](../bench/packages.txt)). A library counts as soon as one of its classes, examples or
  scripts breaks, even if most of its users never meet that code.

All versions are pinned. dllint analyzed each source with the default rules and the source's own configuration, on all
platforms and Pythons that the source allows.

* *Break* means that the program stops with an exception, or hangs, when workers start.
* *On 3.14 only* means that it doesn't break if workers are forked.
* *For certain* means that dllint saw a loader with workers, and every step from it to the cause. Otherwise, for
  instance, a dataset breaks for users who give it workers.

dllint reports only what it can follow from the loader to the cause. So these figures are lower bounds, as far as the
findings are right. [How far to trust it](#how-far-to-trust-it) says how often they are.

To repeat the survey: `python -m bench.survey FOLDER > docs/python314.md`."""
TRUST = """
## Wrong data

The tables above were made before DLL609 and DLL610 existed, so their *wrong data* doesn't include what only the main
process sets. That was measured on 231 other repositories of the same kind, chosen by name and by what they descend from
(faster-rcnn, Detectron.pytorch, AttnGAN, pysot, WaveNet), with these two rules alone:

| rule | repositories | findings | right | depends on the configuration | wrong |
|---|---:|---:|---:|---:|---:|
| DLL609 state-only-in-main | 29 | 44 | 39 | 3 | 2 |
| DLL610 setting-only-in-main | 1 | 1 | 0 | 0 | 1 |

* In 25 of the 231 repositories (11%), workers that aren't forked read other values than the main process set, and
  mostly nothing raises. Every finding was read against the source, and the values against the project's own
  configuration files.
* Depends on the configuration: the main process merges a file, and none of the files that the project ships changes
  what workers read (StackGAN-v2, SiamCAR, deepvoice3_pytorch).
* Wrong, and fixed since: `setattr` with names from a list (yolact_edge), a value that the import sets as well
  (GCA-Matting), and an object that the dataset gets by value (VideoX).
* In 343 more repositories, which were at hand for other rules, DLL609 reported 21 findings in 10 repositories: 10
  right, 5 without an effect, 6 wrong and fixed since ([each of them](../bench/OCCURRENCES.md)). DLL610 reported none.
* Of the survey's own sources, 37 packages were analyzed again with these two rules, without a finding. The repositories
  and the other 22 packages were not.

## How far to trust it

For each source that breaks on 3.14 only, one finding of each rule was read against the source, 81 in total.

| | read | right | right under a condition | wrong |
|---|---:|---:|---:|---:|
| repositories | 47 | 47 | 0 | 0 |
| packages that dllint was developed on | 29 | 26 | 1 | 2 |
| the other packages | 5 | 2 | 1 | 2 |

* Wrong, and fixed since: DLL102 in transformers, where dllint took the key of a sort for what is sorted, and DLL107 in
  gymnasium, where it took the number that `enumerate` gives for what it numbers.
* Wrong: DLL102 in nemo_toolkit, where `self.from_config_dict(...)` creates an object of another class, and DLL107 in
  torchdata, where the queue can't be pickled only when it goes to threads.
* Right under a condition: DLL301 in torchmetrics starts a process on import only if `SKIP_SLOW_DOCTEST` is set, and in
  pytorch-ignite's assets only on Colab's TPUs.
* Without these, 20 of the packages break instead of 23. DLL106 in jiazhi412/AttGAN-PyTorch is right, but that program
  also fails under fork, for another reason; DLL301 breaks other programs of that repository.
* Two pairs of repositories share the code that breaks (dongdonghy and DJever23, Gawajn and crater2150).
* The repositories that could not be read were copies without their large notebooks.

The figures leave out programs that dllint can't follow, such as those whose number of workers comes from a file that it
doesn't read.
"""
METHODS = "| start method | default on | that break | wrong data | memory |\n|---|---|---:|---:|---:|"
COSTS = """\
## What it costs

Two runs analyzed all {all} sources: one with two processes on one machine, one with a Dask cluster of two workers
on the same machine. Their findings are identical. The runs in the table analyzed every eighth source, {some} in
total, on {cores} cores; their findings are identical, too. A load beyond the workers is other work on the machine.
It slowed these runs, and not all of them alike.

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
