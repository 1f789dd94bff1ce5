"""Iterators of loaders that something shipped keeps: of another loader, or of its own, which is started again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Const, ExtInst, Inst, Value
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project import Project


def keeps_iterator(project: Project, held: Held) -> bool:
    """Whether a value is a loader's iterator that is there when the loader that ships it starts workers.

    The first iterator of a loader is made after its workers have got everything; those of the second one get it.
    """
    value = held.value
    if not isinstance(value, ExtInst) or value.name != "builtins.iter" or held.loader is None:
        return False
    for arg in value.call.args[1:]:
        made = [item for item in project.values(arg, value.env) if isinstance(item, (ExtInst, Inst))]
        places = {(item.env.module.path, item.call.span) for item in made if item.env and item.call}
        if project.boundaries.makes_loader(arg, value.env):
            own = (held.loader.path, held.loader.span) in places
            return _is_started_again(project, held, value, held.loader) if own else True
    return False


def _is_started_again(project: Project, held: Held, iterator: ExtInst, loader: Loader) -> bool:
    """Whether the loader starts new workers while an attribute keeps an earlier iterator of it."""
    if held.holder.kind != "attribute" or _is_persistent(project, loader):
        return False
    if any(_lets_go(module, held.holder.name) for module in project.index):
        return False
    near = project.index.importers(loader.path) | project.index.importers(iterator.env.module.path)
    return any(_is_after(iterator, *start) for start in _starts(project, loader, near))


def _starts(project: Project, loader: Loader, paths: Iterable[str]) -> Iterator[tuple[Module, int, Event]]:
    """Where code of some files, other than tests, iterates a loader."""
    place = loader.path, loader.span
    for path in sorted(paths):
        module = project.index.modules[path]
        for function, owner, _ in module.scopes if not module.is_test else ():
            env = project.evaluator.generic(module, function) if owner < 0 else None
            for event, begun in project.main_code.begun_by(env) if env is not None else ():
                if begun.loader is None or (begun.loader.path, begun.loader.span) != place or env is None:
                    continue
                if not any(_goes_on(value) for value in project.values(begun.at, env)):
                    yield module, function, event


def _goes_on(value: Value) -> bool:
    """Whether iterating a value takes up an iterator that is there: no workers start."""
    return isinstance(value, ExtInst) and value.name == "builtins.iter"


def _is_after(iterator: ExtInst, module: Module, function: int, event: Event) -> bool:
    """Whether a start comes after the iterator was made: later in its function, round a loop, or in another one."""
    if module is not iterator.env.module or function != iterator.env.function:
        return True
    if event.start <= iterator.call.start < event.end:
        return any(module.block(index).kind in LOOPS for index in module.enclosing(event.block))
    return event.start > iterator.call.start


def _is_persistent(project: Project, loader: Loader) -> bool:
    """Whether the same workers may serve the second iterator: it is the first one, begun again."""
    given, surely = project.boundaries.argument(loader, "persistent_workers")
    values = [value for pair in given for value in project.values(*pair)]
    return bool(given or not surely) and not all(isinstance(item, Const) and item.value is False for item in values)


def _lets_go(module: Module, attribute: str) -> bool:
    """Whether code other than `__init__` deletes the attribute or sets it to None."""
    for function, _, events in module.scopes:
        if function >= 0 and module.model.functions[function].name == "__init__":
            continue
        for event in events:
            target, value = event.target, event.value
            if target is not None and target.kind == "attribute" and target.name == attribute:
                if event.kind == "del" or (value is not None and value.kind == "constant" and value.value is None):
                    return True
    return False
