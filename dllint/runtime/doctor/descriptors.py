"""Open files: what a process may have, and what batches on their way take."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.runtime.doctor.fact import Fact, Verdict, Workload
from dllint.runtime.doctor.machine import Machine

OWN, A_WORKER = 6, 6
"""Descriptors of a bare program with torch, and of each worker's queues and pipes in it; measured, torch 2.13."""
MORE = 32
"""What other things of a program take: logs, sockets, devices. Roughly."""
ENOUGH = 1024
WISHED = 65536


def descriptors(machine: Machine, workload: Workload) -> Iterator[Fact]:
    """The facts of open files."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield _limit(machine, workload, _count(soft), _count(hard))
    numbers = machine.text("/proc/sys/fs/file-nr").split()
    if len(numbers) == 3 and int(numbers[2]) < 1 << 40:
        used, most = int(numbers[0]), int(numbers[2])
        full = used > 0.9 * most
        yield Fact(
            "open-files-system", f"{used} of {most} files of the whole machine are open",
            Verdict.WARNING if full else Verdict.OK, "sysctl fs.file-max" if full else "",
        )  # fmt: skip


def _count(limit: int) -> int:
    """A limit as a number: -1 stands for none."""
    return limit if 0 <= limit < 1 << 40 else 1 << 40


def _limit(machine: Machine, workload: Workload, soft: int, hard: int) -> Fact:
    least = OWN + A_WORKER * workload.workers + (2 * workload.tensors if workload.workers else 0)
    needed = least + MORE + workload.tensors * workload.batches
    shown = "any number of" if soft >= 1 << 40 else str(soft)
    told = (
        f"a process may open {shown} files; {workload.workers} workers and {workload.batches} batches of "
        f"{workload.tensors} tensors take {least} to {needed}"
    )
    if least > soft:
        return Fact("open-files", told, Verdict.FAILS, _remedy(machine, hard))
    if soft < max(ENOUGH, needed):
        kept = max(0, (soft - least) // workload.tensors)
        more = f"; a program that keeps {kept} batches, or views of them, fails"
        return Fact("open-files", told + more, Verdict.WARNING, _remedy(machine, hard))
    return Fact("open-files", told)


def _remedy(machine: Machine, hard: int) -> str:
    """How to raise the limit, and how to do without."""
    wished = min(WISHED, hard)
    ways = {
        "docker": f"docker run --ulimit nofile={WISHED}; compose: `ulimits: {{nofile: {WISHED}}}`",
        "podman": f"podman run --ulimit nofile={WISHED}",
        "kubernetes": "the node's container runtime sets it (LimitNOFILE of containerd)",
    }
    here = f"ulimit -n {wished} in the shell that starts the program"
    above = "; more: /etc/security/limits.conf" if hard < WISHED else ""
    return f"{ways.get(machine.surroundings, here + above)}; `.clone()` batches that are kept (DLL207)"
