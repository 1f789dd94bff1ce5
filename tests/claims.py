"""Runs a small program under a start method and says how it ended, whatever it does to its machine.

Each program has its own folder, session and time limit. Programs that start processes forever are stopped when they
have started too many; programs that hang are recognised by a whole window in which none of their processes computes.
POSIX only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

import psutil

SITE = Path(__file__).parent / "claims_site"
LIMIT = 150.0
"""Seconds after which a program that still computes counts as hanging."""
IDLE = 9.0
"""Seconds without computing that prove a hang; a loader looks after its workers every 5 seconds."""
MOST_STARTED = 24
"""Processes that a program of a page may start in its life; more than that is a program that respawns forever."""

_PRINTED = re.compile(r"^(?:[A-Za-z_]\w*\.)*([A-Z]\w*)(?::.*)?$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"


@dataclass(frozen=True)
class Outcome:
    """How a program ended.

    `kind` is ok, raises, hangs, dies or complains (as in `dllint.testing`); `types` are the names of the exception that
    ended it and of its bases, or of the exceptions that children printed; `why` explains a hang.
    """

    kind: str
    types: tuple[str, ...]
    status: int | None
    stdout: str
    stderr: str
    seconds: float
    session: int
    why: str = ""

    def __str__(self) -> str:
        names = f" {self.types[0]}" if self.types else ""
        why = f" ({self.why})" if self.why else ""
        return f"{self.kind}{names}{why}, exit status {self.status}, {self.seconds:.1f} s"


@dataclass
class _Watch:
    """What is known of a session's processes over time."""

    session: int
    started: set[int] = field(default_factory=set)
    quiet_since: float = field(default_factory=time.monotonic)
    last: tuple[frozenset[int], float] = (frozenset(), -1.0)

    def verdict(self, began: float) -> str:
        """Why the program will not end by itself, or "" while it may."""
        now = time.monotonic()
        alive = frozenset(process.pid for process in left_over(self.session))
        computed = sum(map(_seconds_computed, alive))
        self.started |= alive
        if alive != self.last[0] or computed - self.last[1] > 0.1:
            self.last = (alive, computed)
            self.quiet_since = now
        if len(self.started) > MOST_STARTED:
            return f"{len(self.started)} processes started"
        if now - self.quiet_since > IDLE:
            return f"nothing computed for {IDLE:.0f} s"
        return f"still running after {LIMIT:.0f} s" if now - began > LIMIT else ""


