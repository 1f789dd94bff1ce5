"""A process that checks the projects it is given, each in a forked copy of itself if the platform can fork.

A copy ends without putting millions of objects away, which takes a tenth of the time, and its memory is free at once.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

import msgspec

from dllint import registry
from dllint.engine import run  # here, and not in every copy
from dllint.engine.corpus import Changed
from dllint.engine.piece import Piece
from dllint.engine.session import Request
from dllint.engine.several import checked, checked_here
from dllint.reduce import child

__all__ = ["main", "run"]
PAUSE_S = 0.5
"""Between two looks whether anybody still waits."""


def main() -> None:
    """Requests from standard input; for each what it comes to, or nothing where that cannot be sent."""
    answer = _copied if hasattr(os, "fork") else _here
    registry.rules()
    gc.freeze()
    try:
        answers = child.greeting()
        while True:
            answer(child.receive(sys.stdin.buffer), answers)
    except (EOFError, BrokenPipeError):
        os._exit(0)


def _here(request: bytes, answers: IO[bytes]) -> None:
    _answer(request, answers, checked_here)


def _copied(request: bytes, answers: IO[bytes]) -> None:
    """The answer by a copy of this process, in which no other thread runs."""
    own = os.getpid()
    copy = os.fork()
    if copy == 0:
        gc.disable()
        threading.Thread(target=_heed, args=(own,), daemon=True).start()
        try:
            _answer(request, answers, checked)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    if code:
        os._exit(code % 256)


def _answer(request: bytes, answers: IO[bytes], check: Callable[[Request], Piece]) -> None:
    try:
        told = msgspec.msgpack.encode(check(msgspec.msgpack.decode(request, type=Request)))
    except (Exception, Changed):  # it will be raised, or told, where it is asked for again
        told = b""
    child.send(answers, told)


def _heed(parent: int) -> None:
    """End this copy when the process that it is one of has ended."""
    while os.getppid() == parent:
        time.sleep(PAUSE_S)
    os._exit(1)
