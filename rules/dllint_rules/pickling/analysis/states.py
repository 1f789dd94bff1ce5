"""How objects are pickled and unpickled: tensors that `__getstate__` makes, a `__getattr__` that finds nothing yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Env, Ext, Inst, Klass
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project import Project

STATE = ("__getstate__", "__reduce__", "__reduce_ex__")
_TENSORS = frozenset({
    "torch.tensor", "torch.from_numpy", "torch.as_tensor", "torch.zeros", "torch.ones", "torch.empty", "torch.full",
    "torch.arange", "torch.rand", "torch.randn", "torch.stack", "torch.cat", "torch.Tensor", "torch.FloatTensor",
    "torch.LongTensor", "torch.ByteTensor", "torch.frombuffer",
})  # fmt: skip
_RESTORE = ("__setstate__", "__reduce__", "__reduce_ex__", "__getnewargs_ex__")
_KNOWN_BASES = frozenset({
    "builtins.object", "abc.ABC", "typing.Generic", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset",
    "torch.utils.data.Subset", "torch.utils.data.ConcatDataset", "torch.utils.data.TensorDataset",
})  # fmt: skip
"""Bases that neither find attributes nor restore objects in a way of their own."""
_SET_BY_BASES = {
    "torch.utils.data.ConcatDataset": frozenset({"datasets", "cumulative_sizes"}),
    "torch.utils.data.Subset": frozenset({"dataset", "indices"}),
    "torch.utils.data.TensorDataset": frozenset({"tensors"}),
}
"""What `__init__` of such bases sets (read in torch's `utils/data/dataset.py`)."""


def tensors_in_state(project: Project, inst: Inst) -> Iterator[tuple[str, Module, Expr]]:
    """Tensors that an object's own pickling makes and hands on: method, module, call."""
    for name in STATE:
        method = project.evaluator.classes.method(inst, name)
        if method is None:
            continue
        env = project.evaluator.generic(method.func.module, method.func.index)
        for event in env.facts.events:
            for expr in _handed_on(event):
                if expr.kind == "call" and _makes_tensor(project, expr, env):
                    yield name, env.module, expr


def _handed_on(event: Event) -> Iterator[Expr]:
    """What a statement puts into the state as it is."""
    if event.value is None:
        return
    if event.kind == "return":
        yield from _parts(event.value)
    elif event.kind == "assign" and event.target is not None:
        if event.target.kind == "subscript":
            yield event.value
        elif event.value.kind == "dict":
            yield from _parts(event.value)


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    if expr.kind in ("dict", "tuple", "list"):
        for part in expr.args:
            yield from _parts(part)
    elif expr.kind == "call" and expr.args[0].name == "dict":
        yield from (value for _, value in expr.keywords)


def _makes_tensor(project: Project, call: Expr, env: Env) -> bool:
    return any(isinstance(value, Ext) and value.name in _TENSORS for value in project.values(call.args[0], env))


def endless_getattr(project: Project, inst: Inst) -> tuple[Module, Expr] | None:
    """The read in `__getattr__` of an attribute that a new object lacks: it leads back to `__getattr__`."""
    classes = project.evaluator.classes
    method = classes.method(inst, "__getattr__")
    if method is None or any(classes.method(inst, name) is not None for name in _RESTORE):
        return None
    if not set(classes.external_bases(inst.klass)) <= _KNOWN_BASES or not _bases_known(project, inst.klass):
        return None
    module, function = method.func.module, method.func.index
    facts = module.model.functions[function]
    if len(facts.parameters) != 2:
        return None
    receiver, wanted = facts.parameters[0].name, facts.parameters[1].name
    events = tuple(_reached(module, facts.events, receiver, wanted))
    if "__dict__" in _names(events):
        return None
    own = {name for item in classes.mro(inst.klass) for name in _class_names(item)}
    for event in events:
        if event.block >= 0 or (event.kind == "test" and wanted in _names((event,))):
            return None
        for expr in event.walk():
            if expr.kind == "attribute" and expr.args[0].name == receiver and expr.args[0].kind == "name":
                if expr.name not in own and not expr.name.startswith("__") and _is_set(project, inst, expr.name):
                    return module, expr
    return None


def _reached(module: Module, events: tuple[Event, ...], receiver: str, wanted: str) -> Iterator[Event]:
    """What `__getattr__` runs for a new object, whose `__dict__` is empty: `if name in self.__dict__` finds nothing."""

    def finds_nothing(test: Expr | None) -> bool:
        asked = test.args if test is not None and (test.kind, test.name) == ("compare", "in") else ()
        return [part.dotted for part in asked] == [wanted, f"{receiver}.__dict__"]

    for event in events:
        around = map(module.block, module.enclosing(event.block))
        skipped = any(block.kind == "if" and finds_nothing(block.test) for block in around)
        if not skipped and not (event.kind == "test" and finds_nothing(event.value)):
            yield event


def _bases_known(project: Project, klass: Klass) -> bool:
    return all(
        isinstance(base, (Ext, Klass))
        for item in project.evaluator.classes.mro(klass)
        for base in project.evaluator.classes.bases(item)
    )


def _names(events: tuple[Event, ...]) -> set[str]:
    return {part.name for event in events for part in event.walk()}


def _class_names(klass: Klass) -> set[str]:
    """What the class body itself binds."""
    return {*klass.facts.methods, *(klass.module.bindings[klass.facts.parent, klass.facts.index])}


def _is_set(project: Project, inst: Inst, name: str) -> bool:
    classes = project.evaluator.classes
    if any(name in _SET_BY_BASES.get(base, ()) for base in classes.external_bases(inst.klass)):
        return True
    return any(name in item.module.self_writes.get(item.index, {}) for item in classes.mro(inst.klass))