def run(files: Mapping[str, str], main: str, method: str, inside: Sequence[str] = (), cold: bool = False) -> Outcome:
    """Run `main` among `files`, with `method` as the platform's default start method.

    `inside` is a command that runs the command it is given, in surroundings of its own. With it, and if `cold`, the
    program begins with a new interpreter; otherwise torch has been imported (see `claims_host.py`).
    """
    # A short path of our own: the sockets of a fork server may not be longer than 104 characters.
    with tempfile.TemporaryDirectory(prefix="dll", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        project, scratch = folder / "p", folder / "t"
        scratch.mkdir()
        for path, text in files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text, encoding="utf-8")
        return _run(project, main, method, folder, inside, cold or bool(inside))


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHON", "COV"))}
    return kept | {
        "PYTHONPATH": str(SITE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }


class _Program(Protocol):
    """The main process of a program."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class _Forked:
    """A program that the host runs. It is asked for like a `subprocess.Popen`."""

    def __init__(self) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.begun = threading.Event()
        self._ended = threading.Event()

    def end(self, status: int) -> None:
        self.returncode = status
        self._ended.set()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout) or self.returncode is None:
            raise subprocess.TimeoutExpired("program", timeout or 0.0)
        return self.returncode


class _Host:
    """The process of `claims_host.py`, and what it says of its programs."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "claims_host.py")],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lock = threading.Lock()
        self._asked: list[_Forked] = []
        self._running: dict[int, _Forked] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "number" in said:
                program = self._running[said["pid"]] = self._asked[said["number"]]
                program.pid = said["pid"]
                program.begun.set()
            else:
                self._running.pop(said["pid"]).end(said["status"])

    def start(self, request: Mapping[str, str]) -> _Forked:
        """Begin with a program. Raises TimeoutError if the host doesn't."""
        program = _Forked()
        with self._lock:
            self._asked.append(program)
            line = json.dumps({**request, "number": len(self._asked) - 1})
            assert self._process.stdin is not None
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        if not program.begun.wait(LIMIT):
            raise TimeoutError(f"the host has not begun with {line}, its exit status is {self._process.poll()}")
        return program


@cache
def _host() -> _Host:
    return _Host()


_STARTING = threading.Lock()


def _started(project: Path, main: str, method: str, folder: Path, inside: Sequence[str], cold: bool) -> _Program:
    """The main process of a program, in a session of its own."""
    out, err, scratch, report = folder / "out", folder / "err", folder / "t", folder / "report.json"
    if not cold:
        with _STARTING:
            host = _host()
        paths = {"folder": project, "out": out, "err": err, "scratch": scratch, "report": report}
        return host.start({"main": main, "method": method, **{name: str(path) for name, path in paths.items()}})
    asked = {"TMPDIR": str(scratch), "DLLINT_CLAIM_METHOD": method, "DLLINT_CLAIM_REPORT": str(report)}
    with out.open("wb") as stdout, err.open("wb") as stderr:
        return subprocess.Popen(
            [*inside, sys.executable, main],
            cwd=project,
            env=_environment() | asked,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )


def _run(project: Path, main: str, method: str, folder: Path, inside: Sequence[str], cold: bool) -> Outcome:
    began = time.monotonic()
    out, err = folder / "out", folder / "err"
    out.touch()
    err.touch()
    process = _started(project, main, method, folder, inside, cold)
    try:
        why = _wait(process, began)
    finally:
        _end_session(process)
    stderr_text = err.read_text(encoding="utf-8", errors="replace")
    kind, types = _kind(process.returncode or 0, why, stderr_text, folder / "report.json")
    return Outcome(
        kind,
        types,
        None if why else process.returncode,
        out.read_text(encoding="utf-8", errors="replace"),
        stderr_text,
        time.monotonic() - began,
        process.pid,
        why,
    )


def _wait(process: _Program, began: float) -> str:
    watch = _Watch(process.pid)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.2)
            return ""
        if why := watch.verdict(began):
            return why


def _kind(status: int, why: str, stderr: str, report: Path) -> tuple[str, tuple[str, ...]]:
    if why:
        return "hangs", ()
    if report.exists():
        return "raises", tuple(json.loads(report.read_text(encoding="utf-8"))["types"])
    if status:
        return "dies", ()
    if _TRACEBACK in stderr:
        return "complains", tuple(_PRINTED.findall(stderr[stderr.index(_TRACEBACK) :]))
    return "ok", ()


def left_over(session: int) -> Iterator[psutil.Process]:
    """The living processes of a session."""
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getsid(pid) == session:
                process = psutil.Process(pid)
                if process.status() != psutil.STATUS_ZOMBIE:
                    yield process


def _seconds_computed(pid: int) -> float:
    with contextlib.suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return 0.0


def _end_session(process: _Program) -> None:
    """Kill whatever is left, the resource tracker last: it removes the semaphores of those that were killed."""
    for patience in (3.0, 0.0):
        until = time.monotonic() + patience
        while left := list(left_over(process.pid)):
            for member in left:
                with contextlib.suppress(psutil.Error):
                    if patience == 0 or "resource_tracker" not in " ".join(member.cmdline()):
                        member.send_signal(signal.SIGKILL)
            if patience and time.monotonic() > until:
                break
            process.poll()
            time.sleep(0.02)
    process.wait()
