"""Containers that give a dataset its length: they have an element for each item, whatever the loop is that fills them.

What such a loop goes over may be unknown: a parameter, a window's steps, the nodes of a document.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.knowledge import FOLDER_DATASETS
from dllint.model.facts import Expr
from dllint.project.data.contents import COUNTED, Content, Contents, Kind, is_list, is_mapping
from dllint.project.data.element_files import is_length
from dllint.project.data.growth import Growth
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Klass, Seq, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.program.module import Write

if TYPE_CHECKING:
    from dllint.project import Project

_STORES = ("h5py.File", "zarr.open", "zarr.open_group", "zarr.Group")
_RECORD = frozenset({"__init__", "__post_init__", "__repr__", "__str__", "__eq__", "__hash__", "__lt__"})
"""The methods of a class whose objects only hold what they are given."""
_USED_BY_BASES = {"samples": FOLDER_DATASETS}
"""Attributes that a derived class may set, with the bases whose `__getitem__` reads and whose `__len__` counts them."""
_MAX_CLASSES = 3
"""So many classes are asked one after the other for their length."""


class Counted:
    """Answers what a container holds that a dataset counts to give its length."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.library = project.library
        self.growth = project.analysis(Growth)
        self.contents = project.analysis(Contents)
        self._known: dict[Value, Content | None] = {}

    def of(self, held: Held) -> Content | None:
        """What is kept, where it is seen that it grows with data, or where a class that keeps it is as long."""
        return self.contents.of(held.value) or self.by_length(held)

    def only_by_length(self, held: Held) -> bool:
        """Whether nothing else says that what is kept grows with data."""
        return self.contents.of(held.value) is None and self.by_length(held) is not None

    def by_length(self, held: Held) -> Content | None:
        """What is kept, if a loader of the project takes it and a class that keeps it is as long."""
        name, owner = held.holder.name, held.holder.owner
        if held.loader is None:
            return None
        if self.used_by_base(held, "__len__"):
            return self.if_counted(held.value)
        if (owner, name) not in self._named:
            return None
        keepers = self.evaluator.classes.keepers(owner, held.route[0].path)
        return self.if_counted(held.value) if any(name in self._lengths.get(klass, ()) for klass in keepers) else None

    def used_by_base(self, held: Held, method: str) -> bool:
        """Whether a method that a library's class has uses what this, or a class derived from it, keeps."""
        bases = _USED_BY_BASES.get(held.holder.name, frozenset())
        if not bases:
            return False
        classes, owner = self.evaluator.classes, held.holder.owner
        keepers = classes.keepers(owner, held.route[0].path)
        if not keepers:  # set from outside on an object of the library's own class
            return any(name.rsplit(".", 1)[-1] == owner for name in bases)
        return any(
            not bases.isdisjoint(classes.external_bases(klass)) and classes.method(klass, method) is None
            for klass in keepers
        )

    def if_counted(self, value: Value) -> Content | None:
        """What a value holds if it is as long as a dataset."""
        return self.evaluator.ask(self._known, value, None, self._find, value)

    def _find(self, value: Value) -> Content | None:
        return None if self._has_objects(value) else self._content(value)

    def _has_objects(self, value: Value) -> bool:
        """Whether elements may be objects of classes that aren't records: readers of files, parts of a dataset."""
        elements = self.evaluator.containers.elements(value)
        return any(isinstance(item, Inst) and not _RECORD.issuperset(item.klass.facts.methods) for item in elements)

    def _content(self, value: Value) -> Content | None:
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                clauses = (iterable for key, iterable in expr.keywords if key == "in")
                kind = (
                    self._element(expr, env)
                    if any(self.growth.may_be_long(clause, env) for clause in clauses)
                    else None
                )
                return Content(kind, COUNTED) if kind is not None else None
            case Seq() | ExtInst() if is_list(value) or is_mapping(value):
                found = self.contents.filled.counted(value, is_mapping(value))
                if found is not None:
                    return found
        for inner in self.growth.copied(value):
            found = Content(Kind.STR, COUNTED) if _has_names(inner) else self.if_counted(inner)
            if found is not None:
                return found
        return None

    def _element(self, expr: Expr, env: Env) -> Kind | None:
        """What an element is; the rows of an array, one by one, are objects of their own."""
        element = expr.args[-1]
        own = {part.name for key, target in expr.keywords if key == "for" for part in target.walk() if part.name}
        row = element.name in own if element.kind == "name" else _is_row(element, own)
        if row and self.contents.elements.blocks((element,), env):
            return Kind.ROW
        kind = self.contents.elements.of(element, env)
        return Kind.ROW if kind is not None and expr.name == "dict" else kind

    # The lengths of datasets.

    @at_rest
    def _named(self) -> set[tuple[str, str]]:
        """The same by the names of the classes, which say most of what is kept that it isn't counted."""
        return {(klass.facts.name, attribute) for klass, names in self._lengths.items() for attribute in names}

    @at_rest
    def _lengths(self) -> dict[Klass, set[str]]:
        """The attributes whose length is that of a dataset, of it and of what it asks for its length."""
        found: dict[Klass, set[str]] = {}
        for klass in self.evaluator.classes.all_classes:
            if self.library.is_dataset(klass):
                for owner, attribute in self._measured(klass, _MAX_CLASSES):
                    found.setdefault(owner, set()).add(attribute)
        return found

    def _measured(self, klass: Klass, classes: int) -> Iterator[tuple[Klass, str]]:
        method = self.evaluator.classes.method(klass, "__len__") if classes else None
        if method is None:
            return
        env = self.evaluator.generic(method.func.module, method.func.index)
        receiver = env.module.receiver_name(env.function)
        for event in env.module.events(env.function):
            for part in event.value.walk() if event.kind == "return" and event.value is not None else ():
                if is_length(part) and _is_own(part.args[1], receiver):
                    yield klass, part.args[1].name
                    for value in self.evaluator.values(part.args[1], env):
                        yield from self._measured(value.klass, classes - 1) if isinstance(value, Inst) else ()
                elif _is_own(part, receiver):
                    for owner in self.evaluator.classes.mro(klass):
                        names = (*_counted_for(owner, part.name), *_filled_for(owner, part.name))
                        yield from ((klass, name) for name in names)


