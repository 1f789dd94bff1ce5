"""Variables that change what workers do, and the folder of temporary files, which holds their sockets."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

from dllint.runtime.doctor.fact import Fact, Verdict
from dllint.runtime.doctor.interpreter import Interpreter
from dllint.runtime.doctor.machine import Machine
from dllint.runtime.doctor.processes import cores

_PREFIXES = ("PYTORCH_", "OMP_", "MKL_NUM_", "TORCH_NUM_", "KMP_")
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_SOCKET = "/pymp-abcdefgh/listener-abcdefgh"
"""What multiprocessing adds to the folder of temporary files for a socket."""
LONGEST = {"linux": 107, "darwin": 103}
"""Characters of a socket's path."""


def variables(machine: Machine, python: Interpreter) -> Iterator[Fact]:
    """The facts of the environment."""
    environ = machine.environ
    for name in sorted(environ):
        if name.startswith(_PREFIXES):
            yield _variable(machine, name, environ[name])
    if "OMP_NUM_THREADS" not in environ:
        yield Fact("OMP_NUM_THREADS", "OMP_NUM_THREADS is not set; torch gives each worker one thread")
    yield from _tokenizers(environ.get("TOKENIZERS_PARALLELISM", ""), python)
    yield from _temporary(machine)


def _variable(machine: Machine, name: str, value: str) -> Fact:
    if name in _THREADS and value.isdigit() and int(value) > cores(machine):
        return Fact(
            name, f"{name}={value} is more than there are cores", Verdict.WARNING, f"unset {name}, or set it to 1"
        )
    if name == "PYTORCH_NVML_BASED_CUDA_CHECK" and value == "1":
        return Fact(name, f"{name}=1: torch.cuda.is_available() leaves CUDA alone, so a fork after it can use it")
    return Fact(name, f"{name}={value}")


def _tokenizers(value: str, python: Interpreter) -> Iterator[Fact]:
    if value.lower() in ("false", "off", "no", "f", "n", "0"):
        yield Fact("TOKENIZERS_PARALLELISM", f"TOKENIZERS_PARALLELISM={value}: tokenizers use one thread")
    elif value and not python.pickles:
        yield Fact(
            "TOKENIZERS_PARALLELISM",
            f"TOKENIZERS_PARALLELISM={value}: tokenizers use threads, which a fork does not survive",
            Verdict.WARNING,
            "TOKENIZERS_PARALLELISM=false, or tokenize in the workers only",
        )
    elif python.tokenizers:
        yield Fact(
            "TOKENIZERS_PARALLELISM",
            "TOKENIZERS_PARALLELISM is not set: tokenizers turns its threads off after a fork, and says so",
            Verdict.NOTE,
            "TOKENIZERS_PARALLELISM=false silences it",
        )


def _temporary(machine: Machine) -> Iterator[Fact]:
    folder = machine.environ.get("TMPDIR") or tempfile.gettempdir()
    longest = LONGEST.get(machine.platform)
    if longest and len(os.path.abspath(folder)) + len(_SOCKET) > longest:
        yield Fact("temporary", f"sockets in {folder} would have too long a path: AF_UNIX path too long", Verdict.FAILS,
                   "set TMPDIR to a short path, such as /tmp")  # fmt: skip
    elif not os.access(folder, os.W_OK):
        yield Fact("temporary", f"{folder} cannot be written to: workers and tensors need sockets there",
                   Verdict.FAILS, "set TMPDIR to a folder that can")  # fmt: skip
    else:
        yield Fact("temporary", f"sockets and temporary files go to {folder}")
