"""A process that checks the projects it is told of."""

from __future__ import annotations

import os
import sys

import msgspec

from dllint.engine.session import Request
from dllint.engine.several import checked
from dllint.reduce import child


def main() -> None:
    """Requests from standard input; for each what it comes to, or nothing where that cannot be sent."""
    try:
        answers = child.greeting()
        while True:
            request = msgspec.msgpack.decode(child.receive(sys.stdin.buffer), type=Request)
            child.send(answers, _answer(request))
    except (EOFError, BrokenPipeError):
        os._exit(0)


def _answer(request: Request) -> bytes:
    try:
        return msgspec.msgpack.encode(checked(request))
    except Exception:  # it will be raised, or told, where it is asked for again
        return b""