def _counted_for(klass: Klass, attribute: str) -> Iterator[str]:
    """The attributes whose length a class stores in another: `self.size = len(self.rows)`, `len(rows)` of those.

    Or the length that its method returns: `self.size = self.read()`.
    """
    writes = klass.module.self_writes.get(klass.index, {})
    for write in writes.get(attribute, ()):
        for function, part in _given(klass, write):
            if not is_length(part):
                continue
            if _is_own(part.args[1], klass.module.receiver_name(function)):
                yield part.args[1].name
            for other in (item for items in writes.values() for item in items if part.args[1].kind == "name"):
                value = other.event.value
                if other.function == function and value is not None and value.name == part.args[1].name:
                    yield other.target.name


def _given(klass: Klass, write: Write) -> Iterator[tuple[int, Expr]]:
    """The parts of what an attribute is set to, and of what the class's own method returns for it, with the method."""
    module, value = klass.module, write.event.value
    if value is None:
        return
    yield from ((write.function, part) for part in value.walk())
    if value.kind == "call" and _is_own(value.args[0], module.receiver_name(write.function)):
        method = klass.facts.methods.get(value.args[0].name, -1)
        for event in module.events(method) if method >= 0 else ():
            if event.kind == "return" and event.value is not None:
                yield from ((method, part) for part in event.value.walk())


def _filled_for(klass: Klass, attribute: str) -> Iterator[str]:
    """The attributes that a class fills as often as another says: `for _ in range(self.size): self.rows.append(row)`.

    The number may be a parameter that is kept there, or for which that is passed.
    """
    module = klass.module
    for function in klass.facts.methods.values():
        receiver = module.receiver_name(function)
        names = set(_passed_as(klass, function, attribute))
        for write in module.self_writes.get(klass.index, {}).get(attribute, ()):
            if write.function == function and write.event.value is not None and write.event.value.kind == "name":
                names.add(write.event.value.name)
        for event, container, what in module.mutations[function]:
            loop = module.block(event.block).test if event.block >= 0 else None
            if what.kind != "call" or what.args[0].name != "append" or not _is_own(container, receiver):
                continue
            if loop is not None and loop.kind == "call" and loop.args[0].name == "range" and len(loop.args) == 2:
                end = loop.args[1]
                if (_is_own(end, receiver) and end.name == attribute) or (end.kind == "name" and end.name in names):
                    yield container.name


def _passed_as(klass: Klass, function: int, attribute: str) -> Iterator[str]:
    """The parameters of a method for which the class's own code passes an attribute: `self.fill(self.size)`."""
    module, facts = klass.module, klass.module.model.functions[function]
    for call in module.calls.get(facts.name, ()):
        receiver = module.receiver_name(call.function)
        if module.method_owner(call.function) == klass.index and _is_own(call.expr.args[0], receiver):
            for parameter, given in zip(facts.parameters[1:], call.expr.args[1:], strict=False):
                if _is_own(given, receiver) and given.name == attribute:
                    yield parameter.name


def _is_row(element: Expr, own: set[str]) -> bool:
    """Whether an element is a row of an array, by a number that the comprehension goes over: `rows[i]`."""
    return element.kind == "subscript" and element.args[1].kind == "name" and element.args[1].name in own


def _is_own(part: Expr, receiver: str | None) -> bool:
    return part.kind == "attribute" and part.args[0].kind == "name" and part.args[0].name == receiver


def _has_names(value: Value) -> bool:
    """Whether a value is a store of arrays, or its keys: its names are text."""
    if not isinstance(value, ExtInst):
        return False
    return value.name in _STORES or (value.name.endswith("().keys") and value.name[: -len("().keys")] in _STORES)
