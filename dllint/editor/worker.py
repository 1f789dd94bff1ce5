"""The thread that analyzes, so that the other one can listen.

It is asked for one thing after the other, and begins each with what was typed until then: while it is busy, changes
gather, and the next answer is about all of them.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from dllint.engine.corpus import Changed
from dllint.syntax.deep import STACK

Answer = TypeVar("Answer")


class Worker:
    """Runs functions in one thread with a large stack, in the order they came."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        before = threading.stack_size(STACK)
        self._thread = threading.Thread(target=self._run, name="dllint-analysis", daemon=True)
        self._thread.start()
        threading.stack_size(before)

    def submit(self, task: Callable[[], Answer]) -> Future[Answer]:
        """The answer, when its turn has come."""
        future: Future[Answer] = Future()
        self._tasks.put((task, future))
        return future

    def stop(self) -> None:
        """End when everything before is done."""
        self._tasks.put(None)

    def _run(self) -> None:
        while (entry := self._tasks.get()) is not None:
            task, future = entry
            if not future.set_running_or_notify_cancel():
                continue  # the editor has cancelled the request; from here on it no longer can
            try:
                future.set_result(task())
            except (Exception, Changed) as error:
                future.set_exception(RuntimeError(str(error)) if isinstance(error, Changed) else error)
                print(f"dllint: {type(error).__name__}: {error}", file=sys.stderr)
