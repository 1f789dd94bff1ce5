"""The page about speed, beside its tables of tools: where the time goes, larger projects, hooks, processes."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from math import log
from pathlib import Path
from typing import Any

from bench import hook
from bench.corpus import lines
from bench.timing import answered
from dllint.reduce.pool import WORTH


def _inside(what: str, folder: Path, cache: Path) -> Any:
    """What a run of `bench.parts` says."""
    return json.loads(answered([sys.executable, "-m", "bench.parts", what, str(folder)], folder, cache)[1])


def parts(folders: list[Path], cache: Path) -> list[str]:
    """Where the time of runs in one process goes, by the parse of the files that they parse."""
    each = [_inside("parts", folder, cache) for folder in folders]
    total = {name: sum(found[name] for found in each) for name in each[0]}
    sweep, whole = total["sweep"], total["whole"]
    rows = ["| | seconds of processors | as a multiple |", "|---|---:|---:|"]
    names = {
        "ast": f"`ast.parse` of the {total['lines']:,} lines that are parsed",
        "sweep": "walk and sweep over the bytes of all files",
        "whole": "whole run",
        "libcst": "LibCST's parse of the same lines",
    }
    rows += [f"| {text} | {total[name]:.2f} | {total[name] / total['ast']:.2f} |" for name, text in names.items()]
    beside = (f"{whole / (sweep + total[name]):.2f} times sweep and {name}" for name in ("ast", "libcst"))
    return [*rows, "", f"A whole run takes {' and '.join(beside)}."]


def scaling(folders: list[Path], into: Path, sizes: list[int], cache: Path, whole: bool) -> list[str]:
    """dllint without a cache over more and more packages: each a project of its own, or all of them one whole."""
    rows = [
        "| lines | files | seconds | of processors | microseconds of these a line | main process, MB "
        "| largest other, MB | largest file parsed, kB |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    held, curve = 0, []
    for folder in folders:
        if not sizes:
            break
        target = Path(shutil.copytree(folder, into / folder.name))
        ((into if whole else target) / "dllint.toml").touch()
        held += lines(folder)
        if held >= sizes[0]:
            found = _inside("whole", into, cache)
            curve.append((held, found["cpu"]))
            rows.append(
                f"| {held:,} | {found['files']:,} | {found['wall']:.1f} | {found['cpu']:.1f} "
                f"| {found['cpu'] / held * 1e6:.0f} | {found['main']:.0f} | {found['beside']:.0f} "
                f"| {found['largest']:.0f} |"
            )
            sizes = [size for size in sizes if size > held]
    return [*rows, "", f"Processor time grows with the lines to the power of {exponent(curve):.2f}."]


def exponent(curve: list[tuple[int, float]]) -> float:
    """Of the power of the lines that fits the seconds best."""
    points = [(log(size), log(seconds)) for size, seconds in curve]
    return statistics.linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else float("nan")


def threshold(folder: Path, cache: Path) -> list[str]:
    """From how much source on processes for parsing pay."""
    rows = ["| kB of source | seconds in one process | in processes beside it | ratio |", "|---:|---:|---:|---:|"]
    for size, alone, beside in _inside("pool", folder, cache):
        rows.append(f"| {size / 1e3:,.0f} | {alone:.2f} | {beside:.2f} | {beside / alone:.2f} |")
    return [*rows, "", f"They are used from {WORTH / 1e3:,.0f} kB on."]


def hooks(folders: list[Path], cache: Path, rounds: int) -> list[str]:
    """The hook in projects of different sizes; in large ones, which take long, with fewer rounds."""
    rows = [hook.HEAD]
    for folder in folders:
        few = sum(1 for _ in folder.rglob("*.py")) > 1000
        rows += [case.row() for case in hook.cases(folder, cache, 3 if few else rounds)]
    return rows
