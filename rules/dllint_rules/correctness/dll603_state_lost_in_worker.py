"""DLL603: the main process changes a dataset whose workers live on with the copies that they were given."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Finding, Fix, Project, Rule, Severity
from dllint_rules.correctness.analysis.lost_state import LostState, Unheard
from dllint_rules.correctness.dropped import without_argument
from dllint_rules.correctness.workers import gets_workers


class StateLostInWorker(Rule):
    """With `persistent_workers` each worker keeps the dataset that it got when the first epoch began."""

    code = "DLL603"
    name = "state-lost-in-worker"
    summary = "dataset is changed between epochs, and its persistent workers keep their old copies"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for loader in project.loaders:
            if loader.in_tests or not gets_workers(loader):
                continue
            code = [running for running in project.running if running.loader is loader]
            for unheard in project.analysis(LostState).unheard(loader, project.shipped_by(loader), code):
                yield self._finding(project, unheard)

    def _finding(self, project: Project, unheard: Unheard) -> Finding:
        loader, read = unheard.loader, unheard.read
        text = project.text(unheard.path, unheard.at.span)
        return Finding(
            code=self.code,
            path=unheard.path,
            span=unheard.at.span,
            message=f"`{text}` changes `{unheard.attribute}` in the main process only: with `persistent_workers` the "
            "workers keep the copy that they got in the first epoch; let them end, or keep it in shared memory",
            severity=self.severity,
            certainty=unheard.read.certainty,
            outcomes=dict.fromkeys(sorted(loader.methods), "corrupt"),
            notes=read.route,
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{unheard.path}:{unheard.attribute}",
            data=loader,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import call_with

        loader = finding.data
        title = "Let the workers end with their epoch: the next ones get the current dataset"
        value = loader.call.keyword("persistent_workers")
        if loader.instance is not None or value is None:
            return Fix.manual(f"{title}; `persistent_workers` is not written in the call")
        edit = without_argument(project, loader.path, loader.call, "persistent_workers", value)
        if edit is None or value.kind not in ("constant", "compare"):
            snippet = call_with(project.source(loader.path), loader.span, "persistent_workers", "False")
            why_not = "a comment beside it would be lost" if edit is None else "`persistent_workers` is set elsewhere"
            return Fix.manual(f"{title}; {why_not}", snippet)
        return Fix(
            "Drop `persistent_workers`: new workers get the current dataset",
            (edit,),
            Applicability.UNSAFE,
        )
