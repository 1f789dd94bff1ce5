"""Run a function with room for deep recursion: LibCST recurses in its parser (C stack) and code generator (Python)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

STACK = 64 * 1024 * 1024
"""Bytes of address space; only what is used becomes memory. Windows gives its main thread 1 MiB, where 200 nested
parentheses are enough to kill the process."""

_FRAMES = 50_000
_LOCK = threading.Lock()


def call_deep(function: Callable[[], Result], frames: int = 0) -> Result:
    """The function's result, computed in a thread with a large stack; `frames` raises the recursion limit meanwhile."""
    outcome: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as error:  # handed to the caller below
            errors.append(error)

    with _LOCK:
        limit = sys.getrecursionlimit()
        stack = threading.stack_size(STACK)
        try:
            thread = threading.Thread(target=run, name="dllint-deep", daemon=True)
            sys.setrecursionlimit(max(limit, frames))
            thread.start()
            thread.join()
        finally:
            threading.stack_size(stack)
            sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return outcome[0]


def recurse_deep(function: Callable[[], Result]) -> Result:
    """`function()`, and once more with room for deep recursion when it fails for want of that."""
    try:
        return function()
    except RecursionError:
        return call_deep(function, _FRAMES)
