"""Files that belong together: what one of them writes to import something from another."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from dllint.model.facts import ImportedName
from dllint.project.edits.first_import import FirstImport
from dllint.project.program.guards import is_main_test
from dllint.project.program.index import stem
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project import Project

_Statement = tuple[Module, ImportedName]


class Neighbors:
    """Answers how files import each other: by an import that is there, or within a package, or a folder."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.index = project.index

    def package(self, path: str) -> str:
        """The outermost package around a file; its folder, if that is none."""
        folder = found = posixpath.dirname(path)
        while posixpath.join(folder, "__init__.py") in self.index.modules:
            found, folder = folder, posixpath.dirname(folder)
            if folder == found:
                break
        return found

    def may_change(self, path: str) -> bool:
        """Whether edits of a file can be made: it is a module of Python, which LibCST prints back unchanged."""
        from dllint.syntax.guard import NotParsed

        try:
            return path.endswith(".py") and not self.index.modules[path].model.old and self.project.fixable(path)
        except NotParsed:
            return False

    def module(self, importer: str, other: str) -> str:
        """The module that a file names to import from another one, with its dots; "" where it can't, or no code shows.

        It is the one that it imports from already, or is written as these files import each other. A file can't import
        what imports it, nor a script, which nothing imports. What it doesn't import so far must do nothing new to it.
        """
        if importer in self.index.imports(other):
            return ""
        known = [one for _, one in self._top(importer) if one.attribute and self._names(importer, one) == other]
        if known:
            return "." * known[0].level + known[0].module
        is_module = other in self.index.import_statements and stem(other) == other.removesuffix(".py")
        if self.package(importer) != self.package(other) or not is_module:
            return ""
        first = self.project.analysis(FirstImport)
        may = first.is_surely(importer, other) or (
            self._is_at_hand(importer, other) and first.changes_nothing(importer, other)
        )
        return self._written(importer, other) if may else ""

    def _is_at_hand(self, importer: str, other: str) -> bool:
        """Whether a file is beside another one, or in a folder above: not a test, unless both are."""
        tests = self.index.modules[other].is_test, self.index.modules[importer].is_test
        beside = posixpath.dirname(importer), posixpath.dirname(other)
        return tests != (True, False) and posixpath.commonpath([*beside, beside[1]]) == beside[1]

    def imported(self, path: str, name: str) -> str:
        """The file from which another one imports a name, which stays as it is there, for all of its code; or ""."""
        own = [one for _, one in self._top(path) if one.bound == name == one.attribute]
        if own or name in self.index.modules[path].model.bound:
            return self._names(path, own[0]) if len(own) == 1 else ""
        stars = [one for _, one in self._top(path) if one.bound == "*"]
        other = self._names(path, stars[-1]) if stars else ""
        return other if other and self.shows(other, name) else ""

    def shows(self, path: str, name: str) -> bool:
        """Whether `from module import *` brings a public name of a file: it has no `__all__`, or lists the name."""
        model = self.index.modules[path].model
        return name in (model.exports or ()) or "__all__" not in model.bound

    def named(self, path: str) -> set[str]:
        """The other files from which a file imports names by itself."""
        return {self._names(path, one) for _, one in self._top(path)} - {"", path}

    def _written(self, importer: str, other: str) -> str:
        folder = posixpath.dirname(importer)
        beside = [path for path in self.index.modules if posixpath.dirname(path) == folder and path != importer]
        evidence: list[Iterable[_Statement]] = [self._top(importer)]
        if not self._is_script(importer):
            evidence += [chain.from_iterable(map(self._top, beside)), self._users(importer)]
        for statements in evidence:
            near = [item for item in statements if self._is_near(*item, importer)]
            if any(one.level for _, one in near):
                return self._relative(importer, other)
            if near:
                return self._absolute({self._root(*item) for item in near}, importer, other)
        return ""

    def _is_script(self, path: str) -> bool:
        """Whether a file may be run by its name, so that it finds no package around it."""
        blocks = self.index.modules[path].model.blocks
        return not self._users(path) or any(is_main_test(block.test) for block in blocks)

    def _users(self, path: str) -> Sequence[_Statement]:
        return self.index.import_statements.get(path, ())

    def _relative(self, importer: str, other: str) -> str:
        folder, target = posixpath.dirname(importer), posixpath.dirname(other)
        level = 1 + _depth(folder) - _depth(target)
        is_inside = any(one.level >= level for _, one in self._top(importer)) or self._is_inside(folder, target)
        return "." * level + posixpath.basename(stem(other)) if level == 1 or is_inside else ""

    def _is_inside(self, folder: str, target: str) -> bool:
        """Whether a folder further up is one of a package, by how other files import those below it."""
        own = [path for path in self.index.modules if posixpath.dirname(path) == folder]
        roots = {self._root(*item) for path in own for item in self._users(path) if not item[1].level}
        return bool(roots) and all(root is not None and _is_below(target, root) for root in roots)

    def _absolute(self, roots: Iterable[str | None], importer: str, other: str) -> str:
        own = set(roots)
        root = own.pop() if len(own) == 1 else None
        if root is None or not _is_below(other, root):
            return ""
        names = stem(other)[len(root) :].strip("/").split("/")
        found = self.index.find(importer, ".".join(names), 0) if all(map(str.isidentifier, names)) else None
        return ".".join(names) if found is not None and found.path == other else ""

    def _top(self, path: str) -> Iterator[_Statement]:
        """What a file imports whenever it is imported."""
        module = self.index.modules[path]
        return ((module, one) for one in module.model.imports if one.function < 0 and one.block < 0)

    def _names(self, path: str, one: ImportedName) -> str:
        """The file of the module that `from ... import` names."""
        found = self.index.find(path, one.module, one.level) if one.attribute else None
        return found.path if found is not None else ""

    def _is_near(self, module: Module, one: ImportedName, importer: str) -> bool:
        """Whether a statement names a file of the importer's package, or a neighbor with dots."""
        package = self.package(importer)
        return any(one.level or self.package(path) == package for path in self.index.targets(module, one))

    def _root(self, module: Module, one: ImportedName) -> str | None:
        """The folder where an absolute import begins."""
        longer = [f"{one.module}.{one.attribute}"] if one.attribute not in ("", "*") else []
        for name in (*longer, one.module):
            found, place = self.index.find(module.path, name, 0), name.replace(".", "/")
            if found is not None and f"/{stem(found.path)}".endswith(f"/{place}"):
                return stem(found.path)[: -len(place)].rstrip("/")
        return None


def _depth(folder: str) -> int:
    return len(folder.split("/")) if folder else 0


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
