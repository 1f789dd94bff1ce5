"""Lines that `linecache` keeps: of every file that code has read a line of, all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.data.per_item import PerItem, runs_per_item
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Ext
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.execution.call_graph import Running
from dllint_rules.memory.analysis.caches import Growth

if TYPE_CHECKING:
    from dllint.project import Project

_READING = frozenset({"linecache.getline", "linecache.getlines"})
_NAMES = frozenset(name.rpartition(".")[2] for name in _READING)
_CLEARING = "clearcache"


class KeptLines:
    """Answers where worker code reads lines of large files with `linecache`."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.per_item = project.analysis(PerItem)

    def of(self, running: Running) -> Growth | None:
        """Where code reads another line, or a line of another file, for another item; what is large is not seen."""
        if _NAMES.isdisjoint(running.env.module.calls):
            return None
        for event in running.events:
            for part in event.walk():
                name = part.args[0].name if part.kind == "call" else ""
                if name not in _NAMES or not runs_per_item(running, event) or self._clears:
                    continue
                given = (*part.args[1:], *(value for _, value in part.keywords))
                changes = any(self.per_item.varies(item, running.env) is Answer.YES for item in given)
                if changes and self._reads(part, running):
                    return Growth(running, part, f"linecache.{name}", known=False)
        return None

    def _reads(self, call: Expr, running: Running) -> bool:
        values = self.evaluator.values(call.args[0], running.env)
        return any(isinstance(value, Ext) and value.name in _READING for value in values)

    @at_rest
    def _clears(self) -> bool:
        """Whether some code that workers run empties the cache."""
        parts = (part for running in self.project.running for event in running.events for part in event.walk())
        return any(part.kind == "call" and part.args[0].name == _CLEARING for part in parts)
