"""What changes for a file that comes to import another one: what runs then that has not, and what it needs."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from dllint.model.facts import ImportedName
from dllint.project.program.guards import is_main_test
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project import Project

_OF_THE_CLASS = frozenset({"numpy", "torch"})
"""Libraries without which no file is changed."""


class FirstImport:
    """Answers whether a file may import another one without a change of what it does."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.index = project.index
        self.surely = OnDemand(self._surely)
        """The files that the import of a file imports, on every way, itself included."""
        self._does_nothing = OnDemand(self._only_defines)

    def is_surely(self, importer: str, other: str) -> bool:
        """Whether a file imports another one as it is, if by way of others."""
        return other in self.surely[importer]

    def changes_nothing(self, importer: str, other: str) -> bool:
        """Whether all that would be imported first only defines things, with libraries that are imported anyway."""
        known = self.surely[importer]
        new = self._reached([other], _may_run) - known
        has = {name for path in known for name in self._libraries(path, _surely_runs)}
        needed = {name for path in new for name in self._libraries(path, _may_run)}
        return needed <= has | _OF_THE_CLASS and all(self._does_nothing[path] for path in new)

    def _surely(self, path: str) -> frozenset[str]:
        return self._reached([path], _surely_runs)

    def _reached(self, start: Iterable[str], runs: Callable[[Module, ImportedName], bool]) -> frozenset[str]:
        """Files, what they import whenever they are imported, and the packages around what is imported."""
        found = {path for first in start for path in (first, *self._around(first))}
        waiting = sorted(found)
        while waiting:
            module = self.index.modules[waiting.pop()]
            named = (
                path for one in module.model.imports if runs(module, one) for path in self.index.targets(module, one)
            )
            new = {path for target in named for path in (target, *self._around(target))} - found
            found |= new
            waiting += sorted(new)
        return frozenset(found)

    def _around(self, path: str) -> list[str]:
        """The packages that run before a module of theirs."""
        found: list[str] = []
        folder = posixpath.dirname(path)
        while folder and (package := posixpath.join(folder, "__init__.py")) in self.index.modules:
            found.append(package)
            folder = posixpath.dirname(folder)
        return found

    def _libraries(self, path: str, runs: Callable[[Module, ImportedName], bool]) -> set[str]:
        """What a file imports that is neither the project's nor Python's."""
        module = self.index.modules[path]
        outside = (one for one in module.model.imports if runs(module, one) and not self.index.targets(module, one))
        return {"." * one.level + one.module.partition(".")[0] for one in outside} - sys.stdlib_module_names

    def _only_defines(self, path: str) -> bool:
        from dllint.syntax.only_defines import only_defines

        return only_defines(self.project.source(path))


def _surely_runs(_: Module, one: ImportedName) -> bool:
    return one.function < 0 and one.block < 0


def _may_run(module: Module, one: ImportedName) -> bool:
    """Whether an import statement runs when its module is imported: that of a main guard, or for types, does not."""
    tests = [module.block(index).test for index in module.enclosing(one.block)]
    return one.function < 0 and not any(
        is_main_test(test) or (test is not None and test.dotted.endswith("TYPE_CHECKING")) for test in tests
    )
