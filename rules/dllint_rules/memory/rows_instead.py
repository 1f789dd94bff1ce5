"""Attributes that one arm of an `if` makes a list of names, and another one rows, which cost more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dllint import Held, ItemReads, Listings, Project, Records, Span, Write
from dllint_rules.memory.arms import other_arms
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import is_always_read, is_few, is_kept_already, only_changes, read_in_workers, why_small

UNSEEN = frozenset(f"read from {what}" for what in ("JSON", "a file", "a pickle", "a NumPy file"))
"""Where records come from whose contents no code shows: they may be arrays, or numbers that Python has once."""


class RowsInstead:
    """Tells the rule on names and the rule on rows which of them says something of an attribute."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.records, self.reads = project.analysis(Records), project.analysis(ItemReads)
        listings = project.analysis(Listings)
        self._names: dict[object, list[Held]] = defaultdict(list)
        for held in project.in_memory:
            if listings.kept(held):
                self._names[_attribute(held)].append(held)
        self._rows = {_attribute(held) for held in project.in_memory if self._costs_more(held)}

    def are_told(self, held: Held) -> bool:
        """Whether the rule on rows tells the attribute that keeps something."""
        return _attribute(held) in self._rows or _attribute(held) not in self._names

    def names(self, held: Held) -> Iterator[tuple[str, Span]]:
        """Where the attribute that keeps something gets names."""
        steps = (
            other.route[0] for other in self._names.get(_attribute(held), ()) if not only_changes(self.project, other)
        )
        return ((step.path, step.span) for step in steps)

    def _costs_more(self, held: Held) -> bool:
        """Whether code is seen to make rows in place of names, in a way that makes the rule on rows tell them."""
        names = self._names.get(_attribute(held), ())
        source = self.records.of(held.value) if names and not held.assumed else ""
        if not source or source in UNSEEN or not self.records.kept(held):
            return False
        write = self._write(held)
        instead = other_arms(self.project.index.modules[held.route[0].path], write) if write is not None else ()
        arms = {other.target.span for other in instead}
        if not any(
            other.route[0].span in arms and (other.loader is None or held.loader is not None) for other in names
        ):
            return False
        large = has_workers(self.project, held) and not is_few(self.project, held) and not why_small(self.project, held)
        return large and self._is_read(held)

    def _is_read(self, held: Held) -> bool:
        project, read = self.project, self.reads.read
        if not read_in_workers(project, held, read) or is_kept_already(project, held, read):
            return False
        return held.loader is not None or is_always_read(project, held, read)

    def _write(self, held: Held) -> Write | None:
        return self.project.index.modules[held.route[0].path].write_at(held.holder.name, held.route[0].span)


def _attribute(held: Held) -> object:
    return held.route[0].path, held.holder
