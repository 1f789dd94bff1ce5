"""Which files may be parts of one program: only there do objects of one reach the code of another.

Modules that are imported by computed names count as far as the names are written down. What tests make, no other code
gets.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import takewhile

from dllint.knowledge import INSTANTIATORS
from dllint.project.program.cycles import cycles
from dllint.project.program.index import Index, stem
from dllint.project.program.lookups import Lookups
from dllint.project.program.module import Module, Site
from dllint.project.program.on_demand import OnDemand

_IMPORTERS = ("import_module", "__import__")
_WORD = re.compile(r"\w+")


class Programs:
    """Answers for what the evaluator follows: import statements, `import_module`, and settings that make objects."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._numbers = {path: number for number, path in enumerate(index.modules)}
        self._named = OnDemand(self._find_named)

    def share(self, one: Module, other: Module) -> bool:
        """Whether some file may import both of two files, directly or not; each counts as importing itself."""
        return one is other or bool(self._importers[one.path] & self._importers[other.path])

    def reaches(self, one: Module, other: Module) -> bool:
        """Whether a file imports another one, directly or not, or is that one."""
        return bool(self._importers[other.path] >> self._numbers[one.path] & 1)

    def sharing(self, module: Module) -> Iterator[Module]:
        """The files that may be parts of one program with a file, in the order of all files."""
        importers = self._importers[module.path]
        return (other for other in self.index if importers & self._importers[other.path])

    @cached_property
    def _importers(self) -> dict[str, int]:
        """The files that import each file, directly or not: a set of their numbers, as bits."""
        found: dict[str, int] = dict.fromkeys(self._numbers, 0)
        for cycle in reversed(cycles(self._imported, self._imported.__getitem__)):
            importers = 0
            for path in cycle:
                importers |= found[path] | 1 << self._numbers[path]
            for path in cycle:
                found[path] = importers
                for target in self._imported[path]:
                    found[target] |= importers
        return found

    @cached_property
    def _imported(self) -> dict[str, set[str]]:
        """The files that each file imports itself, or that are imported because it is."""
        found: dict[str, set[str]] = {path: set() for path in self.index.modules}
        bound: set[str] = set()
        for path, statements in self.index.import_statements.items():
            for importer, imported in statements:
                found[importer.path].add(path)
                if imported.attribute in ("", posixpath.basename(posixpath.dirname(path))):
                    bound.update(_packages(path))
        for path, targets in found.items():
            packages = list(takewhile(found.__contains__, _packages(path)))
            targets.update(packages)
            for package in bound.intersection(packages):
                found[package].add(path)  # `import data` finds `data.text` once something else has imported that
        for user, named in self._by_name():
            found[user].update(named)
        return found

    def _by_name(self) -> Iterator[tuple[str, Iterable[str]]]:
        """The files that import what a string names, each with every file that it may name."""
        for site in self._calls(_IMPORTERS):
            texts = [part.value for part in site.expr.args[1].walk()] if len(site.expr.args) > 1 else []
            said = frozenset(word for text in texts if isinstance(text, str) for word in _WORD.findall(text))
            folder = site.module.path.partition("/")[0] if "/" in site.module.path else ""
            yield site.module.path, self._named[said, "" if said else folder]
        for site in self._calls(name.rpartition(".")[2] for name in INSTANTIATORS):
            yield site.module.path, (module.path for module in self.index if module.settings)

    def _find_named(self, written: tuple[frozenset[str], str]) -> list[str]:
        """The files that a call may import by its name, of which it is seen to say some words; all are in their paths.

        Where it is seen to say nothing, it may import what is in its own top folder, or what some string names with the
        folder around it or a class in it, by a path or by the beginning of one. Only what is written out names tests.
        """
        said, folder = written
        if said:
            return [path for path in self.index.modules if all(word in path for word in said)]
        return [module.path for module in self.index if not module.is_test and self._may_be_named(module.path, folder)]

    def _may_be_named(self, path: str, folder: str) -> bool:
        place = stem(path).split("/")
        if len(place) == 1 or folder in ("", place[0]):
            return True
        classes = (f"{place[-1]}.{item.name}" for item in self.index.modules[path].model.classes)
        return not self.lookups.paths.isdisjoint((f"{place[-2]}.", f"{place[-2]}.{place[-1]}", *classes))

    @cached_property
    def lookups(self) -> Lookups:
        """What code finds by names that it computes."""
        return Lookups(self.index)

    def _calls(self, names: Iterable[str]) -> Iterator[Site]:
        """The calls of functions of these names, or of others under which the project imports them."""
        every = dict.fromkeys(alias for name in names for alias in (name, *self.index.aliases.get(name, ())))
        return self.index.calls_named(every)


def _packages(path: str) -> Iterator[str]:
    """The files of the packages around a file, and its own if it is one."""
    folder = posixpath.dirname(path)
    while folder:
        yield f"{folder}/__init__.py"
        folder = posixpath.dirname(folder)
