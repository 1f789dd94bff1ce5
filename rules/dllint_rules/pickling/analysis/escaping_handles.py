"""Handles that go to workers: open before they start, pickled with what keeps them, or shared by fork."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.project.escape.handle_table import HANDLES, Handle
from dllint.project.escape.handles import handle_of
from dllint.project.escape.pickle_state import left_out
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Ext, ExtInst, Inst, Mod, Seq, Value
from dllint.start_methods import FORK
from dllint_rules.pickling.analysis.own_iterator import keeps_iterator

if TYPE_CHECKING:
    from dllint.project import Project

WorkerFunctions = frozenset[tuple[str, int]]


class Shared(NamedTuple):
    """A handle that forked workers share, kept under an attribute of a shipped object."""

    held: Held
    made: ExtInst
    handle: Handle
    attribute: str


def worker_functions(project: Project) -> WorkerFunctions:
    """The functions that run in workers, those of users too."""
    return frozenset(item.function for item in (*project.running, *project.users_running))


def kept_handle(project: Project, held: Held, workers: WorkerFunctions) -> Handle | None:
    """The handle that a shipped value is, if it is open before the workers start."""
    value, holder = held.value, held.holder
    named = _named_by_users(project, value)
    if named:
        return Handle(f"`{named}`")
    handle = Handle("iterator of a loader") if keeps_iterator(project, held) else project.handles.kind_of(value)
    if isinstance(value, (Ext, Mod)):
        return handle
    if handle is None or held.assumed or not isinstance(value, (ExtInst, Seq)):
        return None
    if isinstance(value, Seq) and (holder.kind != "attribute" or _added(value, holder.name)):
        return None
    attribute = holder.name if holder.kind == "attribute" else ""
    return handle if project.handles.open_before(value, attribute, workers, held.loader) else None


def _added(generator: Seq, attribute: str) -> bool:
    """Whether `x += (generator)` uses it up."""
    writes = generator.env.module.attribute_writes.get(attribute, ())
    return any(write.event.kind == "augment" and write.event.value is generator.expr for write in writes)


def _named_by_users(project: Project, value: Value) -> str:
    """The entry of the configured unpicklable types that a value is an instance of; "" when it is none of them."""
    for name in project.targets.unpicklable_types:
        match value:
            case ExtInst(name=made) if made == name:
                return name
            case Inst(klass=klass) if klass.facts.qualname == name.rpartition(".")[2]:
                return name
    return ""


def shared_under_fork(project: Project, workers: WorkerFunctions) -> Iterator[Shared]:
    """Handles that forked workers read through, though pickling them is taken care of or never happens."""
    seen: set[tuple[str, int]] = set()
    for held in project.shipped:
        inst = held.value
        if not isinstance(inst, Inst) or held.assumed or not project.failing(held, frozenset({FORK})):
            continue
        # What spawned workers would be sent is reported as that.
        dropped = left_out(project.evaluator, inst) if project.failing(held) else None
        for attribute, made in _attributes(project, inst):
            if dropped is not None and attribute not in dropped:
                continue
            handle = handle_of(made)
            place = (made.env.module.path, made.call.start)
            if handle is None or not handle.fork or place in seen:
                continue
            opened = project.handles.open_before(made, attribute, workers, held.loader)
            if opened and _read(project, inst, attribute):
                seen.add(place)
                yield Shared(held, made, handle, attribute)


def _attributes(project: Project, inst: Inst) -> Iterator[tuple[str, ExtInst]]:
    """What an object keeps, but for one that asks in which process it is."""
    classes = project.evaluator.classes.mro(inst.klass)
    for item in classes:
        for index in item.facts.methods.values():
            if "os" in item.module.model.functions[index].loads and any(
                part.name == "getpid" for event in item.module.events(index) for part in event.walk()
            ):
                return
    names = dict.fromkeys(name for item in classes for name in item.module.self_writes.get(item.index, {}))
    for name in names:
        for stored in project.evaluator.attributes.stored(inst, name):
            for value in project.evaluator.attributes.stored_values(stored):
                if isinstance(value, ExtInst):
                    yield name, value


def is_never_read(project: Project, held: Held) -> bool:
    """Whether no worker code names the attribute that keeps a value, so that forked workers may share it."""
    name = held.holder.name
    return held.holder.kind == "attribute" and not any(
        part.kind == "attribute" and part.name == name
        for running in (*project.running, *project.users_running)
        for event in running.events
        for part in event.walk()
    )


def _read(project: Project, inst: Inst, attribute: str) -> bool:
    """Whether worker code of the class reads through an attribute."""
    classes = project.evaluator.classes.mro(inst.klass)
    return any(
        project.handles.read_by(running.env, attribute)
        for running in (*project.running, *project.users_running)
        if isinstance(running.env.receiver, Inst) and running.env.receiver.klass in classes
    )


def instead_of(made: ExtInst) -> str:
    """What to do where another one of these in the worker is no remedy, or ""."""
    handle = HANDLES.get(made.name)
    return handle.instead if handle is not None else ""
