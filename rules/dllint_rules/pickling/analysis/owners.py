"""Bound methods that go to workers, and what their owners take along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.project.data.listings import Listings
from dllint.project.escape.shipped import Held
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import UNKNOWN, ExtInst, Func, Inst, Klass, Method, Value
from dllint_rules.pickling.analysis.escaping_handles import WorkerFunctions, kept_handle

if TYPE_CHECKING:
    from dllint.project import Project

_MODULES = frozenset({"torch.nn.Module", "lightning.LightningModule", "torch.nn.modules.module.Module"})
_DATA_MODULE = "lightning.LightningDataModule"
TRAINER = "trainer"
"""What Lightning sets on a data module before it asks for its loaders; the model is an attribute of it.

Run with Lightning 2.6.6: every worker has it, and where workers are spawned it is pickled for them.
"""
_CALLED = frozenset({"model", "net", "network"})
_MODELS = ("torchvision.models.", "timm.create_model", "torch.hub.load")


class Owner(NamedTuple):
    """The owner of a shipped bound method, and what it takes along that must not, or doesn't have to, go to workers."""

    held: Held
    method: Method
    broken: tuple[tuple[Held, str], ...]
    """What cannot be pickled, and what that is, in words."""
    heavy: tuple[tuple[Held, str], ...]


def owners(project: Project, workers: WorkerFunctions) -> Iterator[Owner]:
    """The owners of bound methods that go to workers for the methods' sake alone."""
    along = [held for held in project.shipped if held.method is not None]
    direct = {held.value.klass for held in project.shipped if held.method is None and isinstance(held.value, Inst)}
    for held in along:
        method = held.method
        if held.holder.kind != "owner" or method is None or held.value != method.owner:
            continue
        if not isinstance(held.value, Inst):
            continue
        own = [item for item in along if item.method == method and item.holder.kind != "owner"]
        broken = [(item, handle.what) for item in own if (handle := kept_handle(project, item, workers))]
        heavy = [] if held.value.klass in direct else [(item, what) for item in own if (what := _heavy(project, item))]
        if held.value.klass not in direct and _is_module(project, held.value):
            heavy = [(held, "model")]
        if project.evaluator.classes.is_a(held.value.klass, {_DATA_MODULE}) is Answer.YES:
            heavy = heavy or [(held, TRAINER)]
        if broken or heavy:
            yield Owner(held, method, tuple(broken), tuple(heavy))


def _heavy(project: Project, held: Held) -> str:
    """What makes a copy in every worker a waste, in words."""
    if held.holder.kind != "attribute":
        return ""
    if _is_model(project, held.value):
        return "model"
    return "list of names" if project.analysis(Listings).of(held.value) is not None else ""


def may_be_model(project: Project, func: Func, name: str) -> bool:
    """Whether a name that a function captures is a model: by its values, or as it is called if none is known."""
    evaluator = project.evaluator
    values = evaluator.names.lookup(name, evaluator.generic(func.module, func.facts.parent)) or ()
    known = [value for value in values if not isinstance(value, UNKNOWN)]
    return any(_is_model(project, value) for value in known) or (not known and name in _CALLED)


def holds_model(project: Project, klass: Klass) -> bool:
    """Whether objects of a class may keep a model: by what is assigned, or as it is called if that is not known."""
    for item in project.evaluator.classes.mro(klass):
        for name, writes in item.module.self_writes.get(item.index, {}).items():
            for write in writes:
                env = project.evaluator.generic(item.module, write.function)
                values = project.values(write.event.value, env) if write.event.value is not None else ()
                known = [value for value in values if not isinstance(value, UNKNOWN)]
                if any(_is_model(project, value) for value in known) or (not known and name in _CALLED):
                    return True
    return False


def _is_model(project: Project, value: Value) -> bool:
    if isinstance(value, Inst):
        return _is_module(project, value)
    return isinstance(value, ExtInst) and (value.name.startswith(_MODELS) or _is_pretrained(value.name))


def _is_pretrained(name: str) -> bool:
    head, _, last = name.rpartition(".")
    return last == "from_pretrained" and head.startswith("transformers.") and "Model" in head


def _is_module(project: Project, inst: Inst) -> bool:
    return project.evaluator.classes.is_a(inst.klass, _MODULES) is Answer.YES
