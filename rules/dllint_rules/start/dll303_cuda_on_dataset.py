"""DLL303: a dataset keeps something that is on a CUDA device."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import FORK, Certainty, Expr, ExtInst, Finding, Fix, Held, Project, Rule, Running, Workers

_BACK = frozenset({"cpu", "numpy", "item", "tolist"})
"""Methods whose result is not on the device any more."""
_FORM = frozenset({"shape", "size", "ndim", "dim", "numel", "dtype"})
"""What a tensor knows without its device, as its length."""


class CudaOnDataset(Rule):
    """A forked worker cannot touch what its parent has put on a device."""

    code = "DLL303"
    name = "cuda-on-dataset"
    summary = "CUDA tensor or module is kept by a dataset that forked workers read"
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for held in project.shipped:
            loader = held.loader
            if loader is None or loader.boundary.base == "multiprocessing.Process" or FORK not in loader.methods:
                continue
            if (held.path, held.span) in seen:
                continue
            how = on_device(project, held)
            if how and held.holder.kind in ("attribute", "kept", "element") and self._read(project, held):
                seen.add((held.path, held.span))
                yield self._finding(held, how)

    def _read(self, project: Project, held: Held) -> bool:
        """Whether workers read the attribute; of a container or a library's object they read everything."""
        if held.holder.kind != "attribute":
            return True
        running = (item for item in project.running if item.loader is held.loader)
        return any(reads(item, held.holder.name) for item in running)

    def _finding(self, held: Held, how: str) -> Finding:
        loader = held.loader
        assert loader is not None
        where = (
            f"as `{held.holder.name}` of `{held.holder.owner}`" if held.holder.kind == "attribute" else "by a dataset"
        )
        return Finding(
            code=self.code,
            path=held.path,
            span=held.span,
            message=f'`{how}` is kept {where}: raises "CUDA error: initialization error" or "Cannot re-initialize CUDA '
            'in forked subprocess" where the workers are forked (Linux before Python 3.14); keep it on the CPU and '
            "move the batch in the training loop",
            certainty=held.surely if loader.workers is Workers.SOME else Certainty.LIKELY,
            outcomes={FORK: "exception"},
            notes=held.route,
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{held.path}:{held.holder.owner}.{held.holder.name}:{loader.name}",
            data=held,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.start.move_batches import moved_by_hand, moved_in_loop

        held, made = finding.data, finding.data.value
        if held.holder.kind != "attribute" or not project.devices.use(made.call, made.env):
            return moved_by_hand("it is made elsewhere, where others may want it on the device")
        for running in project.running:
            part = given_back(running, held.holder.name) if running.loader is held.loader else None
            if part is not None:
                return moved_in_loop(project, running, held.loader, made.call, made.env, part)
        return moved_by_hand(f"dllint can't see how `{held.holder.name}` gets into an item")


def on_device(project: Project, held: Held) -> str:
    """How a held value was put on a device, as code; "" when it was not, or has been taken off again."""
    value = held.value
    while isinstance(value, ExtInst) and value.call.kind == "call":
        how = project.devices.use(value.call, value.env)
        if how and not how.startswith("torch.cuda."):
            return how
        if value.name.rpartition(".")[2] in _BACK or value.base is None:
            return ""
        value = value.base
    return ""


def reads(running: Running, attribute: str) -> bool:
    """Whether code reads an attribute of this name, and not only its length or form."""
    parts = [part for event in running.events for part in event.walk()]
    asked = {id(value) for part in parts for value in _asked_for_form(part)}
    return any(part.kind == "attribute" and part.name == attribute and id(part) not in asked for part in parts)


def _asked_for_form(part: Expr) -> tuple[Expr, ...]:
    """What an expression is the length or the form of."""
    if part.kind == "attribute" and part.name in _FORM:
        return part.args[:1]
    return part.args[1:2] if part.kind == "call" and part.args[0].name == "len" else ()


def given_back(running: Running, attribute: str) -> Expr | None:
    """An element of the attribute that `__getitem__` returns, alone or in a tuple, or gives a name."""
    if running.entry != "__getitem__" or running.env.facts.name != "__getitem__":
        return None
    for event in running.events:
        value = event.value
        for part in (value, *value.args) if value is not None and event.kind in ("return", "assign") else ():
            if part is not None and part.kind == "subscript" and part.args[0].name == attribute:
                return part
    return None
