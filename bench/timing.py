"""What a command takes, from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DLLINT = [sys.executable, "-m", "dllint", "check", "--output-format", "concise"]


class Cost(NamedTuple):
    """What a command took: seconds by the clock, seconds of all its processes, MB of its largest process."""

    wall: float
    cpu: float
    peak: float


def measured(command: list[str], folder: Path, cache: Path, stdin: bytes = b"") -> Cost:
    """Run a command to its end, whatever it finds."""
    return answered(command, folder, cache, stdin)[0]


def answered(command: list[str], folder: Path, cache: Path, stdin: bytes = b"") -> tuple[Cost, bytes]:
    """The same, with what it writes."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(stdin)
        given.seek(0)
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(cache), stdin=given, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        written = output.read()
    if process.returncode not in range(64):
        sys.exit(f"{' '.join(command)}: {process.returncode}\n{written.decode(errors='replace')[-2000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, megabytes(usage.ru_maxrss)), written


def megabytes(maxrss: int) -> float:
    """The unit of `ru_maxrss` is the platform's own."""
    return maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def _environment(cache: Path) -> dict[str, str]:
    """With this dllint and that cache, without modules of the folder. Bytecode is kept, as of installed packages."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "rules")))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1", "DLLINT_CACHE_DIR": str(cache)}
