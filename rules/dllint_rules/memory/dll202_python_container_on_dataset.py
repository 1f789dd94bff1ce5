"""DLL202: a dataset keeps a container of Python objects that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint import ALL_METHODS, Finding, Fix, Held, Inst, Project, Rule, Severity, Span
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
        first: dict[tuple[str, str], tuple[str, Finding]] = {}
        for held in project.in_memory:
            source = project.records.of(held.value)
            if not source or (held.route[0].path, held.holder) in names or not has_workers(project, held):
                continue
            write, attribute = held.route[0], held.holder.name
            owner, place = (write.path, held.holder.owner), (write.path, write.span)
            known = first.get(owner, (attribute, None))[0] == attribute
            if known and place not in seen and read_in_workers(project, held, project.item_reads.read):
                seen.add(place)
                found = self._finding(project, held, source)
                best = first.get(owner, (attribute, found))[1]
                first[owner] = attribute, min(best, found, key=lambda item: (item.path, item.span.start))
        yield from (found for _, found in first.values())
        for held in project.shipped:
            index = project.records.coco_index(held.value.klass) if isinstance(held.value, Inst) else None
            if index is not None and index not in seen and has_workers(project, held):
                seen.add(index)
                yield self._of_torchvision(project, held, *index)

    def _finding(self, project: Project, held: Held, source: str) -> Finding:
        what = f"Python objects kept as `{held.holder.name}` of `{held.holder.owner}`, {source}"
        remedy = (
            "so memory grows with every worker; "
            "keep the records serialized in one tensor with their offsets, or as arrays"
        )
        finding = bloat(project, held, self.code, what, remedy, held.holder.owner, "them")
        filled = project.records.filled_at(held.value, held.holder.name)
        if filled is None:
            return finding
        anchors = ((finding.path, finding.span), *finding.anchors)
        return msgspec.structs.replace(finding, path=filled[0], span=filled[1], anchors=anchors)

    def _of_torchvision(self, project: Project, held: Held, path: str, span: Span) -> Finding:
        """A subclass of `CocoDetection`: its base keeps the index and reads it."""
        assert isinstance(held.value, Inst)
        name, loader = held.value.klass.facts.name, held.loader
        return Finding(
            code=self.code,
            path=path,
            span=span,
            message=f"torchvision's COCO index, kept by the base of `{name}`, is dictionaries of Python objects, which "
            "every worker copies as it reads, so memory grows with every worker; keep each image's "
            "annotations serialized in one tensor with their offsets",
            severity=self.severity,
            certainty=held.surely,
            outcomes=dict.fromkeys(sorted(project.failing(held, ALL_METHODS)), "bloat"),
            notes=held.route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{path}:{name}",
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.remedies import records_by_hand

        return records_by_hand(project, finding.data) if finding.data is not None else None
