"""DLL203: a dataset keeps an array or a table of Python objects that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec

from dllint import (
    Certainty,
    Const,
    Expr,
    Ext,
    ExtInst,
    ExtMethod,
    Finding,
    Fix,
    Held,
    ItemReads,
    Module,
    Project,
    Records,
    Rule,
    Seq,
    Severity,
    Tables,
)
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import bloat, is_few, read_in_workers

_MAKERS = frozenset({"numpy.array", "numpy.asarray", "numpy.fromiter"})
_OBJECT = frozenset({"builtins.object", "numpy.object_", "numpy.object", "object", "O"})


class ObjectArrayOnDataset(Rule):
    """An array with `dtype=object` is an array of pointers: the objects are as many and as scattered as in a list."""

    code = "DLL203"
    name = "object-array-on-dataset"
    summary = "dataset keeps an array or a table of Python objects that workers read per item"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        reads, seen = project.analysis(ItemReads), set[object]()
        kept = (held for held in project.in_memory if has_workers(project, held) and self._is_bloat(project, held))
        for held in sorted((held for held in kept if not is_few(project, held)), key=partial(_rank, project)):
            write = held.route[0]
            keys = {(write.path, write.span), (write.path, held.holder)}
            if keys.isdisjoint(seen) and read_in_workers(project, held, reads.read):
                seen |= keys
                table = project.analysis(Tables).of(held.value)
                yield self._of_table(project, held) if table else self._finding(project, held)

    def _is_bloat(self, project: Project, held: Held) -> bool:
        """Whether a value is an array of objects, or a table or a part of one that has lists or gives workers text."""
        if not isinstance(held.value, (ExtInst, ExtMethod)):
            return False
        tables = project.analysis(Tables)
        if not tables.of(held.value):
            made = isinstance(held.value, ExtInst) and _of_objects(project, held.value)
            return made or project.analysis(Records).fill_array(held)
        return _has_text(project, held) or tables.containers_at(held.value) is not None

    def _finding(self, project: Project, held: Held) -> Finding:
        what = f"array of Python objects kept as `{held.holder.name}` of `{held.holder.owner}`"
        remedy = "as with a list; use a dtype of its own (text, numbers), or serialize the objects into one tensor"
        found = bloat(project, held, self.code, what, remedy, f"{held.holder.owner}.{held.holder.name}", "them")
        if project.analysis(Records).fill_array(held):
            return msgspec.structs.replace(found, certainty=Certainty.LIKELY)  # no code shows what the file has
        return found

    def _of_table(self, project: Project, held: Held) -> Finding:
        tables = project.analysis(Tables)
        array = tables.is_array(held.value)
        made = None if _has_text(project, held) else tables.containers_at(held.value)
        what, dtype = ("text", "a dtype for text") if made is None else ("lists", "one array of numbers with offsets")
        form = f"array of a pandas table's {what}, which" if array else f"pandas table whose {what}"
        be = "is" if array or made is None else "are"
        kept = f"{form} {be} Python objects, kept as `{held.holder.name}` of `{held.holder.owner}`"
        columns = f"use {dtype}" if array else "keep its columns as arrays of their own (text, numbers)"
        remedy = f"as with a list; {columns}, or Arrow"
        finding = bloat(project, held, self.code, kept, remedy, f"{held.holder.owner}.{held.holder.name}", "them")
        certainty = Certainty.LIKELY if held.surely is Certainty.CERTAIN else held.surely
        finding = msgspec.structs.replace(finding, certainty=certainty)  # pandas 3 may keep its text in Arrow
        if made is None:
            return finding
        anchors = ((finding.path, finding.span), *finding.anchors)
        return msgspec.structs.replace(finding, path=made[0], span=made[1], anchors=anchors)

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        name, value, tables = finding.data.holder.name, finding.data.value, project.analysis(Tables)
        if tables.of(value) and tables.containers_at(value) is not None:
            return Fix.manual(f"Keep the lists of `{name}` as one array with offsets; dllint doesn't know their types")
        if tables.is_array(value):
            return Fix.manual(f"Give `{name}` a dtype for text; dllint doesn't know whether all of it is text")
        if tables.of(value):
            return Fix.manual(
                f"Keep each column of `{name}` that workers read as an array; dllint doesn't know which types they have"
            )
        if project.analysis(Records).fill_array(finding.data):
            return Fix.manual(f"Save each key of `{name}` as an array; dllint doesn't know which types they have")
        dtype = _dtype(value)
        written = project.text(value.env.module.path, dtype.span) if dtype is not None else "object"
        return Fix.manual(
            f"Write the type of its elements for `{written}`; whether all of `{name}` have one type is not seen"
        )


def _rank(project: Project, held: Held) -> tuple[object, ...]:
    """The route that says most: to a loader of the project, where the class itself sets it first, certain, short."""
    write = held.route[0]
    inherited = held.holder.owner not in _setters(project.index.modules[write.path], held)
    return held.loader is None, inherited, write.path, write.span.start, held.rank, len(held.route)


def _has_text(project: Project, held: Held) -> bool:
    """Whether a table, or a part of one, is called after text, or workers take text out of it."""
    reads = project.analysis(ItemReads)
    taken = (reads.as_text, reads.by_text_method)
    return project.analysis(Tables).is_text(held.value) or any(read_in_workers(project, held, read) for read in taken)


def _setters(module: Module, held: Held) -> Iterator[str]:
    """The name of the class whose method sets what is kept."""
    for write in module.attribute_writes.get(held.holder.name, ()):
        owner = module.method_owner(write.function)
        if write.target.span == held.route[0].span and owner >= 0:
            yield module.model.classes[owner].name


def _of_objects(project: Project, made: ExtInst) -> bool:
    """Whether an array is made with `dtype=object`, of more than a list that is written out."""
    given = made.call.args[1:]
    if made.call.kind != "call" or not given:
        return False
    dtype = _dtype(made)
    if made.name in _MAKERS:
        written = [value for value in project.values(given[0], made.env) if isinstance(value, Seq)]
        if any(value.expr.kind in ("list", "tuple") and value.expr.args for value in written):
            return False
    if dtype is None:
        return made.name in _MAKERS and _of_mappings(project, made)
    values = project.values(dtype, made.env)
    return bool(values) and all(
        (isinstance(value, Ext) and value.name in _OBJECT) or (isinstance(value, Const) and value.value in _OBJECT)
        for value in values
    )


def _of_mappings(project: Project, made: ExtInst) -> bool:
    """Whether an array is made of a list of dictionaries: NumPy has no other type for them than `object`."""
    elements = project.analysis(Records).elements(made.call.args[1], made.env)
    return bool(elements) and all(
        (isinstance(element, Seq) and element.kind == "dict")
        or (isinstance(element, ExtInst) and element.name == "builtins.dict")
        for element in elements
    )


def _dtype(made: ExtInst) -> Expr | None:
    """How the type of the elements is given."""
    given = made.call.args[1:]
    if made.name in _MAKERS:
        return made.call.keyword("dtype") or (given[1] if len(given) > 1 else None)
    return given[0] if made.name.startswith("numpy.") and made.name.endswith(".astype") else None
