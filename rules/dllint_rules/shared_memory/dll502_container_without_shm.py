"""DLL502: a container runs workers and has Docker's 64 MB for all of their batches."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    ALL_METHODS,
    Applicability,
    Container,
    Finding,
    Fix,
    Loader,
    Note,
    Project,
    Rule,
    Severity,
)
from dllint_rules.shared_memory.analysis.docker import RunContainers


class ContainerWithoutShm(Rule):
    """Batches come back through /dev/shm, which in a container is small by default."""

    code = "DLL502"
    name = "container-without-shm"
    summary = "container has 64 MB of shared memory for the batches of all workers"
    severity = Severity.WARNING
    fixable = "sometimes"
    default = False
    containers = True

    def check(self, project: Project) -> Iterator[Finding]:
        for container, loader in project.analysis(RunContainers).starved():
            yield self._finding(container, loader)

    def _finding(self, container: Container, loader: Loader) -> Finding:
        return Finding(
            code=self.code,
            path=container.path,
            span=container.span,
            message=f"{container.what} has 64 MB of shared memory, the default of containers, for the batches of all "
            f"workers of `{loader.name}`, which fail with a bus error or `No space left on device`; give it "
            f"{container.remedy}",
            severity=self.severity,
            certainty=loader.certainty,
            outcomes=dict.fromkeys(sorted(ALL_METHODS & loader.methods), "exception"),
            notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` starts workers here"),),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{container.path}:{container.name}",
            data=container,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        container: Container = finding.data
        if not container.edits:
            return Fix.manual(f"Give it {container.remedy}; dllint can't add the setting to this file")
        return Fix("Give the container shared memory", container.edits, Applicability.SAFE)
