"""An attribute that `__init__` sets to the result of a call: whether a property can replace it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event
from dllint.project.edits.attribute import Attribute
from dllint.project.evaluate.abstract_values import ExtInst, Klass
from dllint.project.program.module import Module, Write

if TYPE_CHECKING:
    from dllint.project import Project

_SPECIAL = frozenset({
    "__getattr__", "__getattribute__", "__setattr__", "__copy__", "__deepcopy__", "__del__", "__slots__",
})  # fmt: skip
_PICKLING = frozenset({"__getstate__", "__setstate__", "__reduce__", "__reduce_ex__"})
_SETTING = ("write", "set", "filled", "named")
"""Kinds of uses that a property does not allow."""


class OwnAttribute:
    """The attribute, by the assignment that sets it; `local` is the one of the variable that held it first."""

    def __init__(
        self, project: Project, module: Module, write: Write, klass: Klass, local: Event | None = None
    ) -> None:
        self.project, self.module, self.write, self.klass, self.local = project, module, write, klass, local
        self.name = write.target.name
        self.receiver = module.receiver_name(write.function)
        self.attribute = Attribute(project, klass, self.name)

    def why_no_property(self, pickled: bool) -> str:
        """The obstacle to a property, in words; "" if there is none.

        `pickled`: it may go along when the object is pickled, so that the class needs no `__getstate__`.
        """
        attribute, write = self.attribute, self.write
        if self.module.model.functions[write.function].name != "__init__":
            return "it is not made in `__init__`"
        if write.event.block >= 0 or write.target.args[0].name != self.receiver:
            return "it is not made in every case"
        hidden = attribute.hidden()
        if hidden:
            return hidden
        if self.klass.facts.decorators:
            return f"a decorator of `{self.klass.facts.name}` may use it"
        if attribute.places is None:
            return "a file that may use it is written for another Python"
        special = {name for name in self._methods() if name in (_SPECIAL if pickled else _SPECIAL | _PICKLING)}
        if self._state_is_lazy():
            special.discard("__getstate__")
        if self._only_closed():
            special.discard("__del__")
        if special:
            return f"the class has a `{min(special)}` of its own"
        return "other code sets it, too" if self.set_again() else ""

    def set_again(self) -> bool:
        """Whether code sets it besides this one: assigning to a property without a setter raises `AttributeError`."""
        return not self._set_only_by(self.attribute, self.write)

    def _set_only_by(self, attribute: Attribute, write: Write) -> bool:
        from dllint.syntax.closing import asked_to_close

        asked = asked_to_close(self.project.source(self.module.path), self.klass.facts.span, attribute.name)
        sets = [place for place in attribute.places or () if place.use.kind in _SETTING]
        return [place.use.span for place in sets if place.use.span not in asked] == [write.target.span]

    def _methods(self) -> Iterator[str]:
        """The methods of the family, and `__slots__`."""
        for klass in self.attribute.family.values():
            yield from klass.facts.methods
            yield from (event.target.name for event in klass.facts.events if event.target is not None)

    def _state_is_lazy(self) -> bool:
        """Whether the only `__getstate__` of the family is one that an earlier fix has put into this class."""
        from dllint.syntax.lazy import is_lazy_state

        own = [klass for klass in self.attribute.family.values() if "__getstate__" in klass.facts.methods]
        if own != [self.klass]:
            return False
        method = self.klass.module.model.functions[self.klass.facts.methods["__getstate__"]]
        return is_lazy_state(self.project.text(self.klass.module.path, method.span))

    def _only_closed(self) -> bool:
        """Whether `__del__`, of this class alone, only closes what objects have open."""
        from dllint.syntax.closing import only_closes

        own = [klass for klass in self.attribute.family.values() if "__del__" in klass.facts.methods]
        return own == [self.klass] and only_closes(self.project.source(self.module.path), self.klass.facts.span)

    def used_in_set_up(self) -> bool:
        """Whether making the object, or asking its length, uses the attribute."""
        before = self.project.handles.set_up(self.klass)
        used = [place for place in self.attribute.places or () if place.use.span != self.write.target.span]
        return any((place.module.path, place.function) in before for place in used)

    def taken_from_it(self) -> Iterator[Write]:
        """The assignments in `__init__` that keep a part of it (`self.images = self.file["images"]`), each once."""
        whole = f"{self.receiver}.{self.name}"
        for name, writes in self.module.self_writes.get(self.klass.index, {}).items():
            for write in writes:
                value = write.event.value
                taken = value is not None and value.kind == "subscript" and value.args[0].dotted == whole
                if taken and write.function == self.write.function and write.event.block < 0 and len(writes) == 1:
                    if self._set_only_by(Attribute(self.project, self.klass, name), write):
                        yield write

    def is_set_once(self, attribute: str) -> bool:
        """Whether objects of the family get an attribute once and for all."""
        own = [klass.module.self_writes.get(klass.index, {}) for klass in self.attribute.family.values()]
        outside = self.project.evaluator.attributes.outside_writes(self.klass, attribute)
        return sum(len(writes.get(attribute, ())) for writes in own) == 1 and not outside

    def free_name(self) -> str:
        """A name of an attribute that the family does not have, nor it with `_pid`."""
        base = self.name.strip("_")
        wanted = (f"_{base}", f"_own_{base}", f"_{base}_of_process")
        return next((name for name in wanted if self.is_free(name) and self.is_free(f"{name}_pid")), f"_lazy_{base}")

    def is_free(self, name: str) -> bool:
        """Whether a name occurs nowhere in the classes of the family."""
        family = self.attribute.family.values()
        texts = (self.project.text(klass.module.path, klass.facts.span) for klass in family)
        return not any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)


def own_attribute(project: Project, name: str, made: ExtInst, through_local: bool = False) -> OwnAttribute | None:
    """The attribute that just what a call makes is assigned to, in a class; `through_local`: also by a variable."""
    for module in project.index:
        for write in module.attribute_writes.get(name, ()):
            owner = module.method_owner(write.function)
            if owner < 0 or write.event.target is not write.target:
                continue
            local = _local(module, write, made) if through_local else None
            if write.event.value is made.call or local is not None:
                return OwnAttribute(project, module, write, project.evaluator.klass(module, owner), local)
    return None


def _local(module: Module, write: Write, made: ExtInst) -> Event | None:
    """The assignment of what a call makes to the variable that an attribute is set to, where nothing else sets it."""
    value = write.event.value
    if value is None or value.kind != "name":
        return None
    found = module.bindings[write.function, -1].get(value.name, [])
    event = found[0].event if len(found) == 1 else None
    own = event is not None and event.value is made.call and event.target is not None and event.target.kind == "name"
    return event if own and found[0].block < 0 else None
