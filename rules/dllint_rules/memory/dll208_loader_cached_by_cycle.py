"""DLL208: `itertools.cycle` or `tee` over a loader keeps every batch."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Certainty, Finding, Project, Rule, Severity


class LoaderCachedByCycle(Rule):
    """To repeat what it was given, `cycle` keeps all of it: the whole data set, as batches, in the main process."""

    code = "DLL208"
    name = "loader-cached-by-cycle"
    summary = "`itertools.cycle` over a loader keeps every batch and repeats the first epoch"
    triggers = (b"cycle(", b"tee(")
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for site, name, loader in project.passes.replayed():
            if loader is not None and loader.in_tests:
                continue
            given = project.text(site.module.path, site.expr.args[1].span)
            what = f"`{name}` keeps every batch of `{given}` to give it again"
            if name == "itertools.cycle":
                what += ", so shuffling and augmentation end with the first epoch"
            yield Finding(
                code=self.code,
                path=site.module.path,
                span=site.expr.span,
                message=f"{what}; use a generator that loops over the loader again",
                severity=self.severity,
                certainty=Certainty.CERTAIN if loader is not None else Certainty.LIKELY,
                outcomes=dict.fromkeys(
                    sorted(project.targets.methods() if loader is None else loader.methods), "bloat"
                ),
                anchors=((loader.path, loader.span),) if loader is not None else (),
                key=f"{self.code}:{site.module.path}:{given}",
            )
