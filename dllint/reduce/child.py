"""Processes beside this one: fresh interpreters that speak through their pipes, the same on every platform.

A fork of this one would be a copy of whatever runs it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import IO


class Unusable(Exception):
    """A process could not even start."""


def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A process that runs a module's `main`, with our search path and nothing else of its surroundings.

    `-I` keeps the folder out. Whoever started this is interrupted too, and ends it: it ignores that from its first
    line on.
    """
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); import json, sys; "
        f"sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"
    )
    quiet = ["-B"] if sys.dont_write_bytecode else []
    return subprocess.Popen(
        [sys.executable, "-I", *quiet, "-c", code, json.dumps(sys.path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def greet(process: subprocess.Popen[bytes]) -> None:
    """Wait for the empty message that a process begins with. Raises Unusable."""
    assert process.stdout
    try:
        receive(process.stdout)
    except EOFError:
        raise Unusable from None


def greeting() -> IO[bytes]:
    """Inside such a process: where its messages go, the empty one sent. What a library prints goes elsewhere."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    send(answers, b"")
    return answers


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
