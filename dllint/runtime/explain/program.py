"""A program that is run to be explained: its output goes where it always goes, and is read on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from dllint.runtime.explain.log import texts
from dllint.runtime.explain.reading import Reader, Reading

GRACE = 5.0
"""Seconds for output that still comes when the program has ended, and for a program that was asked to end."""
TIMED_OUT = 124
"""The status of a program that did not end in time, as `timeout` has it."""
_PIECE = 65536


class Ended(NamedTuple):
    """How a program ended: its status as shells give it, and what its output holds."""

    status: int
    reading: Reading


def run(command: Sequence[str], timeout: float | None = None) -> Ended:
    """Run a command to its end and read what it says. Raises OSError when it cannot be started.

    Python programs write at once, and show their stacks when they crash. After `timeout` seconds the
    program is made to show them, and ended.
    """
    environment = {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"} | dict(os.environ)
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=timeout is not None
    )
    reader, lock = Reader(), threading.Lock()
    assert process.stdout is not None and process.stderr is not None
    pairs = ((process.stdout, sys.stdout), (process.stderr, sys.stderr))
    threads = [threading.Thread(target=_follow, args=(*pair, reader, lock), daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    status = _wait(process, timeout)
    for thread in threads:
        thread.join(GRACE)
    with lock:
        if status == TIMED_OUT:
            reader.feed(f"the program was still running after {timeout:g} seconds and was ended\n")
        elif status < 0:
            reader.feed(f"the program is killed by signal: {signal.strsignal(-status)}\n")
            status = 128 - status
        return Ended(status, reader.result())


def _wait(process: subprocess.Popen[bytes], timeout: float | None) -> int:
    """The exit status. An interrupt is the program's business first; the second one is for good.

    A program that has a timeout has a session of its own, so that all of its processes can be ended.
    """
    interrupted, ended = False, False
    while True:
        try:
            status = process.wait(timeout)
            return TIMED_OUT if ended else status
        except KeyboardInterrupt:
            if timeout is not None:
                _signal_all(process, signal.SIGINT)
            if interrupted:
                process.kill()
            interrupted = True
        except subprocess.TimeoutExpired:
            _show_stacks(process)
            timeout, ended = None, True


def _show_stacks(process: subprocess.Popen[bytes]) -> None:
    """faulthandler writes all stacks when the program aborts; Windows can only end it."""
    if sys.platform == "win32":
        process.terminate()
        return
    process.send_signal(signal.SIGABRT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    _signal_all(process, signal.SIGKILL)


def _signal_all(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to a program and to all that it started."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


def _follow(pipe: IO[bytes], output: IO[str], reader: Reader, lock: threading.Lock) -> None:
    for text in texts(_copied(pipe, output)):
        with lock:
            reader.feed(text)


def _copied(pipe: IO[bytes], output: IO[str]) -> Iterator[bytes]:
    while piece := os.read(pipe.fileno(), _PIECE):
        with contextlib.suppress(OSError, ValueError):
            output.buffer.write(piece)  # type: ignore[attr-defined]
            output.flush()
        yield piece
