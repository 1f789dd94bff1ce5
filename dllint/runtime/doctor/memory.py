"""Memory, swap, the limits of containers, and what the kernel has killed."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Generator, Iterator

from dllint.runtime.doctor.fact import MB, Fact, Verdict, Workload, size
from dllint.runtime.doctor.interpreter import Interpreter
from dllint.runtime.doctor.machine import Machine

PICKLED_WORKER, FORKED_WORKER = 145, 11
"""MB that a worker takes with torch imported and an empty dataset, under spawn and under fork; measured, torch 2.13."""
MOST_RECORDS = 50_000
_WORKERS = ("python", "pt_data_")
"""How processes of Python and torch's workers are called."""
_KILLED = re.compile(r"Killed process \d+ \(([^)]{1,50})\)")


def memory(machine: Machine, workload: Workload, python: Interpreter) -> Iterator[Fact]:
    """The facts of memory."""
    if machine.platform == "linux":
        table = machine.table("/proc/meminfo")
        left = table.get("MemAvailable", 0) / 1024
        yield Fact("memory", f"{size(table.get('MemTotal', 0) / 1024)} of memory, {size(left)} available")
        limited = yield from _limit(machine)
        yield _workers(workload, python, min(left, left if limited is None else limited))
        yield _swap(table)
        yield from _promises(machine)
        yield from _killed(machine)
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        pages, bytes_ = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        yield Fact("memory", f"{size(pages * bytes_ / MB)} of memory")


def _limit(machine: Machine) -> Generator[Fact, None, float | None]:
    """The container's limit; what it leaves, in MB, is returned."""
    found = machine.group.limit("memory", "memory.max", "memory.limit_in_bytes")
    if found is None:
        return None
    limit, folder = found
    used = machine.group.used(folder, "memory.current", "memory.usage_in_bytes")
    told = f"the control group may use {size(limit / MB)} and uses {size(used / MB)}; /dev/shm counts as well"
    tight = used > 0.9 * limit
    yield Fact(
        "memory-limit", told, Verdict.WARNING if tight else Verdict.OK,
        "raise the limit (docker --memory, resources.limits.memory, --mem of Slurm), or free some" if tight else "",
    )  # fmt: skip
    return (limit - used) / MB


def _workers(workload: Workload, python: Interpreter, left: float) -> Fact:
    each = PICKLED_WORKER if python.pickles else FORKED_WORKER
    needed = workload.workers * each
    told = f"{workload.workers} workers started by {python.start_method} take {size(needed)} before they have any data"
    if needed > left:
        return Fact("memory-workers", f"{told}; {size(left)} are left", Verdict.FAILS, "fewer workers, or more memory")
    return Fact("memory-workers", told)


def _swap(table: dict[str, int]) -> Fact:
    total, free = table.get("SwapTotal", 0) / 1024, table.get("SwapFree", 0) / 1024
    if not total:
        return Fact("swap", "no swap: when memory runs out, the kernel kills a process at once", Verdict.NOTE)
    if free < total / 2:
        return Fact("swap", f"{size(total)} of swap, {size(total - free)} in use: memory has been short",
                    Verdict.WARNING, "look at what grows: fewer workers, or arrays in place of lists")  # fmt: skip
    return Fact("swap", f"{size(total)} of swap, {size(free)} free")


def _promises(machine: Machine) -> Iterator[Fact]:
    if machine.number("/proc/sys/vm/overcommit_memory") == 2:
        yield Fact(
            "overcommit",
            "the kernel promises no more memory than it has: a fork of a large process fails with [Errno 12]",
            Verdict.WARNING,
            "start workers before the large data is loaded, or by spawn; or vm.overcommit_memory=0",
        )
    mappings = machine.number("/proc/sys/vm/max_map_count")
    if mappings is not None:
        low = mappings < 65530
        yield Fact(
            "mappings", f"{mappings} memory mappings a process; each shared tensor is one",
            Verdict.WARNING if low else Verdict.OK, "sysctl vm.max_map_count=65530" if low else "",
        )  # fmt: skip


def _killed(machine: Machine) -> Iterator[Fact]:
    """What the OOM killer has done, as far as one may read it."""
    here = machine.group.killed()
    everywhere = machine.table("/proc/vmstat").get("oom_kill", 0)
    names = dict.fromkeys(_kernel_log(machine))
    who = f", among them {', '.join(list(names)[-3:])}" if names else ""
    if here or everywhere:
        count = max(here, everywhere)
        what = "1 process" if count == 1 else f"{count} processes"
        where = f"{here} of this control group" if here else "none known to be of this control group"
        workers = any(name.startswith(_WORKERS) for name in names)
        yield Fact(
            "oom-killer",
            f"the kernel has killed {what} for lack of memory, {where}{who}",
            Verdict.WARNING if here or workers else Verdict.NOTE,
            "`dmesg -T | grep -i kill` tells when; a worker that is killed so shows as `killed by signal: Killed`",
        )
    else:
        yield Fact("oom-killer", "the kernel has killed nothing for lack of memory")


def _kernel_log(machine: Machine) -> Iterator[str]:
    """The names of processes that the kernel says it killed; nothing where its log may not be read."""
    with contextlib.suppress(OSError):
        log = os.open(machine.path("/dev/kmsg"), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with contextlib.closing(os.fdopen(log, "rb", buffering=0)) as records:
            for _ in range(MOST_RECORDS):
                record = records.read(8192)
                if not record:
                    return
                if found := _KILLED.search(record.decode("utf-8", "replace")):
                    yield found[1]
