"""What dataset classes of libraries keep themselves, where the project's code that derives from them reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import FOLDER_DATASETS, FOLDER_LISTS
from dllint.model.facts import Event
from dllint.project.data.sizes import Sizes
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Ext, Inst, Klass
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

COCO_DATASETS = frozenset({
    "torchvision.datasets.CocoDetection", "torchvision.datasets.CocoCaptions",
    "torchvision.datasets.coco.CocoDetection", "torchvision.datasets.coco.CocoCaptions",
    "faster_coco_eval.utils.pytorch.FasterCocoDetection",
})  # fmt: skip
"""Datasets that keep a COCO index and read it for each item: torchvision's, and one made of them (in their sources)."""


class OfBase(NamedTuple):
    """What a library's class keeps for one of the project that derives from it, and where that asks for it."""

    is_index: bool
    """Whether it is an index of annotations, not a list of files."""
    klass: Klass
    path: str
    span: Span


class OfLibraries:
    """Answers which Python objects the library's base of an object keeps and reads for it."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.sizes = project.analysis(Sizes)

    def kept(self, inst: Inst) -> OfBase | None:
        """The COCO index of torchvision's dataset, or the list of its folders that the object's own code reads."""
        if self._is_read(inst, COCO_DATASETS, _reads_index, by_base=True):
            return self._place(inst.klass, COCO_DATASETS, is_index=True)
        if self._is_read(inst, FOLDER_DATASETS, _reads_files, by_base=False) and not self._has_other_files(inst.klass):
            found = self._place(inst.klass, FOLDER_DATASETS, is_index=False)
            return None if self.sizes.is_for_few(found.klass) or self.sizes.is_for_few(inst.klass) else found
        return None

    def _is_read(self, inst: Inst, bases: frozenset[str], reads: Callable[[Event], bool], by_base: bool) -> bool:
        """Whether an object has what one of some bases keeps, and reads it; `by_base`: or this base does."""
        if self.evaluator.classes.is_a(inst.klass, bases) is not Answer.YES or not self._runs(inst, bases):
            return False
        own = next((klass for klass in self.evaluator.classes.mro(inst.klass) if _has(klass, "__getitem__")), None)
        return any(map(reads, _item_code(own))) if own is not None else by_base

    def _has_other_files(self, klass: Klass) -> bool:
        """Whether a class sets the list itself."""
        mro = self.evaluator.classes.mro(klass)
        return any(not FOLDER_LISTS.isdisjoint(item.module.self_writes.get(item.index, {})) for item in mro)

    def _place(self, klass: Klass, bases: frozenset[str], is_index: bool) -> OfBase:
        """Where a class calls the `__init__` of such a base, or names it: for all classes that derive from this."""
        mro = self.evaluator.classes.mro(klass)
        own = next((item for item in mro if self._names(item, bases)), klass)
        init = own.facts.methods.get("__init__")
        for event in own.module.events(init) if init is not None else ():
            for part in event.walk():
                if part.kind == "call" and part.args[0].name == "__init__":
                    return OfBase(is_index, own, own.module.path, part.span)
        return OfBase(is_index, own, own.module.path, own.facts.header)

    def _names(self, klass: Klass, bases: frozenset[str]) -> bool:
        return any(isinstance(base, Ext) and base.name in bases for base in self.evaluator.classes.bases(klass))

    def _runs(self, inst: Inst, bases: frozenset[str]) -> bool:
        """Whether making an object may run the `__init__` of such a base: a base may be one of several classes."""
        waiting, seen = [inst.klass], {inst.klass}
        while waiting:
            klass = waiting.pop()
            if not self._stops_at(klass, inst):
                if self._names(klass, bases):
                    return True
                new = {base for base in self.evaluator.classes.bases(klass) if isinstance(base, Klass)} - seen
                seen |= new
                waiting += new
        return False

    def _stops_at(self, klass: Klass, inst: Inst) -> bool:
        """Whether the `__init__` of a class calls none of a base."""
        init = klass.facts.methods.get("__init__")
        if init is None:
            return False
        activations = self.evaluator.activations
        return activations.super_init(klass, activations.method_env(inst, klass.module, init)) is None


def _has(klass: Klass, method: str) -> bool:
    return method in klass.facts.methods


def _item_code(klass: Klass) -> Iterator[Event]:
    """The code of `__getitem__`, and of the methods of the same class that it calls."""
    seen, waiting = {"__getitem__"}, ["__getitem__"]
    while waiting:
        for event in klass.module.events(klass.facts.methods[waiting.pop()]):
            yield event
            named = {part.name for part in event.walk() if part.kind == "attribute"}
            new = named.intersection(klass.facts.methods) - seen
            seen |= new
            waiting += sorted(new)


def _reads_index(event: Event) -> bool:
    """Whether code of a COCO dataset asks its base for an item, or the index for annotations."""
    names = {part.name for part in event.walk()}
    return "__getitem__" in names or "coco" in names or bool(names & {"_load_target", "_load_image"})


def _reads_files(event: Event) -> bool:
    """Whether code takes an element of the list of files."""
    return any(part.kind == "subscript" and part.args[0].name in FOLDER_LISTS for part in event.walk())
