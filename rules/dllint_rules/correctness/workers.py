"""Whether wrong data may come of it: without workers nothing is copied and nothing is read twice."""

from __future__ import annotations

from dllint import Const, Loader, Project, Workers


def gets_workers(loader: Loader) -> bool:
    """Whether a loader has workers, or a number of workers that its user chooses."""
    return loader.workers is Workers.SOME or (loader.workers is Workers.UNKNOWN and loader.asked)


def gets_several_workers(project: Project, loader: Loader) -> bool:
    """The same, and not certainly one: a single worker shares nothing."""
    items = project.given.alternatives(loader, loader.boundary.workers)
    single = bool(items) and all(isinstance(item.value, Const) and item.value.value == 1 for item in items)
    return gets_workers(loader) and not single
