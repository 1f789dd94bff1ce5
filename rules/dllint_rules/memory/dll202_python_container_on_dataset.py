"""DLL202: a dataset keeps a container of Python objects that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Held, Project, Rule, Severity
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import bloat, read_in_workers


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
            if owner not in seen and place not in seen and read_in_workers(project, held, project.item_reads.read):
                seen |= {owner, place}
                yield self._finding(project, held, source)

    def _finding(self, project: Project, held: Held, source: str) -> Finding:
        what = f"Python objects kept as `{held.holder.name}` of `{held.holder.owner}`, {source}"
        remedy = (
            "so memory grows with every worker; "
            "keep the records serialized in one tensor with their offsets, or as arrays"
        )
        return bloat(project, held, self.code, what, remedy, held.holder.owner, "them")

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.remedies import records_by_hand

        return records_by_hand(project, finding.data)
