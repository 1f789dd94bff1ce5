"""How far a run is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import TracebackType

from dllint.survey.outcome import Outcome
from dllint.survey.trees import Tree

EVERY_S = 10.0
"""Seconds between two lines where there is no terminal."""


class Pace:
    """Throughput, and the time that remains at this pace."""

    def __init__(self, total: int, now: float) -> None:
        self.total = total
        self.done = 0
        self.outcomes: Counter[str] = Counter()
        self._began = now

    def count(self, outcome: Outcome) -> None:
        """One more."""
        self.done += 1
        self.outcomes[outcome.kind] += 1

    def per_minute(self, now: float) -> float:
        """Sources a minute since the run began."""
        return 60 * self.done / max(now - self._began, 1e-9)

    def text(self, now: float) -> str:
        """All of it in a line."""
        others = [f"{number} {kind}" for kind, number in sorted(self.outcomes.items()) if kind != "ok"]
        parts = [f"{self.done} of {self.total} sources"]
        if self.done:
            left = (self.total - self.done) / self.per_minute(now) * 60
            parts += [f"{self.per_minute(now):.0f} a minute", f"{_duration(left)} left"]
        return ", ".join([*parts, *others])


class Progress:
    """Shows the pace on standard error while it is entered."""

    def __init__(self, total: int) -> None:
        self._pace = Pace(total, time.monotonic())
        self._told = time.monotonic()
        self._bar = _Bar(total) if sys.stderr.isatty() else None

    def __enter__(self) -> Progress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()

    def seen(self, tree: Tree, outcome: Outcome) -> None:
        """One more source has its outcome."""
        now = time.monotonic()
        self._pace.count(outcome)
        if self._bar:
            self._bar.show(self._pace.done, self._pace.text(now))
        elif now - self._told >= EVERY_S:
            self._told = now
            print(self._pace.text(now), file=sys.stderr, flush=True)

    def safe(self) -> str:
        """What a run that ends early has done."""
        return f"{self._pace.done} of {self._pace.total} outcomes are written; run the same again to go on"


class _Bar:
    """The bar of a terminal."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        # Only the bar gives way on a narrow terminal.
        columns = (BarColumn(bar_width=None), TextColumn("{task.description}", table_column=Column(no_wrap=True)))
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True, expand=True)
        self._task = self._progress.add_task(f"0 of {total} sources", total=total)

    def start(self) -> None:
        """Show it."""
        self._progress.start()

    def stop(self) -> None:
        """Take it away."""
        self._progress.stop()

    def show(self, done: int, text: str) -> None:
        """Move it."""
        self._progress.update(self._task, completed=done, description=text)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
