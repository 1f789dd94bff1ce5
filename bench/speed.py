"""Times of dllint beside other linters: `python -m bench.speed [FOLDER] > bench/SPEED.md`.

The packages of `bench.corpus` are in one folder, each as a separate project. Every tool runs once over the folder:

* dllint without a cache, with a full cache, after a change in one file (of the package of median size), on one file,
  and on the content of an editor's buffer
* ruff with its default rules and without a cache
* over a few small packages, TorchFix, Fixit, flake8 and pylint, if installed (`--peers` names the folder of their
  commands)

In every round, each tool reads the same files; the figure is the ratio to ruff in the same round. `--plot FILE` draws
the ratios. A second series runs the tools on one package after the other.

More sections measure a change in one package after the other; where the time of one process goes, beside the bare parse
of the same files; more and more packages, in one folder and as one project; a hook on one changed file beside
`import click` and `import libcst`; and how much source makes parsing in processes worthwhile. Everything takes about
half an hour; `--only NAME`, `--lines N` and `--sizes N` shorten it.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from math import log10
from pathlib import Path
from typing import NamedTuple

from bench import sections
from bench.corpus import CorpusError, default_root, fetch, lines, packages
from bench.timing import DLLINT, Cost, measured

RUFF = shutil.which("ruff", path=os.path.dirname(sys.executable)) or "ruff"
FEW = 5
"""Packages that slow linters meet."""
PEERS: dict[str, list[str]] = {
    "flake8": ["flake8", "--isolated", "."],
    "TorchFix": ["torchfix", "--select=ALL", "."],
    "Fixit": ["fixit", "--quiet", "lint", "."],
    "pylint": ["pylint", "--recursive=y", "--rcfile=/dev/null", "--score=n", "."],
}
LIMITS = """\
Without a cache, Python's own parser alone takes longer than all of ruff. Two things add to it:

* dllint also parses files without a loader, dataset or process of their own if a relevant program imports them, or if
  they import one. In a package, these are nearly all files, although only a sixth to three quarters of its lines are in
  files that name such words.
* The rules follow the values of a whole project, in one process.

