"""DLL605: a loader whose code says that it has no workers."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Project, Rule, Severity


class WorkersDisabled(Rule):
    """`num_workers=0` hides what workers would bring to light, and gives up what they are for."""

    code = "DLL605"
    name = "workers-disabled"
    summary = "`num_workers=0` is set explicitly, which often works around a hazard instead of fixing it"
    severity = Severity.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        for loader in project.loaders:
            given = loader.call.keyword("num_workers")
            if loader.in_tests or given is None or given.kind != "constant" or given.value != 0:
                continue
            yield Finding(
                code=self.code,
                path=loader.env.module.path,
                span=given.span,
                message="the main process loads every item itself while the model waits; if this works around an "
                "error in the workers, `dllint` reports the cause once `num_workers` is above 0",
                severity=self.severity,
                anchors=((loader.path, loader.span),),
                key=f"{self.code}:{loader.path}:{loader.name}",
            )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        return Fix.manual("Pass a number of workers; how many pay off depends on the machine and on what an item costs")
