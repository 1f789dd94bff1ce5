"""Where the class goes that several files of a package need: to a base class or a helper that they share, or to one."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property
from typing import NamedTuple

from dllint import Neighbors, Project, free_name
from dllint_rules.memory.packed import class_at

_Words = dict[str, str]


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


class Homes:
    """For each file that needs a class the one file of its package where it is, or where it is put."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.modules = project.index.modules
        self.neighbors = Neighbors(project)
        self._gives: dict[tuple[str, str, str], bool] = {}

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
        """Where most of those can import it that need it: best a base class's module, then a helper, else the first."""
        package = self.neighbors.package(path)
        group = [need for need in self.needs.get(words["name"], ()) if self.neighbors.package(need.path) == package]
        paths = {need.path for need in group}
        derived = {(need.path, base) for need in group for base, _ in need.bases}
        shared = {base for base, number in Counter(base for _, base in derived).items() if number > 1}
        at = [(base, start) for need in group for base, start in need.bases if base in shared - paths]
        at += [(need.path, need.at) for need in group]
        helpers = self._helpers(paths)
        places = helpers | dict(sorted(at, reverse=True))
        users = {place: [path for path in paths if self._gets(path, place, words["name"])] for place in places}
        best = min(
            places, key=lambda place: (-len(users[place]), place not in shared, place not in helpers, place), default=""
        )
        if best == path or path not in users.get(best, ()) or len(users[best]) < 2:
            return None
        return Home(best, self._module(path, best, words["name"]), places[best])

    def _helpers(self, paths: set[str]) -> dict[str, int]:
        """The modules of functions from which all the files import, each with the place of its first definition."""
        found: dict[str, int] = {}
        for path in self.neighbors.helpers(paths) - paths if len(paths) > 1 else ():
            model = self.modules[path].model
            starts = [item.span.start for item in model.functions if item.owner == item.parent == -1]
            if starts and not model.classes and not path.endswith("__init__.py"):
                found[path] = min(starts)
        return found

    def _gets(self, path: str, place: str, name: str) -> bool:
        """Whether a file can have a class from a place that does not have it yet."""
        key = path, place, name
        if key not in self._gives:
            self._gives[key] = self._may_get(*key)
        return self._gives[key]

    def _may_get(self, path: str, place: str, name: str) -> bool:
        if free_name(self.modules[place].model, name) != name:
            return False
        return self.neighbors.may_change(place) and (path == place or bool(self._module(path, place, name)))

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
