"""DLL402: the iterator of a loader is kept, and with it its workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Certainty, Finding, Fix, Note, Project, Rule, Severity, Workers
from dllint_rules.lifetime.analysis.kept_iterators import KeptIterator, KeptIterators


class IteratorKept(Rule):
    """The workers of an iterator that is not used up live as long as the iterator."""

    code = "DLL402"
    name = "iterator-kept"
    summary = "object or module keeps the iterator of a loader, and so its workers"
    severity = Severity.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        for kept in project.analysis(KeptIterators).kept():
            if not kept.site.module.is_test and kept.loader.workers is not Workers.NONE:
                yield self._finding(project, kept)

    def _finding(self, project: Project, kept: KeptIterator) -> Finding:
        site, loader = kept.site, kept.loader
        assert site.event.target is not None
        name = project.text(site.module.path, site.event.target.span)
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"`{name}` keeps the iterator of `{loader.name}`, so its workers run until it is exhausted or "
            "released, at the latest while Python shuts down, and ending them may take 5 seconds each; release it with "
            f"`{name} = None` when the work is done",
            severity=self.severity,
            certainty=loader.certainty if project.surely_runs(site) else Certainty.LIKELY,
            notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` starts workers here"),),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{site.module.path}:{name}",
            data=name,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        return Fix.manual("Release it when its work is done; dllint can't tell when that is", f"{finding.data} = None")
