"""DLL203: a dataset keeps a NumPy array of Python objects that its workers read item by item."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Const, Ext, ExtInst, Finding, Held, Project, Rule, Seq, Severity
from dllint_rules.memory.has_workers import has_workers
from dllint_rules.memory.kept import bloat, read_in_workers

_MAKERS = frozenset({"numpy.array", "numpy.asarray", "numpy.fromiter"})
_OBJECT = frozenset({"builtins.object", "numpy.object_", "numpy.object", "object", "O"})


class ObjectArrayOnDataset(Rule):
    """An array with `dtype=object` is an array of pointers: the objects are as many and as scattered as in a list."""

    code = "DLL203"
    name = "object-array-on-dataset"
    summary = "dataset keeps an array of Python objects that workers read per item"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.in_memory:
            write = held.route[0]
            if (write.path, write.span) in seen or not has_workers(project, held):
                continue
            if (
                isinstance(held.value, ExtInst)
                and _of_objects(project, held.value)
                and read_in_workers(project, held, project.item_reads.read)
            ):
                seen.add((write.path, write.span))
                yield self._finding(project, held)

    def _finding(self, project: Project, held: Held) -> Finding:
        what = f"array of Python objects kept as `{held.holder.name}` of `{held.holder.owner}`"
        remedy = (
            "as with a list; use a dtype of its own (`StringDType`, numbers), or serialize the objects into one tensor"
        )
        return bloat(project, held, self.code, what, remedy, f"{held.holder.owner}.{held.holder.name}", "them")


def _of_objects(project: Project, made: ExtInst) -> bool:
    """Whether an array is made with `dtype=object`, of more than a list that is written out."""
    given = made.call.args[1:]
    if made.call.kind != "call" or not given:
        return False
    if made.name in _MAKERS:
        dtype = made.call.keyword("dtype") or (given[1] if len(given) > 1 else None)
        written = [value for value in project.values(given[0], made.env) if isinstance(value, Seq)]
        if any(value.expr.kind in ("list", "tuple") and value.expr.args for value in written):
            return False
    else:
        dtype = given[0] if made.name.startswith("numpy.") and made.name.endswith(".astype") else None
    values = project.values(dtype, made.env) if dtype is not None else ()
    return bool(values) and all(
        (isinstance(value, Ext) and value.name in _OBJECT) or (isinstance(value, Const) and value.value in _OBJECT)
        for value in values
    )
