"""Limits that a process sets to itself, and how much memory it has had."""

from __future__ import annotations

import contextlib
import sys

from dllint.survey.limits import MIB, Limits


def confine(limits: Limits) -> None:
    """Limits that the system enforces, a little wider than those that are looked after from outside."""
    if sys.platform == "win32":
        return
    import resource

    walls = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.seconds) + 5,
        resource.RLIMIT_FSIZE: limits.unpacked * MIB,
        resource.RLIMIT_DATA: (limits.memory + 256) * MIB,
    }
    for name, value in walls.items():
        with contextlib.suppress(ValueError, OSError):  # a lower one holds already
            resource.setrlimit(name, (value, resource.getrlimit(name)[1]))


def peak() -> float:
    """The most memory that this process has had, in MiB; 0 where the platform does not say."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as stream:
        return next((int(line.split()[1]) / 1024 for line in stream if line.startswith("VmHWM")), 0.0)
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB
    return 0.0
