"""DLL203: a dataset keeps an array or a table of Python objects that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Const, Expr, Ext, ExtInst, Finding, Fix, Held, ItemReads, Project, Rule, Seq, Severity, Tables
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
        reads, tables = project.analysis(ItemReads), project.analysis(Tables)
        seen: set[object] = set()
        for held in project.in_memory:
            write = held.route[0]
            if {(write.path, write.span), held.holder} & seen or not has_workers(project, held):
                continue
            if not isinstance(held.value, ExtInst) or is_few(held.holder.name):
                continue
            table = tables.of(held.value)
            if not (table or _of_objects(project, held.value)) or not read_in_workers(project, held, reads.read):
                continue
            if not table:
                seen.add((write.path, write.span))
                yield self._finding(project, held)
            elif read_in_workers(project, held, reads.as_text):
                seen.add(held.holder)
                yield self._of_table(project, held)

    def _finding(self, project: Project, held: Held) -> Finding:
        what = f"array of Python objects kept as `{held.holder.name}` of `{held.holder.owner}`"
        remedy = "as with a list; use a dtype of its own (text, numbers), or serialize the objects into one tensor"
        return bloat(project, held, self.code, what, remedy, f"{held.holder.owner}.{held.holder.name}", "them")

    def _of_table(self, project: Project, held: Held) -> Finding:
        what = f"pandas table whose text is Python objects, kept as `{held.holder.name}` of `{held.holder.owner}`"
        remedy = "as with a list; keep its columns as arrays of their own (text, numbers), or in Arrow"
        return bloat(project, held, self.code, what, remedy, f"{held.holder.owner}.{held.holder.name}", "them")

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        name, dtype = finding.data.holder.name, _dtype(finding.data.value)
        if project.analysis(Tables).of(finding.data.value):
            return Fix.manual(
                f"Keep each column of `{name}` that workers read as an array; dllint doesn't know which types they have"
            )
        written = project.text(finding.data.value.env.module.path, dtype.span) if dtype is not None else "object"
        return Fix.manual(
            f"Write the type of its elements for `{written}`; whether all of `{name}` have one type is not seen"
        )


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
    values = project.values(dtype, made.env) if dtype is not None else ()
    return bool(values) and all(
        (isinstance(value, Ext) and value.name in _OBJECT) or (isinstance(value, Const) and value.value in _OBJECT)
        for value in values
    )


def _dtype(made: ExtInst) -> Expr | None:
    """How the type of the elements is given."""
    given = made.call.args[1:]
    if made.name in _MAKERS:
        return made.call.keyword("dtype") or (given[1] if len(given) > 1 else None)
    return given[0] if made.name.startswith("numpy.") and made.name.endswith(".astype") else None
