"""DLL112: a memory-mapped array goes to workers with its whole content."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint import Const, ExtInst, Finding, Fix, Held, Project, Rule, Severity, Value, worker_functions
from dllint_rules.pickling.unpicklable import finding, keeper

MAPS = frozenset({"numpy.memmap", "numpy.lib.format.open_memmap"})


class MemmapShipped(Rule):
    """Pickle knows arrays, not files: it writes what the map shows, and the worker gets an array in its own memory."""

    code = "DLL112"
    name = "memmap-shipped"
    summary = "memory-mapped array is shipped to workers: each gets a copy of its content"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        workers = worker_functions(project)
        for held in project.shipped:
            if not isinstance(held.value, ExtInst) or held.assumed or not is_map(project, held.value):
                continue
            attribute = held.holder.name if held.holder.kind == "attribute" else ""
            if not project.handles.open_before(held.value, attribute, workers):
                continue
            found = self._finding(project, held)
            if found is not None:
                yield found

    def _finding(self, project: Project, held: Held) -> Finding | None:
        how = "is copied whole into every worker"
        found = finding(
            self, project, held, f"memory map {keeper(held)}", "keep the path and map it in the worker", how
        )
        if found is None:
            return None
        outcomes = {method: "bloat" if outcome != "ok" else "ok" for method, outcome in found.outcomes.items()}
        return msgspec.structs.replace(found, severity=Severity.WARNING, outcomes=outcomes)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.lazy_handle import fix_handle

        return fix_handle(project, finding.data)


def is_map(project: Project, made: ExtInst) -> bool:
    """Whether a value is a memory-mapped array."""
    if made.name in MAPS:
        return True
    mode = made.call.keyword("mmap_mode")
    if mode is None and len(made.call.args) > 2:
        mode = made.call.args[2]
    return made.name == "numpy.load" and mode is not None and all(map(_names_mode, project.values(mode, made.env)))


def _names_mode(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)
