"""DLL112: a memory-mapped array goes to workers with its whole content."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint import ExtInst, Finding, Fix, Held, Project, Rule, Severity, Span
from dllint_rules.pickling.analysis.escaping_handles import worker_functions
from dllint_rules.pickling.analysis.first_looks import FirstLooks
from dllint_rules.pickling.analysis.maps import asked_at, mapped
from dllint_rules.pickling.unpicklable import finding, keeper

REMEDY = "keep the path and map it in the worker"
LEFT = "an item is read before the workers start, which maps it: leave it out of the pickle"


class MemmapShipped(Rule):
    """Pickle knows arrays, not files: it writes what the map shows, and the worker gets an array in its own memory."""

    code = "DLL112"
    name = "memmap-shipped"
    summary = "memory-mapped array is shipped to workers: each gets a copy of its content"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        workers = worker_functions(project)
        for held in project.shipped_at(lambda held: None if held.assumed else _asked_at(project, held)):
            attribute = held.holder.name if held.holder.kind == "attribute" else ""
            found = None
            made, loader = held.value, held.loader
            if isinstance(made, ExtInst) and project.handles.open_before(made, attribute, workers, loader):
                found = self._finding(project, held, REMEDY)
            if found is not None:
                yield found
        for look in project.analysis(FirstLooks).looks:
            at = _asked_at(project, look.held) if look.pickled else None
            found = self._finding(project, look.held.at(*at), LEFT) if at is not None else None
            if found is not None:
                yield found

    def _finding(self, project: Project, held: Held, remedy: str) -> Finding | None:
        how = "is copied whole into every worker"
        found = finding(self, project, held, f"memory map {keeper(held)}", remedy, how, Severity.WARNING)
        if found is None:
            return None
        outcomes = {method: "bloat" if outcome != "ok" else "ok" for method, outcome in found.outcomes.items()}
        return msgspec.structs.replace(found, outcomes=outcomes)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.lazy_handle import fix_handle

        return fix_handle(project, finding.data)


def _asked_at(project: Project, held: Held) -> tuple[str, Span] | None:
    """Where a memory map that is shipped is asked for; None for what is none."""
    shown = mapped(project, held.value)
    if shown is None:
        return None
    return asked_at(project, shown) if shown is held.value else (held.path, held.span)
