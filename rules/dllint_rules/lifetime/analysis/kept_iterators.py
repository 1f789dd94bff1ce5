"""Iterators of loaders that objects or modules keep: their workers live as long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Module, Site

if TYPE_CHECKING:
    from dllint.project import Project

_MADE = ("iter", "__iter__", "_get_iterator")
_TAKING = frozenset({"clear", "pop", "popitem"})


class KeptIterator(NamedTuple):
    """An assignment that keeps the iterator of a loader."""

    site: Site
    loader: Loader


class KeptIterators:
    """Answers where iterators are kept."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.passes = project.passes

    def kept(self) -> Iterator[KeptIterator]:
        """`self.x = iter(loader)`, `self.x[key] = iter(loader)`, the same at module level, if nothing releases it.

        A list of several, `[iter(loader) for loader in loaders]`, keeps each of them.
        """
        for site in self.evaluator.index.calls_named(_MADE):
            event, module = site.event, site.module
            if event.kind != "assign" or event.target is None or not _is_or_contains(event.value, site.expr):
                continue
            if not _outlives(module, site.function, event) or _is_released(module, event, site.expr):
                continue
            loader = self._loader(site)
            if loader is not None:
                yield KeptIterator(site, loader)

    def _loader(self, site: Site) -> Loader | None:
        args = site.expr.args
        env = self.evaluator.generic(site.module, site.function)
        if args[0].kind == "name":
            return self.passes.loader(args[1], env) if args[0].name == "iter" and len(args) == 2 else None
        base = args[0].args[0]
        if base.kind == "call" and base.args[0].name == "super":
            return self._own_loader(site)
        return self.passes.loader(base, env)

    def _own_loader(self, site: Site) -> Loader | None:
        """A loader of the class that the code belongs to."""
        owner = site.module.method_owner(site.function)
        if owner < 0:
            return None
        klass = self.evaluator.klass(site.module, owner)
        for loader in self.boundaries.loaders:
            if loader.instance is not None and self.evaluator.classes.derives(loader.instance.klass, klass):
                return loader
        return None


def _outlives(module: Module, function: int, event: Event) -> bool:
    """Whether what is assigned outlives the code: a global, or an attribute that is not recreated in each pass."""
    target = _keeper(event)
    if target.kind == "name":
        return function < 0
    own = target.kind == "attribute" and target.args[0].name == module.receiver_name(function) != ""
    return own and module.model.functions[function].name != "__iter__"


def _is_or_contains(value: Expr | None, call: Expr) -> bool:
    """Whether what is assigned is the result of a call, or a container of it; a generator calls later."""
    if value is None or value is call:
        return value is call
    several = value.kind in ("list", "tuple", "dict", "comprehension") and value.name != "generator"
    return several and any(part is call for part in value.args)


def _keeper(event: Event) -> Expr:
    """The name or attribute that is given the iterator, or has the container that is."""
    target = event.target
    assert target is not None
    while target.kind == "subscript":
        target = target.args[0]
    return target


def _is_released(module: Module, event: Event, call: Expr) -> bool:
    """Whether other code deletes it, sets it to None where it was made, takes it out, or ends its workers."""
    target = _keeper(event)
    inside = event.target is not target or event.value is not call
    for function, _, events in module.scopes:
        first = function >= 0 and module.model.functions[function].name == "__init__"
        for other in events:
            if (
                other.kind == "del"
                and other.target is not None
                and any(x.name == target.name for x in other.target.walk())
            ):
                return True
            if other.kind == "assign" and other.target is not None and _keeper(other).dotted == target.dotted:
                none = other.value is not None and other.value.kind == "constant" and other.value.value is None
                if (none or (inside and other.target.kind != "subscript")) and not first and other.start > event.start:
                    return True
            if inside and any(_takes_out(part, target) for part in other.walk()):
                return True
            if any(part.name == "_shutdown_workers" for part in other.walk()):
                return True
    return False


def _takes_out(part: Expr, container: Expr) -> bool:
    """`self.x.pop(key)`, `self.x.clear()`"""
    called = part.kind == "call" and part.args[0].kind == "attribute" and part.args[0].name in _TAKING
    return called and part.args[0].args[0].dotted == container.dotted
