"""The files in which Linux says what it allows: /proc, /sys, /dev/shm. Their root can be another folder, for tests."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

_UNLIMITED = 1 << 60
"""Version 1 of control groups says "no limit" with a number like this."""


class Disk(NamedTuple):
    """A mounted file system, in bytes."""

    size: int
    free: int


class Machine:
    """What can be read of a machine."""

    def __init__(self, root: str = "/", environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> None:
        self.root = Path(root)
        self.environ = environ
        self.platform = "linux" if platform.startswith("linux") else platform

    def path(self, place: str) -> Path:
        """A file of this machine."""
        return self.root / place.lstrip("/")

    def text(self, place: str) -> str:
        """A small file's text; "" when there is none or it may not be read."""
        try:
            return self.path(place).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""

    def number(self, place: str) -> int | None:
        """A file that holds one number; None for "max" and for no file."""
        text = self.text(place).split("\n", 1)[0]
        return int(text) if text.isdigit() and int(text) < _UNLIMITED else None

    def table(self, place: str) -> dict[str, int]:
        """A file of names and numbers, as /proc/meminfo and memory.events are; /proc/meminfo counts in kB."""
        found = {}
        for line in self.text(place).splitlines():
            name, _, rest = line.replace(":", " ").partition(" ")
            if rest.split() and rest.split()[0].isdigit():
                found[name] = int(rest.split()[0])
        return found

    def disk(self, place: str) -> Disk | None:
        """How large a file system is and what is free of it."""
        try:
            status = os.statvfs(self.path(place))
        except (OSError, AttributeError):
            return None
        return Disk(status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize)

    def files(self, folder: str) -> Iterator[tuple[str, int]]:
        """The files of a folder with the bytes that they take."""
        with contextlib.suppress(OSError):
            for entry in os.scandir(self.path(folder)):
                with contextlib.suppress(OSError):
                    yield entry.name, entry.stat(follow_symlinks=False).st_blocks * 512

    @cached_property
    def group(self) -> ControlGroup:
        """The control group that this process is in."""
        return ControlGroup(self)

    @cached_property
    def surroundings(self) -> str:
        """`kubernetes`, `docker`, `podman`, `container`, `slurm` or `bare`."""
        if "KUBERNETES_SERVICE_HOST" in self.environ:
            return "kubernetes"
        if self.path("/run/.containerenv").exists():
            return "podman"
        if self.path("/.dockerenv").exists():
            return "docker"
        if "SLURM_JOB_ID" in self.environ:
            return "slurm"
        if self.environ.get("container") or "docker" in self.text("/proc/1/cgroup"):
            return "container"
        return "bare"


class ControlGroup:
    """The limits of this process's control group and of those above it, of version 2 or 1."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._own: dict[str, str] = {}
        for line in machine.text("/proc/self/cgroup").splitlines():
            _, controllers, path = [*line.split(":", 2), "", ""][:3]
            for controller in controllers.split(","):
                self._own[controller] = path

    @property
    def version(self) -> int:
        """2, 1, or 0 for none."""
        if self._machine.path("/sys/fs/cgroup/cgroup.controllers").exists():
            return 2
        return 1 if self._machine.path("/sys/fs/cgroup/memory").exists() else 0

    def folders(self, controller: str) -> Iterator[str]:
        """The group's folder and those above it. A container sees its own group as the top, whatever its path says."""
        base = "/sys/fs/cgroup" if self.version == 2 else f"/sys/fs/cgroup/{controller}"
        own = PurePosixPath(self._own.get("" if self.version == 2 else controller, "/"))
        for path in (own, *own.parents):
            folder = f"{base}{path}".rstrip("/")
            if self._machine.path(folder).is_dir():
                yield folder

    def limit(self, controller: str, new: str, old: str) -> tuple[int, str] | None:
        """The lowest limit of all groups with the folder that sets it."""
        name = new if self.version == 2 else old
        found = [(self._machine.number(f"{folder}/{name}"), folder) for folder in self.folders(controller)]
        return min(((number, folder) for number, folder in found if number is not None), default=None)

    def used(self, folder: str, new: str, old: str) -> int:
        """What a group uses."""
        return self._machine.number(f"{folder}/{new if self.version == 2 else old}") or 0

    def cores(self) -> float | None:
        """The cores that the quota comes to."""
        quotas = []
        for folder in self.folders("cpu"):
            if self.version == 2:
                words = self._machine.text(f"{folder}/cpu.max").split()
            else:
                words = [self._machine.text(f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period")]
            if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
                quotas.append(int(words[0]) / int(words[1]))
        return min(quotas, default=None)

    def killed(self) -> int:
        """Processes of this group that were killed because its memory ran out."""
        folder = next(self.folders("memory"), "")
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return self._machine.table(f"{folder}/{name}").get("oom_kill", 0) if folder else 0
