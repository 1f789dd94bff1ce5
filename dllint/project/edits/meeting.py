"""Which files may be parts of one program, also where no import statement says so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.model.facts import ImportedName
from dllint.project.program.index import stem
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project import Project

_BY_NAME = (
    *("import_module", "__import__", "exec", "eval", "exec_module", "load_module", "load_source", "find_spec"),
    *("run_module", "run_path", "locate", "import_string", "instantiate", "entry_points", "iter_entry_points"),
    *("load_entry_point", "walk_packages", "iter_modules", "import_modules_from_strings", "import_module_from_file"),
)
"""Functions that import what a string names, which may be any file."""


class Meetings:
    """Answers whether objects of one file may get to the code of another one."""

    def __init__(self, project: Project) -> None:
        self.index = project.index
        self._importers = OnDemand(self._importing)

    def may_meet(self, one: str, other: str) -> bool:
        """Whether some program may have both files.

        Users of a package, which is in one folder, may bring any of its modules together. Fixtures of pytest come
        without an import, and one file that imports by name may import all of them.
        """
        if self.index.together(one, other) or self._imports_by_name:
            return True
        folder, other_folder = one.partition("/")[:2], other.partition("/")[:2]
        if (folder == other_folder and folder[1]) or self.index.modules[other].is_test:
            return True
        return not self._importers[one].isdisjoint(self._importers[other])

    @cached_property
    def _imports_by_name(self) -> bool:
        aliases = {alias for name in _BY_NAME for alias in self.index.aliases.get(name, ())}
        return any(True for _ in self.index.calls_named({*_BY_NAME, *aliases}))

    def _importing(self, path: str) -> frozenset[str]:
        """The files that import a file, or one that it may be: where an import is not resolved, every file so named."""
        found, waiting = {path}, [path]
        while waiting:
            target = waiting.pop()
            named = (module.path for module in self.index if any(self._may_name(module, target)))
            new = {*self.index.importers(target), *named} - found
            found |= new
            waiting += sorted(new)
        return frozenset(found)

    def _may_name(self, importer: Module, path: str) -> Iterator[bool]:
        """Whether the unresolved import statements of a module end as a file's path does, or with all of it."""
        place = f"/{stem(path)}"
        for imported in self._unresolved.get(importer.path, ()):
            for name in (imported.module, f"{imported.module}.{imported.attribute}"):
                wanted = f"/{name.strip('.').replace('.', '/')}"
                yield place.endswith(wanted) or wanted.endswith(place)

    @cached_property
    def _unresolved(self) -> dict[str, list[ImportedName]]:
        """The import statements that name no file of the project."""
        found = {module.path: module.model.imports for module in self.index}
        return {
            path: [item for item in items if not self.index.targets(self.index.modules[path], item)]
            for path, items in found.items()
        }
