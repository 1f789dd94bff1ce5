"""Processes that share tasks."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from dllint.reduce import child

Task = TypeVar("Task")
Answer = TypeVar("Answer")


class Crew(ABC, Generic[Task, Answer]):
    """Processes that take tasks until there are none; one that dies is replaced."""

    def __init__(self, tasks: Iterable[Task], expected: int, jobs: int) -> None:
        """`expected` answers will come, whatever dies."""
        self._tasks = deque(tasks)
        self._expected = expected
        self._told: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]
        self.stopped = False
        """No caller waits for the remaining answers."""

    @abstractmethod
    def start(self) -> subprocess.Popen[bytes]:
        """One process."""

    @abstractmethod
    def answered(self, process: subprocess.Popen[bytes], task: Task) -> bool:
        """Give a task to a process and tell its answers; False where the process has died."""

    def told(self, answer: Answer) -> None:
        """One answer."""
        self._told.put(answer)

    def again(self, tasks: Iterable[Task]) -> None:
        """Tasks that come next."""
        self._tasks.extendleft(tasks)

    def answers(self) -> Iterator[Answer]:
        """The answers as they come. When the caller is interrupted, so are the processes. Raises Unusable, OSError."""
        left = self._expected
        try:
            for thread in self._threads:
                thread.start()
            while left:
                answer = self._next()
                left -= 1
                yield answer
        finally:
            self.stopped = left > 0
            for process in list(self._processes) if self.stopped else ():
                process.kill()
            for thread in self._threads:
                thread.join()

    def _next(self) -> Answer:
        """The next answer. Waiting with a limit can be interrupted on every platform."""
        while True:
            with contextlib.suppress(queue.Empty):
                answer = self._told.get(timeout=0.5)
                if isinstance(answer, BaseException):
                    raise answer
                return answer

    def _serve(self) -> None:
        """One process after the other, until there are no tasks."""
        try:
            while self._tasks and not self.stopped:
                self._run()
        except BaseException as error:
            self._told.put(error)

    def _run(self) -> None:
        """One process, until it dies or there are no tasks."""
        with self.start() as process:
            self._processes.add(process)
            ends = False
            try:
                child.greet(process)
                while not self.stopped:
                    try:
                        task = self._tasks.popleft()
                    except IndexError:
                        ends = True  # by itself, and what it took is known
                        return
                    if not self.answered(process, task):
                        return
            finally:
                self._processes.discard(process)
                if not ends:
                    process.kill()
