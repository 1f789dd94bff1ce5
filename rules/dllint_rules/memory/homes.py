"""Where the class goes that several files need: to a base class or a helper that they share, or to one of them."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from dllint import Neighbors, Project, free_name
from dllint_rules.memory.packed import class_at

_Words = dict[str, str]
_FOR_ALL = re.compile(r"(?:^|[/_])(?:util|helper|common|misc|shared|data)[a-z]*(?:_\w*)?(?:/\w+)?\.py$")
"""A module that has what others need, or what is about data, by its name or that of its folder."""


class Home(NamedTuple):
    """A file that has the class or gets it, above a statement at an offset (-1: it has it), and how to name it."""

    path: str
    module: str
    at: int


class Need(NamedTuple):
    """A place in a file that needs a class, and the modules of base classes there, each with the place of the class."""

    path: str
    at: int
    bases: tuple[tuple[str, int], ...]


class _Place(NamedTuple):
    """A file where the class may go, above a statement at an offset, and the files that import from it already."""

    path: str
    at: int
    near: frozenset[str]
    rank: tuple[bool, bool, int]

    def order(self, users: set[str]) -> tuple[int, int, tuple[bool, bool, int], str]:
        """First what most can import from, then what most do import from, a base class's module, what imports least."""
        return -len(users), -len(users & self.near), self.rank, self.path


class Homes:
    """For each file that needs a class the one where it is, or where it is put, for all that can import it there."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.modules = project.index.modules
        self.neighbors = Neighbors(project)
        self._gives: dict[tuple[str, str, str], bool] = {}
        self._shared: dict[str, dict[str, _Place]] = {}

    def of(self, path: str, words: _Words) -> Home | None:
        """The file from which another one imports the class; None where that has a class of its own."""
        if not path.endswith(".py"):
            return None
        there = [other for other in self.modules if self._has(other, words)]
        there.sort(key=lambda other: (self.neighbors.imported(path, words["name"]) != other, other))
        known = ((other, self._module(path, other, words["name"])) for other in there)
        return next((Home(other, module, -1) for other, module in known if module), None) or self._chosen(path, words)

    def _has(self, path: str, words: _Words) -> bool:
        """Whether a module defines the class just as it would be written there."""
        model = self.modules[path].model
        own = [item for item in model.classes if item.name == words["name"] and item.owner == item.parent == -1]
        if len(own) != 1 or own[0].block >= 0:
            return False
        source = self.project.source(path)
        text, _ = class_at(words, words["name"], model, own[0].span.start, source.unit)
        return text in source.text.replace("\r\n", "\n")

    def _chosen(self, path: str, words: _Words) -> Home | None:
        """The file that gives the class to a file and others, and where the class goes there."""
        name = words["name"]
        if name not in self._shared:
            self._shared[name] = self._shares(name)
        place = self._shared[name].get(path)
        if place is None or place.path == path:
            return None
        return Home(place.path, self._module(path, place.path, name), place.at)

    def _shares(self, name: str) -> dict[str, _Place]:
        """For each file that needs a class the place that most can import it from, else most of the rest.

        So that the new imports make no circle, no further place may import a file that got one.
        """
        group = self.needs.get(name, [])
        paths = {need.path for need in group}
        places = self._places(group) if len(paths) > 1 else []
        found: dict[str, _Place] = {}
        while places:
            users = [{path for path in paths - found.keys() if self._gets(path, it.path, name)} for it in places]
            _, place, served = min((it.order(served), it, served) for it, served in zip(places, users, strict=True))
            if len(served) < 2:
                break
            found |= dict.fromkeys(served, place)
            changed = {path for path, it in found.items() if path != it.path}
            places = [it for it in places if changed.isdisjoint(self.project.index.imports(it.path) - {it.path})]
            places = [it for it in places if it.path not in found]
        return found

    def _places(self, group: Iterable[Need]) -> list[_Place]:
        """Where the class may go: to base classes and modules from which several of the files import, or to one."""
        needing = dict(sorted(((need.path, need.at) for need in group), reverse=True))
        near: dict[str, set[str]] = defaultdict(set)
        bases = dict(sorted((base for need in group for base in need.bases), reverse=True))
        for need in group:
            for other in {need.path, *(base for base, _ in need.bases)}:
                near[other].add(need.path)
        derived = {base for base in bases if len(near[base]) > 1}
        for path in needing:
            for other in self.neighbors.named(path):
                if self.modules[other].is_test == self.modules[path].is_test:
                    near[other].add(path)
        found = []
        for path, users in near.items():
            at = needing.get(path, bases[path] if path in derived else self._first(path))
            fits = path in derived or path in needing or _is_for(path, users)
            if at >= 0 and fits and (len(users) > 1 or path in needing):
                rank = path not in derived, path in needing, len(self.project.index.imports(path))
                found.append(_Place(path, at, frozenset(users), rank))
        return found

    def _first(self, path: str) -> int:
        """The place of a module's first definition; -1 without any, and for what a whole package imports first."""
        model = self.modules[path].model
        starts = [item.span.start for item in model.functions if item.owner == item.parent == -1]
        starts += [item.span.start for item in model.classes if item.owner == item.parent == -1]
        return min(starts, default=-1) if not path.endswith("__init__.py") else -1

    def _gets(self, path: str, place: str, name: str) -> bool:
        """Whether a file can have a class from a place that does not have it yet."""
        key = path, place, name
        if key not in self._gives:
            self._gives[key] = self._may_get(*key)
        return self._gives[key]

    def _may_get(self, path: str, place: str, name: str) -> bool:
        if free_name(self.modules[place].model, name) != name:
            return False
        return (path == place or bool(self._module(path, place, name))) and self.neighbors.may_change(place)

    def _module(self, path: str, other: str, name: str) -> str:
        """What a file imports another one's class from; "" where it can't, or where the name means something else."""
        is_free = free_name(self.modules[path].model, name) == name
        if not is_free and self.neighbors.imported(path, name) != other:
            return ""
        return self.neighbors.module(path, other)

    @cached_property
    def needs(self) -> dict[str, list[Need]]:
        """The places that need a class, by its name."""
        from dllint_rules.memory.in_place import every_packed

        found: dict[str, list[Need]] = defaultdict(list)
        for change in every_packed(self.project):
            bases = [(base.module.path, base.facts) for base in change.bases]
            own = tuple((path, facts.span.start) for path, facts in bases if facts.parent == facts.owner == -1)
            if change.words is not None:
                found[change.words["name"]].append(Need(change.module.path, change.write.event.start, own))
        return found


def _is_for(path: str, users: Iterable[str]) -> bool:
    """Whether what files share may go to another one: it is beside them or above, or not only for others, by its name.

    The table in which they register themselves isn't for what they are made of.
    """
    folder = posixpath.dirname(path)
    return bool(_FOR_ALL.search(path)) or all(not folder or user.startswith(f"{folder}/") for user in users)
