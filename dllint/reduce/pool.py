"""Many files to their facts: here, or in processes beside this one where that is worth their start.

The processes are fresh interpreters that speak through their pipes, the same on every platform; a fork of this one
would be a copy of whatever runs it. Files are handed out in small batches, so all are busy to the end. A process that
dies takes its batch with it: the files of the batch are tried one by one, and the one that kills again is told of.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from dllint.reduce import Collected, pack, unpack, unreadable
from dllint.reduce.disk import Fresh, collect_file

WORTH = 1_200_000
"""Bytes of source (30,000 lines, 0.4 s of work) from which on processes pay for their start, 0.06 s each."""
BATCH = 400_000
"""Bytes of source that a process is given at once."""


class Unusable(Exception):
    """A process could not even start."""


def collect_files(
    root: str, sized: Sequence[tuple[str, int]], overlay: Mapping[str, bytes], jobs: int
) -> Iterator[Fresh]:
    """Read and collect files, given with their sizes, in any order."""
    total = sum(size for _, size in sized)
    jobs = min(jobs, len(sized), total // (WORTH // 2))
    if jobs < 2 or not sys.executable or getattr(sys, "frozen", False):
        yield from (collect_file(root, path, overlay.get(path)) for path, _ in sized)
        return
    yield from (collect_file(root, path, overlay[path]) for path, _ in sized if path in overlay)
    left = {path: size for path, size in sized if path not in overlay}
    try:
        for fresh in _Pool(root, list(left.items()), jobs).results():
            del left[fresh.path]
            yield fresh
    except (Unusable, OSError):
        yield from (collect_file(root, path) for path in left)


_Answer = tuple[str, bytes, bytes]
"""Path, digest of the content, what became of it."""


class _Pool:
    """Processes that take batches until there are none."""

    def __init__(self, root: str, sized: Sequence[tuple[str, int]], jobs: int) -> None:
        self._root = root
        self._left = len(sized)
        self._batches = deque(_batches(sized))
        self._done: queue.SimpleQueue[_Answer | BaseException] = queue.SimpleQueue()
        self._stopped = False
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]

    def results(self) -> Iterator[Fresh]:
        """The results as they come. When the caller is interrupted, so are the processes."""
        try:
            for thread in self._threads:
                thread.start()
            for _ in range(self._left):
                path, contents, packed = self._next()
                yield Fresh(path, contents, unpack(packed, path), packed)
        finally:
            self._stopped = True
            for process in list(self._processes):
                process.kill()
            for thread in self._threads:
                thread.join()

    def _next(self) -> _Answer:
        """The next result. Waiting with a limit can be interrupted on every platform."""
        while True:
            with contextlib.suppress(queue.Empty):
                result = self._done.get(timeout=0.5)
                if isinstance(result, BaseException):
                    raise result
                return result

    def _serve(self) -> None:
        """One process after the other, until there are no batches."""
        try:
            while self._batches and not self._stopped:
                self._run()
        except BaseException as error:
            self._done.put(error)

    def _run(self) -> None:
        """One process, until it dies or there are no batches."""
        with _start(self._root) as process:
            self._processes.add(process)
            try:
                _greet(process)
                while not self._stopped:
                    try:
                        batch = self._batches.popleft()
                    except IndexError:
                        return
                    if not self._answered(process, batch):
                        return
            finally:
                self._processes.discard(process)
                process.kill()

    def _answered(self, process: subprocess.Popen[bytes], batch: list[str]) -> bool:
        """Whether the process has collected a batch. The rest of one that killed it is tried again, file by file."""
        assert process.stdin and process.stdout
        left = deque(batch)
        with contextlib.suppress(OSError, EOFError):
            send(process.stdin, json.dumps(batch).encode())
            while left:
                contents, packed = receive(process.stdout), receive(process.stdout)
                self._done.put((left.popleft(), contents, packed))
            return True
        if not self._stopped:
            died = "the parser died of it"
            if len(batch) == 1:
                self._done.put((batch[0], b"", pack(Collected(problem=unreadable(batch[0], died)))))
            else:
                self._batches.extendleft([path] for path in left)
        return False


def _batches(sized: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    """The largest files first, or the last one would be waited for."""
    batch: list[str] = []
    held = 0
    for path, size in sorted(sized, key=lambda entry: -entry[1]):
        batch.append(path)
        held += size
        if held >= BATCH:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _start(root: str) -> subprocess.Popen[bytes]:
    """A fresh interpreter with our search path and nothing else of its surroundings: `-I` keeps the folder out.

    Whoever started this is interrupted too, and ends it: it ignores that from its first line on.
    """
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import json, sys; "
        "sys.path[:] = json.loads(sys.argv[1]); from dllint.reduce.worker import main; main()"
    )
    quiet = ["-B"] if sys.dont_write_bytecode else []
    return subprocess.Popen(
        [sys.executable, "-I", *quiet, "-c", code, json.dumps(sys.path), root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def _greet(process: subprocess.Popen[bytes]) -> None:
    """Wait for the empty message that a process begins with. Raises Unusable."""
    assert process.stdout
    try:
        receive(process.stdout)
    except EOFError:
        raise Unusable from None


def send(stream: IO[bytes], data: bytes) -> None:
    """A message: its length, then itself."""
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message. Raises EOFError when there is none."""
    head = stream.read(8)
    data = stream.read(int.from_bytes(head, "big")) if len(head) == 8 else b""
    if len(head) < 8 or len(data) < int.from_bytes(head, "big"):
        raise EOFError
    return data
