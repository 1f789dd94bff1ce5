"""Whether wrong data may come of it: without workers nothing is copied and nothing is read twice."""

from __future__ import annotations

from dllint import Loader, Workers


def gets_workers(loader: Loader) -> bool:
    """Whether a loader has workers, or a number of workers that its user chooses."""
    return loader.workers is Workers.SOME or (loader.workers is Workers.UNKNOWN and loader.asked)
