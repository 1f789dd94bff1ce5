"""/dev/shm: how large, how full, with what, and whether the batches that will be on their way fit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.runtime.doctor.fact import MB, Fact, Verdict, Workload, size
from dllint.runtime.doctor.machine import Machine

SHM = "/dev/shm"
_SEGMENT = re.compile(r"^torch_(\d+)_")


def shared_memory(machine: Machine, workload: Workload) -> Iterator[Fact]:
    """The facts of /dev/shm."""
    disk = machine.disk(SHM)
    if disk is None:
        yield Fact("shm", f"there is no {SHM}", Verdict.FAILS, _remedy(machine, workload))
        return
    total, free = disk.size / MB, disk.free / MB
    yield Fact("shm", f"{SHM} has {size(total)}, {size(free)} of it free")
    yield _fits(machine, workload, free)
    yield from _leaked(machine)


def _fits(machine: Machine, workload: Workload, free: float) -> Fact:
    needed = workload.shared_mb
    counted = (
        f"{size(needed)} of shared memory are needed: {workload.batches} batches of {workload.batch_mb:g} MB "
        f"({workload.workers} workers x {workload.prefetch} ahead, the one in use and the next)"
    )
    if not workload.batches:
        return Fact("shm-needed", "without workers, no shared memory is needed")
    if needed > free:
        most = free / workload.batches
        told = f"{counted}; {size(free)} are free, enough for batches of {most:.1f} MB"
        return Fact("shm-needed", told, Verdict.FAILS, _remedy(machine, workload))
    if needed > free / 2:
        return Fact("shm-needed", f"{counted}; that is more than half of what is free", Verdict.WARNING,
                    _remedy(machine, workload))  # fmt: skip
    return Fact("shm-needed", counted)


def _remedy(machine: Machine, workload: Workload) -> str:
    """How to get twice of what is needed, in whole GB."""
    gigabytes = max(1, -(-int(2 * workload.shared_mb) // 1024))
    docker = f"docker run --shm-size={gigabytes}g (or --ipc=host)"
    ways = {
        "docker": f"{docker}; compose: `shm_size: {gigabytes}gb`",
        "podman": f"podman run --shm-size={gigabytes}g",
        "kubernetes": f"mount an emptyDir with `medium: Memory` and `sizeLimit: {gigabytes}Gi` at {SHM}",
        "slurm": f"ask the administrators for a larger {SHM}, or for memory that counts it",
        "bare": f"as root: mount -o remount,size={gigabytes}G {SHM} (in /etc/fstab for good)",
    }
    anyhow = "; or fewer workers, a smaller prefetch_factor, smaller batches"
    if machine.surroundings == "container":
        return f"{docker}; Kubernetes: {ways['kubernetes']}{anyhow}"
    return ways[machine.surroundings] + anyhow


def _leaked(machine: Machine) -> Iterator[Fact]:
    """Segments of torch whose process is not there any more."""
    segments = [(name, taken) for name, taken in machine.files(SHM) if name.startswith("torch_")]
    if not segments:
        return
    gone = [(name, taken) for name, taken in segments if not _alive(machine, name)]
    held = sum(taken for _, taken in gone) / MB
    if gone:
        yield Fact(
            "shm-leaked",
            f"{len(gone)} of {len(segments)} segments of torch in {SHM} belong to no process that is seen here "
            f"({size(held)})",
            Verdict.WARNING,
            f"if no other container or user shares this {SHM}: rm {SHM}/torch_*",
        )
    else:
        yield Fact("shm-leaked", f"{len(segments)} segments of torch in {SHM}, all of living processes")


def _alive(machine: Machine, name: str) -> bool:
    found = _SEGMENT.match(name)
    return found is not None and machine.path(f"/proc/{found[1]}").exists()
