"""Cores and processes: how many workers this machine, or its container, has room for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from dllint.runtime.doctor.fact import Fact, Verdict, Workload
from dllint.runtime.doctor.machine import Machine

ROOM = 16
"""Threads of a worker whose libraries bring their own pools, roughly."""


def cores(machine: Machine) -> int:
    """The cores that this process may use: those it is bound to, or what its quota comes to."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = machine.group.cores() if machine.platform == "linux" else None
    return bound if quota is None else max(1, min(bound, round(quota)))


def processes(machine: Machine, workload: Workload) -> Iterator[Fact]:
    """The facts of cores and processes."""
    usable = cores(machine)
    told = f"{usable} of {os.cpu_count() or usable} cores may be used, for {workload.workers} workers"
    if workload.workers > usable:
        yield Fact("cores", told, Verdict.WARNING, f"num_workers={usable}, unless workers wait for disks or networks")
    else:
        yield Fact("cores", told)
    if machine.platform == "linux":
        yield from _group(machine, workload)
    if sys.platform != "win32":
        yield from _own(workload)


def _group(machine: Machine, workload: Workload) -> Iterator[Fact]:
    found = machine.group.limit("pids", "pids.max", "pids.max")
    if found is None:
        return
    most, folder = found
    used = machine.group.used(folder, "pids.current", "pids.current")
    yield _room("processes-limit", f"the control group may have {most} processes and threads, {used} run",
                most - used, workload)  # fmt: skip


def _own(workload: Workload) -> Iterator[Fact]:
    import resource

    if hasattr(resource, "RLIMIT_NPROC"):
        soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
        if 0 <= soft < 1 << 40:
            yield _room("processes", f"this user may have {soft} processes and threads", soft, workload)


def _room(topic: str, told: str, left: int, workload: Workload) -> Fact:
    if left < workload.workers:
        return Fact(topic, told, Verdict.FAILS, "raise it (pids.max, docker --pids-limit, ulimit -u), or fewer workers")
    if left < workload.workers * ROOM:
        return Fact(topic, told, Verdict.WARNING, "OMP_NUM_THREADS=1 and cv2.setNumThreads(0) keep workers small")
    return Fact(topic, told)
