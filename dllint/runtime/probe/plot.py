"""Memory over items read, as SVG, as PNG where matplotlib is installed, and in a terminal."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from dllint.runtime.probe.report import Report

COLOURS = {"fork": "#d9622b", "spawn": "#2b6cb0", "forkserver": "#3f8f5b"}
WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 40, 46


class Line(NamedTuple):
    """One curve: MB in all over items read."""

    name: str
    color: str
    dashed: bool
    points: list[tuple[float, float]]


class Frame(NamedTuple):
    """What the axes show."""

    items: float
    megabytes: float


def lines(report: Report, before: Report | None = None) -> list[Line]:
    """A curve for each start method under which something was read; of an earlier report, dashed."""
    found = []
    for which, dashed in ((before, True), (report, False)):
        for method in which.methods if which else ():
            points = [(float(sample.items), sample.total) for sample in method.samples]
            if len(points) > 1:
                name = method.name + ("" if before is None else ", before" if dashed else ", after")
                found.append(Line(name, COLOURS.get(method.name, "#555"), dashed, points))
    return found


def frame(curves: Sequence[Line]) -> Frame:
    """Axes that begin at zero and end at round figures."""
    items = max((x for line in curves for x, _ in line.points), default=1.0)
    megabytes = max((y for line in curves for _, y in line.points), default=1.0)
    return Frame(max(items, 1.0), steps(megabytes * 1.05)[-1])


def steps(most: float) -> list[float]:
    """Round figures from zero to at least `most`, five or so."""
    rough = max(most, 1e-9) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    return [step * number for number in range(math.ceil(most / step) + 1)]


def svg(curves: Sequence[Line], title: str) -> str:
    """A picture without anything it would have to load."""
    axes = frame(curves)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (right - LEFT) * x / axes.items, bottom - (bottom - TOP) * y / axes.megabytes

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#333">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
    ]
    for value in steps(axes.megabytes):
        x, y = place(0, value)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{value:,.0f}</text>')
    for value in steps(axes.items):
        if value <= axes.items:
            x, y = place(value, 0)
            parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{value:,.0f}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">items read</text>')
    parts.append(f'<text x="14" y="{TOP - 8}">MB</text>')
    labels = _spread([place(*line.points[-1])[1] for line in curves])
    for line, height in zip(curves, labels, strict=True):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line.points))
        dash = ' stroke-dasharray="6 4"' if line.dashed else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{line.color}" stroke-width="2"{dash}/>')
        label = f"{line.name}: {line.points[-1][1]:,.0f} MB"
        x = place(*line.points[-1])[0] + 8
        parts.append(f'<text x="{x:.1f}" y="{height + 4:.1f}" fill="{line.color}">{escape(label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _spread(heights: Sequence[float], apart: float = 15.0) -> list[float]:
    """The heights of labels, moved down until none covers another, and up again from the border."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    placed = list(heights)
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + apart)
    floor = float(HEIGHT - BOTTOM)
    for index in reversed(order):
        placed[index] = min(placed[index], floor)
        floor = placed[index] - apart
    return placed


def png(curves: Sequence[Line], title: str) -> bytes:
    """A picture by matplotlib. Raises ImportError where that is not installed."""
    from matplotlib.figure import Figure

    axes = frame(curves)
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), layout="constrained")
    plot = figure.add_subplot()
    for line in curves:
        xs, ys = zip(*line.points, strict=True)
        label = f"{line.name}: {ys[-1]:,.0f} MB"
        plot.plot(xs, ys, color=line.color, linestyle="--" if line.dashed else "-", label=label)
    plot.set(title=title, xlabel="items read", ylabel="MB", xlim=(0, axes.items), ylim=(0, axes.megabytes))
    plot.grid(axis="y", color="#ddd")
    plot.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=150)
    return data.getvalue()


_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_STYLES = {"fork": "error", "spawn": "blue", "forkserver": "green"}


def terminal(curves: Sequence[Line], columns: int = 64, rows: int = 12) -> Iterator[str]:
    """Curves in Braille dots, two by four a character, with a legend."""
    axes = frame(curves)
    dots = [[0] * columns for _ in range(rows)]
    for line in curves:
        for x, y in _dense(line, axes, columns * 4):
            across = min(columns * 2 - 1, round(x / axes.items * (columns * 2 - 1)))
            down = rows * 4 - 1 - min(rows * 4 - 1, round(y / axes.megabytes * (rows * 4 - 1)))
            if not line.dashed or across % 4 < 2:
                dots[down // 4][across // 2] |= _DOTS[down % 4][across % 2]
    width = max(len(f"{axes.megabytes:,.0f}"), 2)
    for number, row in enumerate(dots):
        scale = {0: f"{axes.megabytes:,.0f}", rows // 2: f"{axes.megabytes / 2:,.0f}", rows - 1: "0"}.get(number, "")
        yield f"{scale.rjust(width)} |{''.join(chr(0x2800 + cell) if cell else ' ' for cell in row)}".rstrip()
    end = f"{axes.items:,.0f} items"
    yield f"{'MB'.rjust(width)} +{'-' * columns}"
    yield f"{' ' * width}  0{end.rjust(columns - 1)}"
    for line in curves:
        mark = "- -" if line.dashed else "---"
        yield f"{' ' * width}  {mark} {line.name}: {line.points[0][1]:,.0f} -> {line.points[-1][1]:,.0f} MB"


def _dense(line: Line, axes: Frame, count: int) -> Iterable[tuple[float, float]]:
    """Points so near to each other that they look like a line."""
    for (x1, y1), (x2, y2) in pairwise(line.points):
        across = abs(x2 - x1) / axes.items * count
        number = max(1, round(max(across, abs(y2 - y1) / axes.megabytes * count)))
        for step in range(number + 1):
            share = step / number
            yield x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
