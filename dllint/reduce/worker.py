"""A process that collects the files it is given."""

from __future__ import annotations

import gc
import json
import os
import sys

from dllint.reduce import child, pack
from dllint.reduce.disk import collect_file


def main() -> None:
    """Lists of paths from standard input; for each path its digest and what became of it to standard output."""
    root = sys.argv[2]
    gc.disable()  # trees aren't garbage while they grow, and have no cycles when they are freed
    try:
        answers = child.greeting()
        while True:
            for path in json.loads(child.receive(sys.stdin.buffer)):
                fresh = collect_file(root, path)
                child.send(answers, fresh.digest)
                child.send(answers, pack(fresh.item))
    except (EOFError, BrokenPipeError):
        os._exit(0)
