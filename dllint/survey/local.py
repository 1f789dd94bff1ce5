"""The engine of one machine: as many sources at a time as it has workers."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence

from dllint.survey.outcome import Outcome
from dllint.survey.trees import Tree
from dllint.survey.unit import Settings, survey


def outcomes(trees: Sequence[Tree], settings: Settings, jobs: int) -> Iterator[tuple[Tree, Outcome]]:
    """What becomes of each source, in any order. Raises Unfit. Whoever stops asking stops the work."""
    waiting: queue.SimpleQueue[Tree] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Tree, Outcome] | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()
    for tree in trees:
        waiting.put(tree)

    def work() -> None:
        with contextlib.suppress(queue.Empty):
            while not stopped.is_set():
                tree = waiting.get_nowait()
                try:
                    done.put((tree, survey(tree, settings, stopped)))
                except BaseException as error:
                    done.put(error)
                    return

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(jobs, len(trees)))]
    try:
        for thread in threads:
            thread.start()
        for _ in trees:
            yield _next(done)
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _next(done: queue.SimpleQueue[tuple[Tree, Outcome] | BaseException]) -> tuple[Tree, Outcome]:
    """The next outcome. Waiting with a limit can be interrupted on every platform."""
    while True:
        with contextlib.suppress(queue.Empty):
            found = done.get(timeout=0.5)
            if isinstance(found, BaseException):
                raise found
            return found
