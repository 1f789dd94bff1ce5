"""Whether memory matters: what workers copy only costs where there are workers."""

from __future__ import annotations

from dllint import Held, Loader, Project, Workers


def has_workers(project: Project, held: Held) -> bool:
    """Known workers, or asked for by an argument whose value is not known, or a library's users'."""
    if held.loader is not None:
        return gets_workers(held.loader)
    return offers_to_workers(project)


def offers_to_workers(project: Project) -> bool:
    """Whether what no loader of the project takes may get workers: it has none but demos, or one takes any dataset.

    Or datasets of the project go to a package's own loaders.
    """
    return project.analysis(_offers)


def _offers(project: Project) -> bool:
    own = [loader for loader in project.loaders if not loader.in_tests and not project.is_demo(loader)]
    return not own or project.library.gives_away or any(map(project.may_ask, project.open_loaders))


def gets_workers(loader: Loader) -> bool:
    """Whether a loader has workers, or a number of workers that its user chooses."""
    return loader.workers is Workers.SOME or (loader.workers is Workers.UNKNOWN and loader.asked)
