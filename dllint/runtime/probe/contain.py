"""Runs a program that may hang, crash, fill memory, print forever or start processes forever, and ends all of it.

The program gets a session of its own. What belongs to it is found by the session, by descent and, at the end, by a
variable in the environment, which even a process that has left both still carries.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

import msgspec
import psutil

from dllint.runtime.probe.plan import STACKS

TICK = 0.1
KEPT = 64_000
"""Bytes of output that are kept: the last ones."""
MARK = "DLLINT_PROBE"


class Limits(msgspec.Struct, frozen=True):
    """What a program may use, with all the processes that it starts."""

    seconds: float
    idle: float
    """Seconds in which it neither computes nor starts a process nor tells anything."""
    memory: float
    """MB."""
    processes: Callable[[], int]
    """Processes that it may have started by now."""


class Ending(msgspec.Struct, frozen=True):
    """How a program ended: by itself with `status`, or stopped, and `why`."""

    status: int | None
    why: str
    output: str
    """The end of what it printed."""
    printed: int
    """Bytes."""
    seconds: float

    @property
    def signal(self) -> str:
        """The name of the signal that it died of, or ""."""
        if self.why or self.status is None or self.status >= 0:
            return ""
        with contextlib.suppress(ValueError):
            return signal.Signals(-self.status).name
        return f"signal {-self.status}"


def contain(command: Sequence[str], limits: Limits, news: Callable[[], bool], env: Mapping[str, str]) -> Ending:
    """Run a program to its end or to its limits. `news` is called all the time, and says whether there is any."""
    mark = uuid.uuid4().hex
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        env={**env, MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    printed = _Tail(process.stdout)
    family = _Family(process.pid, mark)
    try:
        with _terminable():
            why = _wait(process, family, limits, news, began)
        if why:
            family.ask_for_stacks()
    finally:
        family.end(process)
    printed.thread.join(1.0)
    news()
    return Ending(None if why else process.returncode, why, printed.text(), printed.size, time.monotonic() - began)


def _wait(
    process: subprocess.Popen[bytes], family: _Family, limits: Limits, news: Callable[[], bool], began: float
) -> str:
    """Wait for the end; why it was not waited for, or ""."""
    sign = began
    computed, started = 0.0, len(family.seen)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=TICK)
            return ""
        now, members = time.monotonic(), family.members()
        total = sum(map(_computed, members))
        if news() or abs(total - computed) > TICK or len(family.seen) > started:
            sign, computed, started = now, total, len(family.seen)
        if len(family.seen) > limits.processes():
            return f"it started {len(family.seen)} processes"
        if limits.memory and _exceeds(members, limits.memory):
            return f"it took more than {limits.memory:,.0f} MB of memory"
        if now - sign > limits.idle:
            return f"nothing happened for {limits.idle:.0f} s"
        if now - began > limits.seconds:
            return f"it was not done after {limits.seconds:.0f} s"


class _Tail:
    """Reads a stream to its end and keeps the last of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.size = 0
        self._kept = b""
        self._stream = stream
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        while data := os.read(self._stream.fileno(), KEPT):
            self.size += len(data)
            self._kept = (self._kept + data)[-KEPT:]
        self._stream.close()

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


class _Family:
    """The processes of a program."""

    def __init__(self, session: int, mark: str) -> None:
        self.session = session
        self.seen: set[int] = {session}
        self._mark = mark

    def members(self) -> list[psutil.Process]:
        """Those that live."""
        found = {process.pid: process for process in self._living()}
        self.seen |= set(found)
        return list(found.values())

    def _living(self) -> Iterator[psutil.Process]:
        with contextlib.suppress(psutil.Error):
            yield from psutil.Process(self.session).children(recursive=True)
        for pid in psutil.pids():
            with contextlib.suppress(OSError, psutil.Error):
                if pid == self.session or (hasattr(os, "getsid") and os.getsid(pid) == self.session):
                    process = psutil.Process(pid)
                    if process.status() != psutil.STATUS_ZOMBIE:
                        yield process

    def _marked(self) -> Iterator[psutil.Process]:
        """Those that left the session and their parents, too."""
        for process in psutil.process_iter():
            with contextlib.suppress(OSError, psutil.Error):
                if process.pid != os.getpid() and process.environ().get(MARK) == self._mark:
                    yield process

    def ask_for_stacks(self) -> None:
        """Let those that can write down where they are."""
        if STACKS:
            for process in self.members():
                with contextlib.suppress(OSError, psutil.Error):
                    process.send_signal(STACKS)
            time.sleep(0.5)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill what is left; the resource tracker last, which removes the semaphores and files of the others."""
        for patience in (3.0, 0.0):
            until = time.monotonic() + patience
            while left := self.members():
                for member in left:
                    with contextlib.suppress(OSError, psutil.Error):
                        if not patience or "resource_tracker" not in " ".join(member.cmdline()):
                            member.kill()
                if patience and time.monotonic() > until:
                    break
                process.poll()
                time.sleep(0.02)
        for member in self._marked():
            with contextlib.suppress(OSError, psutil.Error):
                member.kill()
        process.wait()


def _computed(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def _exceeds(processes: Sequence[psutil.Process], limit: float) -> bool:
    """Whether these take more memory: asked cheaply, and exactly only where shared pages, counted often, may matter."""
    return sum(map(_resident, processes)) > limit and sum(map(_proportional, processes)) > limit


def _resident(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        return float(process.memory_info().rss) / 1e6
    return 0.0


def _proportional(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        usage = process.memory_full_info()
        return float(getattr(usage, "pss", usage.uss)) / 1e6
    return _resident(process)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let a polite request to end clean up as an interrupt does."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return

    def end(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
