"""Times of dllint beside other linters: `python -m bench.speed [FOLDER] > bench/SPEED.md`.

Runs over packages of `bench.corpus`, each a project of its own, one after the other: dllint without a cache, with
everything known, with one file changed, asked about one file, and asked about a file as an editor holds it; ruff with
its default rules and without a cache; and TorchFix, Fixit, flake8 and pylint where they are installed (`--peers` names
the folder of their commands). In every round each tool meets the same files, and what is compared is the ratio to ruff
in the same round. `--plot FILE` draws the ratios.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import NamedTuple

from bench.corpus import CorpusError, default_root, fetch, lines, packages

ROOT = Path(__file__).resolve().parent.parent
DLLINT = [sys.executable, "-m", "dllint", "check", "--output-format", "concise"]
RUFF = shutil.which("ruff", path=os.path.dirname(sys.executable)) or "ruff"
PEERS: dict[str, list[str]] = {
    "flake8": ["flake8", "--isolated", "."],
    "TorchFix": ["torchfix", "--select=ALL", "."],
    "Fixit": ["fixit", "--quiet", "lint", "."],
    "pylint": ["pylint", "--recursive=y", "--rcfile=/dev/null", "--score=n", "."],
}
LIMITS = """\
Without a cache, two things take the time: files are parsed that name nothing of the field themselves, because a program
of the field imports them or they import one (nearly all of a package, where a sixth to three quarters of its lines pass
the words); and the rules follow the values of the whole project, in one process. With a cache and nothing changed,
Python's start with the imports is most of it. One changed file that matters asks all rules about the whole project."""


class Cost(NamedTuple):
    """What a command took: seconds by the clock, seconds of all its processes, MB of its largest process."""

    wall: float
    cpu: float
    peak: float


class Project(NamedTuple):
    """A copy of a package, with the file that is changed and asked about: the largest that names a loader."""

    folder: Path
    lines: int
    file: str


def measured(command: list[str], folder: Path, cache: Path, stdin: bytes = b"") -> Cost:
    """Run a command to its end, whatever it finds."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules"))),
        "DLLINT_CACHE_DIR": str(cache),
    }
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(stdin)
        given.seek(0)
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=given, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in range(64):
            output.seek(0)
            sys.exit(f"{' '.join(command)}: {process.returncode}\n{output.read().decode(errors='replace')[-2000:]}")
    return Cost(
        wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    )


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
    from math import log10

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


def scaling(folders: list[Path], scratch: Path, sizes: list[int]) -> list[str]:
    """dllint without a cache over more and more packages as one project."""
    rows = [
        "| lines | seconds | of processors | microseconds of processors a line | largest process, MB |",
        "|---:|---:|---:|---:|---:|",
    ]
    whole = scratch / "whole"
    held = 0
    for folder in folders:
        shutil.copytree(folder, whole / folder.name)
        held += lines(folder)
        if sizes and held >= sizes[0]:
            (whole / "dllint.toml").touch()
            cost = measured([*DLLINT, "--no-cache", "."], whole, scratch / "cache")
            rows.append(
                f"| {held:,} | {cost.wall:.1f} | {cost.cpu:.1f} | {cost.cpu / held * 1e6:.0f} | {cost.peak:.0f} |"
            )
            sizes = [size for size in sizes if size > held]
    return rows


def main() -> None:
    """Fetch, copy, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default_root(), help="default: %(default)s")
    parser.add_argument("--only", action="append", help="only packages of this name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", type=Path, help="the folder of the commands of other linters")
    parser.add_argument("--peer-lines", type=int, default=30_000, help="other linters meet packages up to this size")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000]
    )
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    wanted = [package for package in packages() if not args.only or package.name in args.only]
    try:
        folders = [folder for _, folder in fetch(args.folder, wanted)]
    except CorpusError as error:
        sys.exit(str(error))
    folders.sort(key=lines)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        projects = [copied(folder, scratch / "each") for folder in folders]
        found = rounds(projects, args.rounds, {})
        small = [project for project in projects if project.lines <= args.peer_lines] or projects[:1]
        peers = {
            name: [str(args.peers / command[0]), *command[1:]]
            for name, command in PEERS.items()
            if args.peers and (args.peers / command[0]).exists()
        }
        beside = rounds(small, 1, peers) if peers else {}
        curve = scaling(folders, scratch, args.sizes)
    print(report(projects, small, found, beside, curve, args.rounds))
    if args.plot:
        args.plot.write_text(plot(beside or found), encoding="utf-8")


def report(
    projects: list[Project],
    small: list[Project],
    found: dict[str, list[Cost]],
    beside: dict[str, list[Cost]],
    curve: list[str],
    number: int,
) -> str:
    """The page."""
    explained = __doc__.partition("\n\n")[2].strip() if __doc__ else ""
    load = os.getloadavg()[1] if hasattr(os, "getloadavg") else 0.0
    machine = f"{date.today()}, {platform.system()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    parts = [
        "# Speed",
        explained,
        "![Seconds as multiples of ruff's](SPEED.svg)",
        f"{machine}, {number} rounds; load of the machine at the end, with this and other work on it: {load:.0f}.",
        f"## {len(projects)} packages, {sum(project.lines for project in projects):,} lines",
        "\n".join(table(found)),
    ]
    if beside:
        parts += [
            f"## Other linters, over {sum(project.lines for project in small):,} lines, one round",
            "\n".join(table(beside)),
        ]
    parts += ["## One project of many packages, no cache", "\n".join(curve), "## What limits it", LIMITS]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