With a cache and nothing changed, Python's startup and the imports take most of the time. After a change in one relevant
file, all rules run over its whole project; a hook on a file with a hazard does the same."""


class Project(NamedTuple):
    """A copy of a package or of several, with the file that is changed and asked about: one that names a loader."""

    folder: Path
    lines: int
    file: str


def dllint_ways(project: Project, cache: Path) -> Iterator[tuple[str, Cost]]:
    """dllint in all its ways."""
    folder, file = project.folder, project.folder / project.file
    yield "dllint, no cache", measured([*DLLINT, "--no-cache", "."], folder, cache)
    shutil.rmtree(cache, ignore_errors=True)
    time.sleep(0.2)  # younger files would not be believed
    yield "dllint, first run", measured([*DLLINT, "."], folder, cache)
    yield "dllint, nothing changed", measured([*DLLINT, "."], folder, cache)
    text = file.read_bytes()
    file.write_bytes(text + b"\n\nCHANGED = 1\n")
    yield "dllint, one file changed", measured([*DLLINT, "."], folder, cache)
    yield "dllint, hook on one file", measured([*DLLINT, project.file], folder, cache)
    buffer = text + b"\n\nTYPED = 1\n"
    editor = [*DLLINT, "--stdin-filename", project.file, "-"]
    yield "dllint, editor", measured(editor, folder, cache, buffer)
    file.write_bytes(text)


def rounds(projects: list[Project], number: int, peers: dict[str, list[str]]) -> dict[str, list[Cost]]:
    """For every tool its costs over all projects, one sum a round; the peak is that of the largest process."""
    found: dict[str, list[Cost]] = defaultdict(list)
    for _ in range(number):
        costs: dict[str, list[Cost]] = defaultdict(list)
        with tempfile.TemporaryDirectory() as scratch:
            cache = Path(scratch, "cache")
            for project in projects:
                costs["ruff, no cache"].append(
                    measured([RUFF, "check", "-q", "--no-cache", "--isolated", "."], project.folder, cache)
                )
                for name, cost in dllint_ways(project, cache):
                    costs[name].append(cost)
                for name, command in peers.items():
                    costs[name].append(measured(command, project.folder, cache))
        for name, each in costs.items():
            found[name].append(Cost(sum(c.wall for c in each), sum(c.cpu for c in each), max(c.peak for c in each)))
    return found


def table(found: dict[str, list[Cost]]) -> list[str]:
    """The medians, and the median of the ratios to ruff in the same round."""
    rows = [
        "| | seconds | of processors | times ruff | of processors | largest process, MB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, costs in found.items():
        wall, cpu, peak = (statistics.median(values) for values in zip(*costs, strict=True))
        by_wall, by_cpu = ratio(found, name, "wall"), ratio(found, name, "cpu")
        rows.append(f"| {name} | {wall:.2f} | {cpu:.2f} | {by_wall:.1f} | {by_cpu:.1f} | {peak:.0f} |")
    return rows


def ratio(found: dict[str, list[Cost]], name: str, of: str) -> float:
    """The median over the rounds of a tool's cost by ruff's."""
    pairs = zip(found[name], found["ruff, no cache"], strict=True)
    return statistics.median(getattr(cost, of) / getattr(base, of) for cost, base in pairs)


def plot(found: dict[str, list[Cost]]) -> str:
    """The ratios as bars on a logarithmic scale, in SVG."""
    height, left, width = 24, 190, 420
    ratios = {name: ratio(found, name, "wall") for name in found}
    top = max(log10(max(ratios.values())), 1)
    bottom = min(log10(min(ratios.values())), 0) - 0.2
    bars = []
    for number, (name, value) in enumerate(ratios.items()):
        y = number * height + 6
        long = width * (log10(value) - bottom) / (top - bottom)
        color = "#7d8ca3" if not name.startswith("dllint") else "#d9622b"
        bars.append(
            f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text>'
            f'<rect x="{left}" y="{y}" width="{long:.0f}" height="16" fill="{color}"/>'
            f'<text x="{left + long + 6:.0f}" y="{y + 13}">{value:.1f}</text>'
        )
    size = f'width="{left + width + 70}" height="{len(ratios) * height + 8}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13" fill="#333">\n'
        + "\n".join(bars)
        + "\n</svg>\n"
    )


def copied(folder: Path, into: Path) -> Project:
    """A copy of a package, a project of its own."""
    target = into / folder.name
    shutil.copytree(folder, target)
    (target / "dllint.toml").touch()
    named = [file for file in target.rglob("*.py") if b"DataLoader" in file.read_bytes()] or list(target.rglob("*.py"))
    largest = max(named, key=lambda file: (file.stat().st_size, str(file)))
    return Project(target, lines(target), largest.relative_to(target).as_posix())


def together(projects: list[Project]) -> Project:
    """The folder in which packages lie; what is changed there is the file of the package in the middle."""
    ordered = sorted(projects, key=lambda project: project.lines)
    middle = ordered[len(ordered) // 2]
    folder = middle.folder.parent
    return Project(folder, sum(one.lines for one in projects), f"{middle.folder.name}/{middle.file}")


def changes(projects: list[Project], cache: Path) -> list[str]:
    """What a run over the folder takes after a change in each of its packages, beside ruff: medians of three."""
    top = projects[0].folder.parent
    shutil.rmtree(cache, ignore_errors=True)
    time.sleep(0.2)  # younger files would not be believed
    measured([*DLLINT, "."], top, cache)
    rows = ["| the package with the changed file | its lines | seconds | times ruff |", "|---|---:|---:|---:|"]
    ratios = []
    for project in projects:
        file = project.folder / project.file
        text = file.read_bytes()
        seconds, beside = [], []
        for number in range(3):
            file.write_bytes(text + f"\n\nCHANGED = {number}\n".encode())
            seconds.append(measured([*DLLINT, "."], top, cache).wall)
            beside.append(measured([RUFF, "check", "-q", "--no-cache", "--isolated", "."], top, cache).wall)
        file.write_bytes(text)
        ratios.append(statistics.median(one / other for one, other in zip(seconds, beside, strict=True)))
        rows.append(
            f"| {project.folder.name} | {project.lines:,} | {statistics.median(seconds):.2f} | {ratios[-1]:.2f} |"
        )
    return [*rows, "", f"The median over the packages is {statistics.median(ratios):.2f} times ruff."]


def some(folders: list[Path], wanted: int) -> list[Path]:
    """As many of the packages, in the list's order, as have so many lines together."""
    held, taken = 0, []
    for folder in folders:
        if held < wanted:
            taken.append(folder)
            held += lines(folder)
    return taken


