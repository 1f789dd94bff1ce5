"""DLL202: a dataset keeps a container of Python objects that its workers read item by item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from dllint import (
    ALL_METHODS,
    Certainty,
    Finding,
    Fix,
    Held,
    Inst,
    ItemReads,
    OfBase,
    OfLibraries,
    Project,
    Records,
    Rule,
    Seq,
    Severity,
    Span,
)
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import (
    NUMBERS,
    ROWS,
    bloat,
    certainty,
    is_always_read,
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
from dllint_rules.memory.rows_instead import UNSEEN, RowsInstead

_INDEX = "COCO index", "dictionaries", "each image's annotations serialized in one tensor with their offsets"
_FILES = "list of samples", "tuples", "the paths as one array of text, and the classes as one of numbers"
"""What torchvision's classes keep, of what it is, and the remedy."""
_Rank = tuple[bool, bool, bool, bool, bool, str, int]
_First = dict[tuple[object, str], tuple[_Rank, Finding, bool]]
"""Of each class and attribute the finding that says most, and its rank: first that it is only for a library's users.

Then whether it is reported whatever else the class keeps.
"""


class PythonContainerOnDataset(Rule):
    """A container of rows or dictionaries is many small objects; reading one writes to its page."""

    code = "DLL202"
    name = "python-container-on-dataset"
    summary = "dataset keeps rows or annotations as Python objects that workers read per item"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        records, reads = project.analysis(Records), project.analysis(ItemReads)
        instead = project.analysis(RowsInstead)
        seen: set[object] = set()
        first: _First = {}
        places: dict[object, set[tuple[str, Span]]] = defaultdict(set)
        candidates = [
            (held, source)
            for held in project.in_memory
            if not held.assumed and (source := records.kept(held)) and has_workers(project, held)
            if instead.are_told(held) and not is_few(project, held)
        ]
        for held, source in sorted(candidates, key=lambda candidate: _order(project, *candidate)):
            write = held.route[0]
            of_users = held.loader is None
            kept, place = (kept_by(project, held), held.holder.name), (write.path, write.span, of_users)
            read = reads.read_whole if source == "read from a NumPy file" else reads.read
            read = reads.read_keys if records.lead_to_labels(held.value) else read
            is_read = place not in seen and (read_in_workers(project, held, read) or records.read_by_base(held))
            if is_read and not is_kept_already(project, held, read):
                seen.add(place)
                found = self._finding(project, held, source)
                # Of an attribute that is set in several places: where it is large, where a loop fills it, where it is
                # made and not changed, a list, or the first.
                small = found.severity is Severity.INFO
                filled, changes = records.is_filled(held.value), only_changes(project, held)
                rank = of_users, small, not filled, changes, not _is_list(held), found.path, found.span.start
                if not (small or changes):
                    places[kept] |= {(found.path, found.span), *instead.names(held)}
                if kept not in first or rank < first[kept][0]:
                    first[kept] = rank, found, not of_users or is_always_read(project, held, read)
        for attribute, found, held in _told(first):
            yield with_others(found, held, places[attribute])
        of_libraries = project.analysis(OfLibraries)
        for held in project.shipped:
            of_base = of_libraries.kept(held.value) if isinstance(held.value, Inst) else None
            if of_base is not None and (of_base.path, of_base.span) not in seen and has_workers(project, held):
                seen.add((of_base.path, of_base.span))
                yield self._of_torchvision(project, held, of_base)

    def _finding(self, project: Project, held: Held, source: str) -> Finding:
        what = f"Python objects kept as `{held.holder.name}` of `{held.holder.owner}`, {source}"
        kept, each = "the records serialized in one tensor with their offsets, or as arrays", ROWS
        if project.analysis(Records).are_identifiers(held.value):
            kept, each = "them as one array", NUMBERS
        remedy = f"so memory grows with every worker; keep {kept}"
        key = f"{held.holder.owner}.{held.holder.name}"
        finding = bloat(project, held, self.code, what, remedy, key, "them", each)
        if source in UNSEEN:
            finding = msgspec.structs.replace(finding, certainty=Certainty.LIKELY)
        filled = project.analysis(Records).filled_at(held)
        if filled is None:
            return finding
        anchors = ((finding.path, finding.span), *finding.anchors)
        return msgspec.structs.replace(finding, path=filled[0], span=filled[1], anchors=anchors)

    def _of_torchvision(self, project: Project, held: Held, kept: OfBase) -> Finding:
        """A class that derives from `CocoDetection` or `ImageFolder`: its base keeps the index, or the files."""
        name, loader = kept.klass.facts.name, held.loader
        what, of, remedy = _INDEX if kept.is_index else _FILES
        return Finding(
            code=self.code,
            path=kept.path,
            span=kept.span,
            message=f"torchvision's {what}, kept by the base of `{name}`, is {of} of Python objects, which every "
            f"worker copies as it reads, so memory grows with every worker; keep {remedy}",
            severity=self.severity,
            certainty=held.surely if kept.is_index else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(project.failing(held, ALL_METHODS)), "bloat"),
            notes=held.route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{kept.path}:{name}",
            data=kept,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.memory.folder_list import fix_folder
        from dllint_rules.memory.in_place import fix_records

        if isinstance(finding.data, OfBase):
            if finding.data.is_index:
                why_not = "the base creates the index and reads it, so you must rewrite `__getitem__`"
                return Fix.manual(f"Keep the annotations as bytes in a tensor; {why_not}")
            return fix_folder(finding, project)
        return fix_records(finding, project)


def _order(project: Project, held: Held, source: str) -> tuple[object, ...]:
    """What is seen to grow with data says more than the length of a dataset, a class for which it is large more than
    one for tests, and rows that code makes more than what a file may have; the class with the code more than one that
    derives from it, and who trains most.
    """
    guessed, small = not project.analysis(Records).of(held.value), bool(why_small(project, held))
    uncertain = certainty(project, held) is not Certainty.CERTAIN
    inherited = is_inherited(project, held)
    return guessed, small, source in UNSEEN, uncertain, inherited, is_held_out(held), held.rank


def _is_list(held: Held) -> bool:
    """Whether a list has the rows, which cost more than the columns of a dictionary: a list is an object for each."""
    return isinstance(held.value, Seq) and held.value.expr.kind in ("list", "comprehension")


def _told(first: _First) -> Iterator[tuple[object, Finding, Held]]:
    """All attributes that loaders of the project take, or that the loaders of its users read whatever these choose.

    Of the others that a class has for users, one.
    """
    least: dict[object, _Rank] = {}
    for (owner, _), (rank, *_) in first.items():
        least[owner] = min(rank, least.get(owner, rank))
    for kept, (rank, found, always) in first.items():
        if always or rank == least[kept[0]]:
            yield kept, found, found.data
