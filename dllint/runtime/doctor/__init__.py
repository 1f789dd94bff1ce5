"""This machine and environment, as workers will meet them. Nothing of the user's is imported, nothing is changed."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from dllint.runtime.doctor.descriptors import descriptors
from dllint.runtime.doctor.environment import variables
from dllint.runtime.doctor.fact import Fact, Verdict, Workload
from dllint.runtime.doctor.interpreter import Interpreter, interpreter
from dllint.runtime.doctor.machine import Machine
from dllint.runtime.doctor.memory import memory
from dllint.runtime.doctor.processes import processes
from dllint.runtime.doctor.shared_memory import shared_memory

__all__ = ["Fact", "Interpreter", "Machine", "Verdict", "Workload", "examine"]


def examine(workload: Workload, python: Interpreter, machine: Machine) -> Iterator[Fact]:
    """Everything that is known, in an order to read it. Elsewhere than on Linux, what can be known there."""
    yield from interpreter(python)
    if machine.platform == "linux":
        yield from shared_memory(machine, workload)
    yield from memory(machine, workload, python)
    if sys.platform != "win32":
        yield from descriptors(machine, workload)
    yield from processes(machine, workload)
    yield from variables(machine, python)
