"""DLL201: a dataset keeps a list of file names that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Fix, Held, Kind, Project, Rule, Severity
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import bloat, read_in_workers


class PathListOnDataset(Rule):
    """Reading an element changes its reference count, and the kernel copies the page it lies on into every worker."""

    code = "DLL201"
    name = "path-list-on-dataset"
    summary = "dataset keeps a Python list of file names that workers read per item"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.shipped:
            kind = project.listings.of(held.value) if held.holder.kind == "attribute" else None
            if kind is None or held.assumed or not has_workers(project, held):
                continue
            write = held.route[0]
            if (write.path, held.holder) not in seen and read_in_workers(project, held, project.listings.read_per_item):
                seen.add((write.path, held.holder))
                yield self._finding(project, held, kind)

    def _finding(self, project: Project, held: Held, kind: Kind) -> Finding:
        what = "strings" if kind is Kind.STR else "`Path` objects"
        kept = f"`{held.holder.name}` of `{held.holder.owner}`"
        remedy = (
            "so memory grows with every worker; "
            "use a numpy `StringDType` array (fork) or a byte buffer in a tensor (spawn)"
        )
        key = f"{held.holder.owner}.{held.holder.name}"
        return bloat(project, held, self.code, f"Python list of {what} kept as {kept}", remedy, key)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.as_array import fix_list

        return fix_list(finding, project)
