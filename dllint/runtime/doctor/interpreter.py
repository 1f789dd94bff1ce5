"""The Python that trains: its version, its default start method, its torch, which is not imported."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

from dllint.runtime.doctor.fact import Fact, Verdict
from dllint.start_methods import PICKLING

_ASKED = """
import importlib.metadata, json, multiprocessing, platform, sys
def version(name):
    try:
        return importlib.metadata.version(name)
    except Exception:
        return ""
print(json.dumps([platform.python_version(), sys.platform, multiprocessing.get_start_method(), version("torch"),
                  version("tokenizers")]))
"""
SECONDS = 60


class Interpreter(NamedTuple):
    """A Python and what it would do."""

    executable: str
    version: str
    platform: str
    start_method: str
    torch: str
    """The version of torch, or ""."""
    tokenizers: str

    @property
    def pickles(self) -> bool:
        """Whether its workers are sent pickles."""
        return self.start_method in PICKLING


class NoInterpreter(Exception):
    """The Python could not be asked; the message says why."""


def ask(executable: str) -> Interpreter:
    """Ask a Python about itself, in a process of its own. Raises NoInterpreter."""
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _ASKED], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        answer = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoInterpreter(f"{executable}: cannot be run: {error}") from error
    except ValueError:
        last = done.stderr.strip().splitlines()[-1:] or ["no answer"]
        raise NoInterpreter(f"{executable}: is not Python 3.8 or later: {last[0]}") from None
    return Interpreter(executable, *answer)


def interpreter(python: Interpreter) -> Iterator[Fact]:
    """What follows from the Python alone."""
    yield Fact("python", f"Python {python.version} on {python.platform} ({python.executable})")
    if python.torch:
        yield Fact("torch", f"torch {python.torch}")
    else:
        yield Fact(
            "torch",
            "this Python has no torch",
            Verdict.NOTE,
            "name the Python that runs your training: `--python .venv/bin/python`",
        )
    method = python.start_method
    if python.pickles:
        yield Fact(
            "start-method",
            f"workers are started by {method} by default: dataset, collate_fn and worker_init_fn are "
            "pickled, the main script is imported again, and every worker has its own copy of the dataset",
            Verdict.NOTE,
            "`dllint check` finds what cannot be pickled; keep large data in memory maps or tensors",
        )
    else:
        yield Fact(
            "start-method",
            "workers are started by fork by default: nothing is pickled; Python objects are copied as they "
            "are read, CUDA must not be used before, threads are lost",
            Verdict.NOTE,
        )
    yield Fact("sharing-strategy", _strategy(python.platform))


def _strategy(platform: str) -> str:
    match platform:
        case "darwin":
            return "tensors are shared by file_system: by name, through torch_shm_manager"
        case "win32":
            return "tensors are shared by mappings that the paging file backs"
    return "tensors are shared by file_descriptor: one descriptor for each that is kept"
