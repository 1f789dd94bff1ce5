"""What memory rules say of something that a dataset keeps: whether workers read it, and what that costs."""

from __future__ import annotations

from collections.abc import Callable

from dllint import ALL_METHODS, FORK, Finding, Held, Klass, Project, Running, Severity

Reading = Callable[[Running, Klass, str], object]
"""Whether, or where, code of a class reads an attribute."""


def read_in_workers(project: Project, held: Held, reads: Reading) -> bool:
    """Whether worker code of the class that keeps something reads it, in the way that `reads` knows."""
    owners = [klass for klass in project.evaluator.classes.all_classes if klass.facts.name == held.holder.owner]
    code = project.running if held.loader is not None else project.users_running
    return any(reads(running, klass, held.holder.name) for klass in owners for running in code)


def bloat(project: Project, held: Held, code: str, what: str, remedy: str, key: str, many: str = "it") -> Finding:
    """A warning at the place where it is kept. `many` is what workers copy, in a word."""
    failing = project.failing(held, ALL_METHODS)
    copied = f"every worker copies {many} page by page as it reads"
    how = copied if FORK in failing else "every worker gets a copy of its own"
    write, loader = held.route[0], held.loader
    return Finding(
        code=code,
        path=write.path,
        span=write.span,
        message=f"{what}: {how}, {remedy}",
        severity=Severity.WARNING,
        certainty=held.surely,
        outcomes=dict.fromkeys(sorted(failing), "bloat"),
        notes=held.route[1:],
        anchors=((loader.path, loader.span),) if loader is not None else (),
        key=f"{code}:{write.path}:{key}",
        data=held,
    )
