"""A progress bar on a terminal, for runs that take a while."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_S = 2.0
"""A run that is shorter shows no bar."""


class Bar:
    """Shows how far a run has come, on standard error, from its third second on; gone when it ends.

    A thread begins to show it: a step may take long before it tells of anything.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: dict[str, tuple[int, int]] = {}
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._timer = threading.Timer(PATIENCE_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Bar:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            if self._progress is not None:
                self._progress.stop()
            self._timer.finished.set()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Record that so many of so many are done; a total of 0 means that it is unknown."""
        with self._lock:
            for earlier, (_, end) in self._steps.items():
                if earlier != what and not end:
                    self._update(earlier, 1, 1)  # a step without a total is over when the next one begins
            self._steps[what] = done, total
            self._update(what, done, total)

    def _show(self) -> None:
        with self._lock:
            if self._timer.finished.is_set():
                return
            self._progress = _started()
            for what, (done, total) in self._steps.items():
                self._update(what, done, total)

    def _update(self, what: str, done: int, total: int) -> None:
        if self._progress is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total or None)
        self._progress.update(self._tasks[what], completed=done, total=total or None)


def _started() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress
