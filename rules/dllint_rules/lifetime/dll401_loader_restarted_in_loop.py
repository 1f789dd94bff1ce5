"""DLL401: an iterator of a loader is made in a loop, for one batch each time."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    Alternative,
    Applicability,
    Const,
    Finding,
    Fix,
    Loader,
    Note,
    Project,
    Rule,
    Severity,
    Workers,
)
from dllint_rules.lifetime.analysis.restarts import Restart, Restarts

_ENDLESS = """\
def {endless}(loader):
    while True:
        yield from loader


# before the loop:
{batches} = {endless}({given})
# in the loop, for a batch:
next({batches})"""
_RANDOM = frozenset({"RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler"})
"""Samplers of torch with another order for each iterator; that of a `DistributedSampler` changes with its epoch."""


class LoaderRestartedInLoop(Rule):
    """`iter(loader)` starts the workers; taking one batch and dropping the iterator ends them."""

    code = "DLL401"
    name = "loader-restarted-in-loop"
    summary = "`next(iter(loader))` in a loop starts all workers again for each batch"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for restart in project.analysis(Restarts).restarts():
            loader = restart.loader
            if not loader.in_tests and _gets_workers(loader):
                yield self._finding(project, restart)

    def _finding(self, project: Project, restart: Restart) -> Finding:
        path, span, loader = restart.path, restart.call.span, restart.loader
        what, where = project.text(path, span), f"`{restart.method}`" if restart.method else "a loop"
        before = "in `__init__`" if restart.method else "before the loop"
        return Finding(
            code=self.code,
            path=path,
            span=span,
            message=f"`{what}` in {where} {_does(project, loader)} for every batch, and {_which(project, loader)}; "
            f"make the iterator {before} and call `next` on it",
            severity=self.severity,
            certainty=loader.certainty,
            notes=(
                Note(path, restart.loop, "runs for each item" if restart.method else "the loop"),
                loader.start,
            ),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{path}:{what}",
            data=restart,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import free_name

        model = project.models[finding.path]
        given = project.text(finding.path, finding.data.call.args[1].span)
        names = {name: free_name(model, name) for name in ("endless", "batches")}
        title = "Take all batches from one iterator, epoch after epoch"
        return Fix(title, (), Applicability.MANUAL, snippet=_ENDLESS.format(given=given, **names))


def _does(project: Project, loader: Loader) -> str:
    """What the workers are made to do."""
    kept = all(map(_is_true, project.given.alternatives(loader, "persistent_workers")))
    return "makes the persistent workers begin again" if kept else "starts and ends the workers"


def _which(project: Project, loader: Loader) -> str:
    """Which batch a new iterator gives."""
    names = "shuffle", "sampler", "batch_sampler"
    shuffle, sampler, batches = (project.given.alternatives(loader, name) for name in names)
    if project.given.iterable(loader):
        return "the dataset begins again each time"
    if all(map(_is_true, shuffle)) or all(map(_draws, sampler)):
        return "each is the first of a new random order, so no pass over the data is complete"
    if all(map(_is_off, (*shuffle, *sampler, *batches))):
        return "it is always the first batch"
    return "without `shuffle` it is always the first batch"


def _is_true(item: Alternative) -> bool:
    return item.known and isinstance(item.value, Const) and bool(item.value.value)


def _is_off(item: Alternative) -> bool:
    return item.value is None or (item.known and isinstance(item.value, Const) and not item.value.value)


def _draws(item: Alternative) -> bool:
    return getattr(item.value, "name", "").rpartition(".")[2] in _RANDOM


def _gets_workers(loader: Loader) -> bool:
    return loader.workers is Workers.SOME or (loader.workers is Workers.UNKNOWN and loader.asked)
