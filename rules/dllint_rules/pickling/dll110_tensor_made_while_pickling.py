"""DLL110: pickling it makes a tensor, whose memory is gone before the worker can read it."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ExtInst, Finding, Fix, Held, Inst, Project, Rule
from dllint_rules.pickling.analysis.escaping_handles import worker_functions
from dllint_rules.pickling.analysis.states import tensors_in_state
from dllint_rules.pickling.only_local import setter_of_local
from dllint_rules.pickling.unpicklable import finding, keeper

KILLS = "kills the worker that unpickles it"
GENERATORS = frozenset({"torch.Generator", "torch.Generator().manual_seed"})


class TensorMadeWhilePickling(Rule):
    """A tensor goes to a worker as a place in shared memory; one that only pickling made is freed at once."""

    code = "DLL110"
    name = "tensor-made-while-pickling"
    summary = "`torch.Generator`, or an object whose `__getstate__` makes tensors, is shipped to workers"

    def check(self, project: Project) -> Iterator[Finding]:
        workers = worker_functions(project)
        for held in project.shipped:
            found = self._generator(project, held, workers) or self._state(project, held)
            if found is not None:
                yield found

    def _generator(self, project: Project, held: Held, workers: frozenset[tuple[str, int]]) -> Finding | None:
        made, holder = held.value, held.holder
        if not isinstance(made, ExtInst) or made.name not in GENERATORS or held.assumed:
            return None
        if holder.kind not in ("attribute", "element") and holder.name != "partial":
            return None
        attribute = holder.name if holder.kind == "attribute" else ""
        if not project.handles.open_before(made, attribute, workers, held.loader):
            return None
        is_local = bool(attribute) and setter_of_local(project, attribute, made) is not None
        remedy = "make it a local variable" if is_local else "make it in the worker, from `torch.initial_seed()`"
        return finding(self, project, held, f"`torch.Generator` {keeper(held)}", remedy, f"{KILLS}:")

    def _state(self, project: Project, held: Held) -> Finding | None:
        if not isinstance(held.value, Inst):
            return None
        for function, module, call in tensors_in_state(project, held.value):
            what = f"tensor made in `{function}` of `{held.value.klass.facts.name}`"
            at = held.at(module.path, call.span)
            return finding(self, project, at, what, "keep the tensor, or pickle the array", f"{KILLS}:")
        return None

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.lazy_handle import generator_by_hand

        return generator_by_hand(project, finding.data)
