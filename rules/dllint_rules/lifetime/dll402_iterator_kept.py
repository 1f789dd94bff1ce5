"""DLL402: the iterator of a loader is kept, and with it its workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, KeptIterator, Note, Project, Rule, Severity, Workers, is_test


class IteratorKept(Rule):
    """The workers of an iterator that is not used up live as long as the iterator."""

    code = "DLL402"
    name = "iterator-kept"
    summary = "iterator of a loader is kept by an object or a module, and its workers with it"
    severity = Severity.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        for kept in project.kept_iterators.kept():
            if not is_test(kept.site.module.path) and kept.loader.workers is not Workers.NONE:
                yield self._finding(project, kept)

    def _finding(self, project: Project, kept: KeptIterator) -> Finding:
        site, loader = kept.site, kept.loader
        assert site.event.target is not None
        name = project.text(site.module.path, site.event.target.span)
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"`{name}` keeps the iterator of `{loader.name}`, so its workers stay until it is used up or let "
            "go of, at the latest while Python shuts down, and ending them may take 5 seconds each; let go of it with "
            f"`{name} = None` when the work is done",
            severity=self.severity,
            certainty=loader.certainty,
            notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` starts workers here"),),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{site.module.path}:{name}",
        )