def main() -> None:
    """Fetch, copy, measure, print."""
    args = arguments()
    wanted = [package for package in packages() if not args.only or package.name in args.only]
    try:
        folders = [folder for _, folder in fetch(args.folder, wanted)]
    except CorpusError as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory() as name:
        scratch, cache = Path(name), Path(name, "cache")
        projects = [copied(folder, scratch / "all") for folder in some(folders, args.lines)]
        limit = max(args.peer_lines, min(project.lines for project in projects))
        small = [folder for folder in folders if lines(folder) <= limit][:FEW]
        few = [copied(folder, scratch / "few") for folder in small]
        peers = {
            name: [str(args.peers / command[0]), *command[1:]]
            for name, command in PEERS.items()
            if args.peers and (args.peers / command[0]).exists()
        }
        usual = min(projects, key=lambda project: abs(sum(1 for _ in project.folder.rglob("*.py")) - 200)).folder
        by_size = sorted(folders, key=lines)
        tables = [
            (f"{len(projects)} packages in one folder", projects, rounds([together(projects)], args.rounds, {})),
            ("The same packages, a run for each", projects, rounds(projects, args.rounds, {})),
        ]
        if peers:
            tables.append((f"Other linters, {len(few)} packages, one round", few, rounds([together(few)], 1, peers)))
        more = {
            "One file changed, in one package or another of the folder": changes(projects, cache),
            "Where the time goes, in one process": sections.parts([project.folder for project in projects], cache),
            "More and more packages in one folder, no cache": sections.scaling(
                by_size, scratch / "apart", args.sizes, cache, whole=False
            ),
            "More and more packages as one project, no cache": sections.scaling(
                by_size, scratch / "whole", args.whole_sizes, cache, whole=True
            ),
            "A hook on one changed file": sections.hooks([usual, scratch / "whole"], cache, args.hook_rounds),
            "Processes for parsing": sections.threshold(max(folders, key=lines), cache),
        }
    print(report(tables, more, args.rounds))
    if args.plot:
        args.plot.write_text(plot(tables[-1][2] if peers else tables[0][2]), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """What is measured on, and how often."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default_root(), help="default: %(default)s")
    parser.add_argument("--only", action="append", help="only packages of this name")
    parser.add_argument("--lines", type=int, default=1_000_000, help="packages for the rounds (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hook-rounds", type=int, default=20)
    parser.add_argument("--peers", type=Path, help="the folder of the commands of other linters")
    parser.add_argument("--peer-lines", type=int, default=30_000, help="other linters meet packages up to this size")
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=[*sizes, 2_000_000], help="lines, in one folder")
    parser.add_argument("--whole-sizes", type=int, nargs="*", default=sizes, help="lines, as one project")
    parser.add_argument("--plot", type=Path)
    return parser.parse_args()


def report(
    tables: list[tuple[str, list[Project], dict[str, list[Cost]]]], more: dict[str, list[str]], number: int
) -> str:
    """The page."""
    explained = __doc__.partition("\n\n")[2].strip() if __doc__ else ""
    load = os.getloadavg()[1] if hasattr(os, "getloadavg") else 0.0
    machine = f"{date.today()}, {platform.system()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    page = [
        "# Speed",
        explained,
        "![Seconds as multiples of ruff's](SPEED.svg)",
        f"{machine}, rounds: {number}; load of the machine at the end, with this and other work on it: {load:.0f}.",
    ]
    for title, projects, found in tables:
        total = sum(project.lines for project in projects)
        page += [f"## {title}: {total:,} lines", "\n".join(table(found))]
    for title, text in more.items():
        page += [f"## {title}", "\n".join(text)]
    return "\n\n".join([*page, "## What limits it", LIMITS])


if __name__ == "__main__":
    main()
