"""The unit of work: one source, analyzed by a child process that is monitored from here, wherever an engine runs it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

import msgspec

from dllint.survey import trees
from dllint.survey.child import UNFIT, Order, sent
from dllint.survey.limits import MIB, Limits, Refused, Unfit
from dllint.survey.outcome import Outcome
from dllint.survey.trees import Tree

POLL_S = 0.05
"""How often a child's memory is looked at."""
TRIES = 10
"""How often a source is tried if its child is killed from outside, within its time."""


class _Killed(Exception):
    """A child was killed, and not by us: that says nothing about its source."""


class Settings(msgspec.Struct, frozen=True):
    """What holds for all sources of a run."""

    limits: Limits = Limits()
    isolated: bool = False


def ready() -> None:
    """Raise Unfit where the memory of processes cannot be seen."""
    if sys.platform != "linux" and importlib.util.find_spec("psutil") is None:
        raise Unfit('limits of memory need psutil here: pip install "dllint[survey]"')


def survey(tree: Tree, settings: Settings, stopped: threading.Event | None = None) -> Outcome:
    """What becomes of a source. Raises Unfit when this machine cannot tell, and when it is `stopped`."""
    began = time.monotonic()
    try:
        identity = trees.identity(tree)
    except Refused as error:
        return Outcome(kind=error.kind, reason=str(error))
    found = _tried(tree, identity, settings, stopped)
    return msgspec.structs.replace(found, identity=identity, seconds=round(time.monotonic() - began, 2))


def _tried(tree: Tree, identity: str, settings: Settings, stopped: threading.Event | None) -> Outcome:
    """What a child says; another one is asked when somebody kills it."""
    deadline = time.monotonic() + settings.limits.seconds
    for _ in range(TRIES):
        with contextlib.suppress(_Killed), _scratch() as scratch:
            return _watched(Order(tree, identity, settings.limits, settings.isolated, scratch), stopped)
        if time.monotonic() > deadline:
            break
    return Outcome(kind="failed", reason="its process was killed again and again")


@contextlib.contextmanager
def _scratch() -> Iterator[str]:
    """An empty folder. Raises Unfit."""
    try:
        folder = tempfile.mkdtemp(prefix="dllint-survey-")
    except OSError as error:
        raise Unfit(f"no folder to unpack into: {error.strerror or error}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _watched(order: Order, stopped: threading.Event | None) -> Outcome:
    """Start a child, end it when it takes more than it may, and read what it says."""
    limits = order.limits
    deadline = time.monotonic() + limits.seconds
    highest = 0.0
    with _start(order.scratch) as child:
        try:
            assert child.stdin
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(sent(order))
            told = _Told(child)
            while not told.ended(POLL_S):
                if stopped and stopped.is_set():
                    raise Unfit("stopped")
                highest = max(highest, resident(child.pid))
                if highest > limits.memory:
                    said = f"it takes more than {limits.memory} MiB of memory"
                    return Outcome(kind="over-memory", reason=said, peak_mb=round(highest, 1))
                if time.monotonic() > deadline:
                    said = f"it takes more than {limits.seconds:g} s"
                    return Outcome(kind="over-time", reason=said, peak_mb=round(highest, 1))
        finally:
            _kill(child)
    return _read(child.returncode, told.data, order)


class _Told:
    """What a child says, read while it is waited for."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.data = b""
        self._child = child
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self._child.stdout
        with contextlib.suppress(OSError, ValueError):
            self.data = self._child.stdout.read()

    def ended(self, seconds: float) -> bool:
        """Wait a little; whether the child has said all and is gone."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)
        return self._child.returncode is not None


def _start(scratch: str) -> subprocess.Popen[bytes]:
    """A fresh interpreter with our search path and nothing else of its surroundings."""
    code = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dllint.survey.child import main"
    code += "; main(sys.argv[2])"
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", code, json.dumps(sys.path), scratch],
            bufsize=0,  # what a child that is gone has not read would be written again when the pipe is closed
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise Unfit(f"no process can be started: {error.strerror or error}") from None


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a child with all that it started."""
    if child.poll() is None and sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()


def _read(status: int, told: bytes, order: Order) -> Outcome:
    if status == UNFIT:
        raise Unfit(told.decode("utf-8", "replace"))
    with contextlib.suppress(msgspec.MsgspecError):
        if status == 0:
            return msgspec.json.decode(told, type=Outcome)
    if sys.platform != "win32" and status == -signal.SIGXCPU:
        return Outcome(kind="over-time", reason=f"it takes more than {order.limits.seconds:g} s")
    if sys.platform != "win32" and status == -signal.SIGKILL:
        raise _Killed
    how = signal.Signals(-status).name if -status in {*signal.Signals} else f"exit status {status}"
    return Outcome(kind="failed", reason=f"its process died: {how}")


def resident(pid: int) -> float:
    """The memory that a process has now, in MiB. On Linux by /proc, elsewhere by psutil, which `ready` asks for."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGESIZE") / MIB
    except (OSError, IndexError):
        if sys.platform == "linux":
            return 0.0
    psutil = importlib.import_module("psutil")
    with contextlib.suppress(psutil.Error):
        return float(psutil.Process(pid).memory_info().rss) / MIB
    return 0.0
