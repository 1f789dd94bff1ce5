"""DLL202: a dataset keeps a container of Python objects that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, FORK, Certainty, Finding, Fix, Held, Project, Rule, Severity, Workers
from dllint_rules.memory.has_workers import has_workers


class PythonContainerOnDataset(Rule):
    """A container of rows or dictionaries is many small objects; reading one writes to the page that it lies on."""

    code = "DLL202"
    name = "python-container-on-dataset"
    summary = "dataset keeps rows or annotations as Python objects that workers read per item"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        names = {(held.route[0].path, held.holder) for held in project.in_memory if project.listings.of(held.value)}
        seen: set[object] = set()
        for held in project.in_memory:
            source = project.records.of(held.value)
            if not source or (held.route[0].path, held.holder) in names or not has_workers(project, held):
                continue
            write = held.route[0]
            owner, place = (write.path, held.holder.owner), (write.path, write.span)
            if owner not in seen and place not in seen and self._reads(project, held):
                seen |= {owner, place}
                yield self._finding(project, held, source)

    def _reads(self, project: Project, held: Held) -> bool:
        """Whether worker code of the class that keeps the container reads its elements."""
        owners = [klass for klass in project.evaluator.classes.all_classes if klass.facts.name == held.holder.owner]
        code = project.running if held.loader is not None else project.users_running
        return any(project.item_reads.read(running, klass, held.holder.name) for klass in owners for running in code)

    def _finding(self, project: Project, held: Held, source: str) -> Finding:
        failing = project.failing(held, ALL_METHODS)
        how = (
            "every worker copies them page by page as it reads"
            if FORK in failing
            else "every worker gets a copy of its own"
        )
        write, loader = held.route[0], held.loader
        return Finding(
            code=self.code,
            path=write.path,
            span=write.span,
            message=f"Python objects kept as `{held.holder.name}` of `{held.holder.owner}`, {source}: {how}, so memory "
            "grows with every worker; keep the records serialized in one tensor with their offsets, or as arrays",
            severity=self.severity,
            certainty=Certainty.CERTAIN if loader is not None and loader.workers is Workers.SOME else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(failing), "bloat"),
            notes=held.route[1:],
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{write.path}:{held.holder.owner}",
            data=held,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.remedies import records_by_hand

        return records_by_hand(project, finding.data)
