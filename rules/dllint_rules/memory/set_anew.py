"""Entries in which code sets what it then asks for, whenever it takes one out: as good if they are made again."""

from __future__ import annotations

from dllint import Attribute, Klass, Place, Project, asks_for, entry_keys, only_decides

_COMPARED = ("tested", "whole")
_FILLING = ("write", "filled", "tested")


class SetAnew:
    """Answers whether nothing ever finds what code sets in an entry, but this code itself, which has just set it."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def only(self, attribute: Attribute, place: Place) -> bool:
        """Whether this is all that code does to the entries of a container: no other code asks them for what it sets.

        It sets it each time that it takes out an entry, or never, as what it depends on stays the same.
        """
        own = entry_keys(self.project.source(place.module.path), place.use.span)
        if own is None or not own.anew:
            return False
        return (
            not any(self._asks(klass, own.anew, place) for klass in attribute.family.values())
            and all(self._is_settled(attribute.beside(guard)) for guard in own.guards)
            and attribute.places is not None
            and all(other == place or self._asks_for_others(other, own.anew) for other in attribute.places)
        )

    def _asks(self, klass: Klass, keys: frozenset[str], place: Place) -> bool:
        """Whether other code of a class asks for a key: of entries, perhaps, that it has from elsewhere."""
        source = self.project.source(klass.module.path)
        return asks_for(source, keys, klass.facts.span, place.use.span if klass.module is place.module else None)

    def _asks_for_others(self, place: Place, keys: frozenset[str]) -> bool:
        """Whether a use only fills a container, counts its entries or asks them for other keys."""
        if place.use.kind in _FILLING:
            return True
        found = entry_keys(self.project.source(place.module.path), place.use.span)
        return found is not None and not found.anew and keys.isdisjoint(found.asked)

    def _is_settled(self, guard: Attribute) -> bool:
        """Whether only `__init__` sets an attribute, and all that code does with it is to test and compare it."""
        return (
            not guard.hidden()
            and guard.places is not None
            and all(self._is_compared(place) or self._announces(place) for place in guard.places)
        )

    def _is_compared(self, place: Place) -> bool:
        source = self.project.source(place.module.path)
        return place.use.kind in _COMPARED or only_decides(source, place.use.span)

    def _announces(self, place: Place) -> bool:
        if place.use.kind != "write" or place.function < 0:
            return False
        own = self.project.text(place.module.path, place.use.base) == place.module.receiver_name(place.function)
        return own and place.module.model.functions[place.function].name == "__init__"
