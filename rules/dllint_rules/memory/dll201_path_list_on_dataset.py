"""DLL201: a dataset keeps a list of file names that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, FORK, Certainty, Finding, Fix, Held, Kind, Project, Rule, Severity, Workers
from dllint_rules.memory.has_workers import has_workers


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
            if (write.path, held.holder) not in seen and self._read(project, held):
                seen.add((write.path, held.holder))
                yield self._finding(project, held, kind)

    def _read(self, project: Project, held: Held) -> bool:
        """Whether worker code of the class that keeps the list reads it."""
        owners = [klass for klass in project.evaluator.classes.all_classes if klass.facts.name == held.holder.owner]
        code = project.running if held.loader is not None else project.users_running
        return any(
            project.listings.read_per_item(running, klass, held.holder.name) for klass in owners for running in code
        )

    def _finding(self, project: Project, held: Held, kind: Kind) -> Finding:
        failing = project.failing(held, ALL_METHODS)
        how = (
            "every worker copies it page by page as it reads"
            if FORK in failing
            else "every worker gets a copy of its own"
        )
        what = "strings" if kind is Kind.STR else "`Path` objects"
        write, loader = held.route[0], held.loader
        return Finding(
            code=self.code,
            path=write.path,
            span=write.span,
            message=f"Python list of {what} kept as `{held.holder.name}` of `{held.holder.owner}`: {how}, so memory "
            "grows with every worker; use a numpy `StringDType` array (fork) or a byte buffer in a tensor (spawn)",
            severity=self.severity,
            certainty=Certainty.CERTAIN if loader is not None and loader.workers is Workers.SOME else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(failing), "bloat"),
            notes=held.route[1:],
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{write.path}:{held.holder.owner}.{held.holder.name}",
            data=held,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.as_array import fix_list

        return fix_list(finding, project)
