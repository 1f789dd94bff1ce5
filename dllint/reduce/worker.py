"""A process that collects the files it is told of."""

from __future__ import annotations

import gc
import json
import os
import sys

from dllint.reduce import pack
from dllint.reduce.disk import collect_file
from dllint.reduce.pool import receive, send


def main() -> None:
    """Lists of paths from standard input; for each path its digest and what became of it to standard output."""
    root = sys.argv[2]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get between the answers
    gc.disable()  # trees are no garbage while they grow, and have no cycles when they go
    try:
        send(answers, b"")
        while True:
            for path in json.loads(receive(sys.stdin.buffer)):
                fresh = collect_file(root, path)
                send(answers, fresh.digest)
                send(answers, pack(fresh.item))
    except (EOFError, BrokenPipeError):
        os._exit(0)
