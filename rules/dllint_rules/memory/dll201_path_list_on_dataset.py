"""DLL201: a dataset keeps a list of file names that its workers read item by item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dllint import Certainty, Finding, Fix, Held, ItemReads, Kind, Listings, Project, Rule, Severity, Span
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import (
    bloat,
    certainty,
    is_few,
    is_held_out,
    is_inherited,
    is_kept_already,
    kept_by,
    only_changes,
    read_in_workers,
    why_small,
    with_others,
)
from dllint_rules.memory.remedies import are_bytes, would_pad
from dllint_rules.memory.rows_instead import RowsInstead


class PathListOnDataset(Rule):
    """Reading an element changes its reference count, and the kernel copies its page into every worker."""

    code = "DLL201"
    name = "path-list-on-dataset"
    summary = "dataset keeps a Python list of file names that workers read per item"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        listings, reads = project.analysis(Listings), project.analysis(ItemReads)
        instead = project.analysis(RowsInstead)
        kept: dict[object, Held] = {}
        places: dict[object, set[tuple[str, Span]]] = defaultdict(set)
        for held in project.in_memory:
            if listings.kept(held) is None or held.assumed or is_few(project, held) or instead.are_told(held):
                continue
            key = kept_by(project, held), held.holder.name
            if not has_workers(project, held):
                continue
            if not only_changes(project, held):
                places[key].add((held.route[0].path, held.route[0].span))
            if key not in kept or _rank(project, held) < _rank(project, kept[key]):
                kept[key] = held
        for attribute, held in kept.items():
            kind = listings.kept(held)
            read = kind is not None and read_in_workers(project, held, reads.mentioned)
            if kind is not None and read and not is_kept_already(project, held, reads.mentioned):
                yield with_others(self._finding(project, held, kind), held, places[attribute])

    def _finding(self, project: Project, held: Held, kind: Kind) -> Finding:
        what = "strings" if kind is Kind.STR else "`Path` objects"
        kept = f"`{held.holder.name}` of `{held.holder.owner}`"
        dtype = "`StringDType`" if project.targets.needs_numpy_2(held.route[0].path) else "`dtype=str`"
        use = f"a NumPy array with {dtype} (fork) or a byte buffer in a tensor (spawn)"
        if are_bytes(project, held.value):
            what = "bytes"
            use = "a byte buffer in a tensor (a NumPy array with `dtype=bytes` strips NUL bytes at the end of each)"
        elif would_pad(project, held):
            use = "a byte buffer in a tensor (a NumPy array with `dtype=str` pads each of them to the longest)"
        remedy = f"so memory grows with every worker; use {use}"
        key = f"{held.holder.owner}.{held.holder.name}"
        return bloat(project, held, self.code, f"Python list of {what} kept as {kept}", remedy, key)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.in_place import fix_list

        return fix_list(finding, project)


def _rank(project: Project, held: Held) -> tuple[object, ...]:
    """The route that says most of a list: where it is seen to grow, and to be large, certain, to who trains, short.

    Of classes that share the code that sets it, the one that has this code.
    """
    guessed = project.analysis(Listings).of(held.value) is None
    uncertain = certainty(project, held) is not Certainty.CERTAIN
    small, inherited = bool(why_small(project, held)), is_inherited(project, held)
    return (
        guessed, small, held.loader is None, uncertain, inherited, is_held_out(held), held.rank, len(held.route),
    )  # fmt: skip
