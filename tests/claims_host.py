"""Runs programs as forks of a process that has imported torch, which takes longer than most programs of a page.

A program is the main module of its own process, session and folder, as if the interpreter had begun with it; only what
torch imports is there already. Requests are lines of JSON on standard input, answers lines of JSON on standard output.
"""

from __future__ import annotations

import json
import multiprocessing.process
import os
import select
import sys
import tempfile
from types import ModuleType
from typing import Any

import sitecustomize
import torch.utils.data  # noqa: F401

CHECKED_EVERY = 0.05
"""Seconds between two looks at which programs have ended."""


def answer(**values: int) -> None:
    os.write(1, (json.dumps(values) + "\n").encode())


def tell_who_ended() -> None:
    """Answer with the exit status of each program that has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        answer(pid=pid, status=os.waitstatus_to_exitcode(status))


def next_program() -> dict[str, str] | None:
    """In a new process, the program that it is to run; None at the end of the requests."""
    waiting = b""
    while True:
        if not select.select([0], [], [], CHECKED_EVERY)[0]:
            tell_who_ended()
            continue
        read = os.read(0, 65536)
        if not read:
            return None
        *lines, waiting = (waiting + read).split(b"\n")
        for line in lines:
            program: dict[str, Any] = json.loads(line)
            pid = os.fork()
            if not pid:
                return program
            answer(number=program["number"], pid=pid)


def begin(program: dict[str, str]) -> ModuleType:
    """A new main module for a program, which can't notice anything else of this process."""
    os.setsid()
    os.chdir(program["folder"])
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, program["out"], os.O_WRONLY),
        (2, program["err"], os.O_WRONLY),
    ):
        file = os.open(path, flags)
        os.dup2(file, number)
        os.close(file)
    os.environ["TMPDIR"] = program["scratch"]
    tempfile.tempdir = None
    multiprocessing.process.ORIGINAL_DIR = program["folder"]  # type: ignore[attr-defined]
    sitecustomize.prepare(program["method"], program["report"])
    sys.argv[:] = [program["main"]]
    sys.path[0] = program["folder"]
    module = ModuleType("__main__")
    module.__file__ = os.path.join(program["folder"], program["main"])
    sys.modules["__main__"] = module
    return module


if (program := next_program()) is not None:
    module = begin(program)
    path = str(module.__file__)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # At the top, so that the interpreter ends as it does after any program: it waits for children and threads.
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
