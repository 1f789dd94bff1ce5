"""The request for a probe, and the task of each of its processes."""

from __future__ import annotations

import signal

import msgspec

STACKS = int(getattr(signal, "SIGRTMAX", 0) or getattr(signal, "SIGUSR2", 0))
"""The signal that asks a process of a probe to write down its stacks; 0 where there is none."""
INSPECT, READ, SPEED = "inspect", "read", "speed"
"""What a process does with the target: look at what is shipped, read through workers, time several numbers of them."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line asks for."""

    target: str
    methods: tuple[str, ...]
    workers: int = 0
    """0: as many as the loader has, or 2."""
    items: int = 2000
    """Items to read under each start method, unless `seconds` are over."""
    seconds: float = 20.0
    scaling: tuple[int, ...] | None = None
    """Numbers of workers to time; None: 0, 1, 2 and that of the loader."""
    timeout: float = 120.0
    """Seconds that each process may take."""
    idle: float = 20.0
    """Seconds without a sign of life that prove a hang."""
    memory: float = 0.0
    """MB that each process may take with all its children; 0: most of what is free."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The task of one process."""

    task: str
    target: str
    method: str
    folder: str
    """Where its messages go."""
    workers: int = 0
    items: int = 0
    seconds: float = 0.0
    scaling: tuple[int, ...] | None = None
    memory: float = 0.0
    """MB; a process that wants more is refused them, before the watcher ends all."""
