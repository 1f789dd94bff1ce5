"""Programs that need a GPU: whether there is one, and what a program does under a start method."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest


def _has_gpu() -> bool:
    """Whether there is a GPU; torch is imported only where the driver is."""
    if not Path("/dev/nvidiactl").exists():
        return False
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


needs_gpu = pytest.mark.skipif(not _has_gpu(), reason="needs a GPU that torch can use")


class Ran(NamedTuple):
    """How a program ended, None if it was still running, and what it printed."""

    status: int | None
    out: str
    errors: str


def run(folder: Path, code: str, method: str, limit: int = 90, environment: Mapping[str, str] | None = None) -> Ran:
    """Run a program under a start method, and end it and its workers."""
    set_method = "import os, multiprocessing\nmultiprocessing.set_start_method(os.environ['METHOD'])\n"
    for name, text in {"main.py": code, "sitecustomize.py": set_method}.items():
        (folder / name).write_text(text)
    all_of_it = {**os.environ, "PYTHONPATH": str(folder), "METHOD": method, **(environment or {})}
    with (folder / "out").open("wb") as out, (folder / "errors").open("wb") as errors:
        program = subprocess.Popen(
            [sys.executable, "main.py"], cwd=folder, env=all_of_it, stdout=out, stderr=errors, start_new_session=True
        )
        try:
            status = program.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
    return Ran(status, (folder / "out").read_text(), (folder / "errors").read_text())
