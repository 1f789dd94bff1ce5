"""Many files to their facts: here, or in processes beside this one where that is worth their start.

Files are handed out in small batches, so all processes are busy to the end. One that dies takes its batch with it: the
files of the batch are tried one by one, and the one that kills again is reported.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from dllint.reduce import Collected, child, pack, unpack, unreadable
from dllint.reduce.crew import Crew
from dllint.reduce.disk import Fresh, collect_file

WORTH = 1_200_000
"""Bytes of source (30,000 lines, 0.4 s of work) from which on processes pay for their start, 0.06 s each."""
BATCH = 400_000
"""Bytes of source that a process is given at once."""


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
    except (child.Unusable, OSError):
        yield from (collect_file(root, path) for path in left)


_Answer = tuple[str, bytes, bytes]
"""Path, digest of the content, what became of it."""


class _Pool(Crew[list[str], _Answer]):
    """Processes that collect batches of files."""

    def __init__(self, root: str, sized: Sequence[tuple[str, int]], jobs: int) -> None:
        super().__init__(_batches(sized), len(sized), jobs)
        self._root = root

    def results(self) -> Iterator[Fresh]:
        """The results as they come."""
        for path, contents, packed in self.answers():
            yield Fresh(path, contents, unpack(packed, path), packed)

    def start(self) -> subprocess.Popen[bytes]:
        return _start(self._root)

    def answered(self, process: subprocess.Popen[bytes], task: list[str]) -> bool:
        """Whether the process has collected a batch. The rest of one that killed it is tried again, file by file."""
        assert process.stdin and process.stdout
        left = deque(task)
        with contextlib.suppress(OSError, EOFError):
            child.send(process.stdin, json.dumps(task).encode())
            while left:
                contents, packed = child.receive(process.stdout), child.receive(process.stdout)
                self.told((left.popleft(), contents, packed))
            return True
        if not self.stopped:
            died = "the parser died of it"
            if len(task) == 1:
                self.told((task[0], b"", pack(Collected(problem=unreadable(task[0], died)))))
            else:
                self.again([path] for path in left)
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
    return child.start("dllint.reduce.worker", root)
