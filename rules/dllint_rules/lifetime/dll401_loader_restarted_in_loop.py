"""DLL401: an iterator of a loader is made in a loop, for one batch each time."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Finding, Fix, Loader, Note, Project, Rule, Severity, Workers
from dllint_rules.lifetime.analysis.restarts import Restart, Restarts

_ENDLESS = """\
def {endless}(loader):
    while True:
        yield from loader


# before the loop:
{batches} = {endless}({given})
# in the loop, for a batch:
next({batches})"""


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
            message=f"`{what}` in {where} starts and ends the workers for every batch, and without "
            f"`shuffle` it is always the first batch; make the iterator {before} and call `next` on it",
            severity=self.severity,
            certainty=loader.certainty,
            notes=(
                Note(path, restart.loop, "runs for each item" if restart.method else "the loop"),
                Note(loader.path, loader.span, f"`{loader.name}(...)` starts the workers here"),
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


def _gets_workers(loader: Loader) -> bool:
    return loader.workers is Workers.SOME or (loader.workers is Workers.UNKNOWN and loader.asked)
