"""What the doctor says: a fact, a verdict, and what to do."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

MB = 1 << 20


class Verdict(str, Enum):
    """`FAILS` is for what will fail with this workload."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    FAILS = "fails"


class Fact(NamedTuple):
    """One line. `topic` names it for programs; `remedy` is empty where there is nothing to do."""

    topic: str
    fact: str
    verdict: Verdict = Verdict.OK
    remedy: str = ""


class Workload(NamedTuple):
    """What a loader will do here: batches of so many MB in so many tensors, by so many workers, each so far ahead."""

    batch_mb: float
    workers: int
    prefetch: int = 2
    tensors: int = 2

    @property
    def batches(self) -> int:
        """How many batches exist at once: those that the workers are ahead, the one in use and the one after it.

        Measured with torch 2.13: 2 workers that are 2 ahead fail with a /dev/shm of 5.9 batches and not with 6.2.
        """
        return self.workers * self.prefetch + 2 if self.workers else 0

    @property
    def shared_mb(self) -> float:
        """The shared memory that they take."""
        return self.batch_mb * self.batches


def size(mb: float) -> str:
    """A size in words: "64 MB", "7.8 GB"."""
    return f"{mb / 1024:.1f} GB" if mb >= 1024 else f"{mb:.0f} MB"
