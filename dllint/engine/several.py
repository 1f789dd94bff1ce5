"""Projects below a folder that isn't one: each is checked as if it were named alone, and all are reported as one run.

What one repository does says nothing about the next one; each has its own configuration, and a process holds only one
of them in memory at a time.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

import msgspec

from dllint import config, files
from dllint.engine import single
from dllint.engine.piece import Piece, joined, piece
from dllint.engine.planning import Plan, planned
from dllint.engine.progress import steps
from dllint.engine.result import Result
from dllint.engine.session import Request, Session
from dllint.files import posix
from dllint.reduce import child
from dllint.reduce.crew import Crew

WORTH = 200
"""Files from which on processes pay for their start."""


def sessions(request: Request) -> list[Session]:
    """One session for each project that the arguments are about; none where the arguments are one project themselves.

    Raises UnknownRule, RegistryError, and ConfigError if any of the projects is configured wrongly.
    """
    found = files.projects(config.homeless(request.paths), request.paths)
    asked = (Session(msgspec.structs.replace(request, paths=tuple(paths))) for paths in found.values())
    return [one for one in asked if one.selection.targets or one.selection.missing or one.selection.ignored]


def plan(request: Request, asked: Sequence[Session]) -> Plan:
    """What `check` would do."""
    own = config.load(request.paths, isolated=request.isolated, settings=request.settings)
    each = [(_folder(own.root, session.config.root), planned(session)) for session in asked]
    return Plan(
        config=own,
        codes=frozenset(chain.from_iterable(part.codes for _, part in each)),
        files=tuple(f"{folder}/{path}" for folder, part in each for path in part.files),
        targets=frozenset(f"{folder}/{path}" for folder, part in each for path in part.targets),
        configurations=tuple(chain.from_iterable(part.configurations for _, part in each)),
    )


def check(request: Request, asked: Sequence[Session]) -> Result:
    """All that is found in these projects. Raises Changed."""
    own = config.load(request.paths, isolated=request.isolated, settings=request.settings)
    pieces = steps("checking projects", _pieces(asked, request.jobs), len(asked), lambda one: one.root)
    return joined(own, [(_folder(own.root, one.root), one) for one in pieces])


def checked(request: Request) -> Piece:
    """What one project comes to. Raises Changed."""
    return piece(single.undisturbed(lambda: single.check(Session(request))))


def checked_here(request: Request) -> Piece:
    """The same, and nothing of the project left in memory."""
    try:
        return checked(request)
    finally:
        gc.collect()  # it is full of cycles


def _folder(root: str, inner: str) -> str:
    return posix(os.path.relpath(inner, root))


def _pieces(asked: Sequence[Session], jobs: int) -> Iterator[Piece]:
    """What is remembered first, then the others, in processes beside this one if there are many."""
    waiting = []
    for session in asked:
        known = single.undisturbed(partial(_remembered, session))
        if known:
            yield piece(known)
        else:
            waiting.append(session)
    waiting.sort(key=lambda session: -len(session.selection.files))  # or the largest would be waited for
    size = sum(len(session.selection.files) for session in waiting)
    if min(jobs, len(waiting)) < 2 or size < WORTH or not sys.executable or getattr(sys, "frozen", False):
        yield from (checked_here(session.request) for session in waiting)
    else:
        yield from _beside(waiting, jobs)


def _remembered(session: Session) -> Result | None:
    return single.recalled(session, session.survey()) if session.known else None


def _beside(waiting: Sequence[Session], jobs: int) -> Iterator[Piece]:
    """Checked in processes beside this one; here, if no process can be started or what it says cannot be sent."""
    left = {session.config.root: session.request for session in waiting}
    inner = max(1, jobs // len(left))
    tasks = []
    for root, request in left.items():
        with contextlib.suppress(UnicodeEncodeError):  # a path that isn't text
            tasks.append((root, msgspec.msgpack.encode(msgspec.structs.replace(request, jobs=inner))))
    with contextlib.suppress(child.Unusable, OSError):
        for root, answer in _Crew(tasks, len(tasks), min(jobs, len(tasks))).answers():
            if answer is not None:
                del left[root]
                yield answer
    yield from map(checked_here, left.values())


class _Crew(Crew[tuple[str, bytes], tuple[str, Piece | None]]):
    """Processes that check projects: a root with its request, a root with what it comes to."""

    def start(self) -> subprocess.Popen[bytes]:
        return child.start("dllint.engine.worker")

    def answered(self, process: subprocess.Popen[bytes], task: tuple[str, bytes]) -> bool:
        """Whether the process has checked a project; a project that kills it is reported."""
        assert process.stdin and process.stdout
        root, request = task
        with contextlib.suppress(OSError, EOFError):
            child.send(process.stdin, request)
            told = child.receive(process.stdout)
            self.told((root, msgspec.msgpack.decode(told, type=Piece) if told else None))
            return True
        if not self.stopped:
            died = f"the process that checked it died ({process.wait()})"
            self.told((root, Piece(root=root, crashes=(died,))))
        return False
