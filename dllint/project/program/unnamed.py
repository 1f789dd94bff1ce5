"""What no code of a project uses: an application runs without it. What a library has is for its users.

A function or class of a module's top level is used where code names it that is used itself, or a string does. What a
file defines, or imports from where it is defined, is what it means by the name; else all of that name may be meant.
Whatever runs on import is used, and so is all of a package that the project is installed as and that offers something.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from functools import cached_property

from dllint.model.facts import Class, Expr, Function, ImportedName
from dllint.project.program.events import event_names
from dllint.project.program.index import Index, stem
from dllint.project.program.lookups import scope_parts
from dllint.project.program.module import Module
from dllint.project.program.programs import Programs

_STARTS = frozenset({"main", "cli", "run", "app"})
"""Names of functions that something outside of the code calls."""
_MODULE = (-1, -1)
Unit = tuple[int, int]
"""A function or a class of a module's top level: an index of one of them, and -1 for the other."""
_Place = tuple[str, str]
"""A file, and a name that it defines."""


class _Mentions:
    """The names in a unit's code, and the words of its strings."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        """Those of the names that are of something else."""
        self.words: set[str] = set()

    def read(self, part: Expr) -> None:
        if part.kind in ("name", "attribute"):
            self.names.add(part.name)
            if part.kind == "attribute":
                self.attributes.add(part.name)
        elif isinstance(part.value, str):
            self.words.update(part.value.replace(":", ".").split("."))


class Unnamed:
    """Answers which functions and classes no code uses that is used itself. `packages`: where packages are declared."""

    def __init__(self, programs: Programs, packages: tuple[str, ...]) -> None:
        self.index: Index = programs.index
        self._programs = programs
        self._declared = packages
        self._named: dict[str, frozenset[str]] = {}

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """The folders that declare packages for others to install."""
        return tuple(home for home in self._declared if not self._is_copy(home))

    def _is_copy(self, home: str) -> bool:
        """Whether code around a folder imports from it as from a package: nobody installs that copy of a library."""
        if home == "." or f"{home}/__init__.py" not in self.index.modules:
            return False
        inside = (path for path in self.index.import_statements if path.startswith(f"{home}/"))
        users = (user for path in inside for user, _ in self.index.import_statements[path])
        return any(not user.is_test and not user.path.startswith(f"{home}/") for user in users)

    def is_class(self, module: Module, facts: Class) -> bool:
        """Whether nothing uses a class, or what it is defined in."""
        return (module.path, _around(module, facts.parent, facts.index)) in self._unused

    def is_function(self, module: Module, function: int) -> bool:
        """Whether nothing uses a function, or the class or function that has it."""
        return (module.path, _around(module, function, -1)) in self._unused

    def names(self, module: Module) -> frozenset[str]:
        """Every name and attribute that the code of a module mentions or imports."""
        known = self._named.get(module.path)
        if known is None:
            mentioned = (unit.names for unit in self._mentions[module.path].values())
            imported = (item.attribute for item in module.model.imports)
            known = self._named[module.path] = frozenset().union(*mentioned, imported)
        return known

    @cached_property
    def _unused(self) -> frozenset[tuple[str, Unit]]:
        """What is left once all that is used has been found."""
        left = {
            (module.path, unit)
            for module in self.index
            for unit in self._mentions[module.path]
            if unit != _MODULE and not self._begins(module, unit)
        }
        every = ((path, unit) for path, units in self._mentions.items() for unit in units if unit != _MODULE)
        names = {item: self._name(*item) for item in every}
        used = _Used(self.index, self._mentions, names, left)
        while more := {item for item in left if used.names(*item, names[item])}:
            left -= more
            used.add(more)
        return frozenset(left)

    @cached_property
    def _mentions(self) -> dict[str, dict[Unit, _Mentions]]:
        """What the code of each file names, by the function or class of its top level."""
        found: dict[str, dict[Unit, _Mentions]] = {}
        for module in self.index:
            of_file = found[module.path] = defaultdict(_Mentions)
            inner = _defined_within(module)
            for function, klass, _ in module.scopes:
                mentions = of_file[_around(module, function, klass)]
                own = _seen_from(module, module.model.classes[klass].parent if klass >= 0 else function, inner)
                for part in scope_parts(module, function, klass):
                    if part.kind != "name" or part.name not in own:
                        mentions.read(part)
            of_file[_MODULE].names |= _handed_on(module)
        return found

    def _begins(self, module: Module, unit: Unit) -> bool:
        """Whether something outside of the code may use a unit, or code that doesn't name it."""
        facts: Function | Class = module.model.classes[unit[1]] if unit[1] >= 0 else module.model.functions[unit[0]]
        if facts.decorators or facts.name in _STARTS or module.is_test or module.notebook or self.is_offered(module):
            return True
        return self.is_looked_up(module, facts)

    def is_looked_up(self, module: Module, facts: Class | Function | None = None) -> bool:
        """Whether what a file has, or one class or function of it, may be found by a name that is computed."""
        lookups, klass = self._programs.lookups, facts if isinstance(facts, Class) else None
        if klass is not None and lookups.among_subclasses(klass):
            return True
        if lookups.into(module, facts):
            return True
        exporters = _exporters(self.index, module, facts.name) if facts is not None else ()
        return any(lookups.into(where, facts) for where in exporters)

    def _name(self, path: str, unit: Unit) -> str:
        model = self.index.modules[path].model
        return model.functions[unit[0]].name if unit[0] >= 0 else model.classes[unit[1]].name

    def is_offered(self, module: Module) -> bool:
        """Whether a file is in a package that offers something: it is installed, and its `__init__` binds names."""
        outermost, folder = None, posixpath.dirname(module.path)
        while folder and (found := self.index.modules.get(f"{folder}/__init__.py")) is not None:
            outermost, folder = found, posixpath.dirname(folder)
        return (
            outermost is not None and any(map(event_names, outermost.model.events)) and self.is_installed(module.path)
        )

    def is_installed(self, path: str) -> bool:
        """Whether a file is in a folder that declares an installable package."""
        return any(home == "." or path.startswith(f"{home}/") for home in self.packages)


class _Used:
    """What the code names that is used so far."""

    def __init__(
        self,
        index: Index,
        mentions: dict[str, dict[Unit, _Mentions]],
        names: dict[tuple[str, Unit], str],
        left: set[tuple[str, Unit]],
    ) -> None:
        self.index = index
        self.mentions = mentions
        self.defined: dict[str, set[str]] = defaultdict(set)
        for (path, _), name in names.items():
            self.defined[path].add(name)
        self.places = {part for path in index.modules for part in stem(path).split("/")}
        """The names of the project's files and folders."""
        self.told: dict[str, dict[str, set[_Place]]] = {}
        self.meant: set[_Place] = set()
        """The files and names of what is named and known."""
        self.of_file: dict[str, set[str]] = defaultdict(set)
        """The other names that the code of each file has, which may mean whatever has that name."""
        self.everywhere: set[str] = set()
        self.words: set[str] = set()
        self.add({(path, unit) for path, units in mentions.items() for unit in units} - left)

    def add(self, units: set[tuple[str, Unit]]) -> None:
        """Count what more units name, by the names that it has where it is defined."""
        for path, unit in units:
            found = self.mentions[path][unit]
            told = self._told(path)
            self.meant.update(*(told[name] for name in found.names & told.keys()))
            names = found.attributes | (found.names - told.keys())
            imports = self.index.modules[path].model.imports
            names |= {item.attribute for item in imports if item.bound in names}
            self.of_file[path] |= names
            self.everywhere |= names
            self.words |= found.words

    def _told(self, path: str) -> dict[str, set[_Place]]:
        """What names mean in a file: the functions and classes that it has, or imports from where they are defined."""
        known = self.told.get(path)
        if known is None:
            known = self.told[path] = {name: {(path, name)} for name in self.defined[path]}
            module, unknown = self.index.modules[path], set()
            for item in module.model.imports:
                targets = self.index.targets(module, item)
                places = {(target, item.attribute) for target in targets if item.attribute in self.defined[target]}
                known[item.bound] = known.get(item.bound, set()) | places
                unknown |= set() if places or self._is_outside(item) else {item.bound}
            for name in unknown:
                del known[name]
        return known

    def _is_outside(self, item: ImportedName) -> bool:
        """Whether something is imported by its name from a package that no file or folder of the project may be."""
        package = item.module.partition(".")[0]
        return not item.level and item.attribute not in ("", "*") and package not in self.places

    def names(self, path: str, unit: Unit, name: str) -> bool:
        """Whether a unit is named: a class in its file or in one that imports this, a function in any that leads here.

        A file that imports by a name which several files have may lead to each of them.
        """
        if name in self.words or (path, name) in self.meant:
            return True
        if unit[1] < 0:
            leading = self.index.importers(path) | self.index.unresolved_importers(path)
            return name in self.everywhere and any(name in self.of_file[user] for user in leading)
        if _exporters(self.index, self.index.modules[path], name):
            return name in self.everywhere
        files = (path, *_packages_around(path))
        users = (user.path for file in files for user, _ in self.index.import_statements.get(file, ()))
        return any(name in self.of_file[user] for user in (path, *users))


def _around(module: Module, function: int, klass: int) -> Unit:
    """The function or class of the module's top level that a function, or a class in it, is in or is itself."""
    functions, classes = module.model.functions, module.model.classes
    unit = _MODULE
    while klass >= 0 or function >= 0:
        item: Function | Class = classes[klass] if klass >= 0 else functions[function]
        unit = (-1, klass) if klass >= 0 else (function, -1)
        function, klass = (-1, item.owner) if item.owner >= 0 else (item.parent, -1)
    return _MODULE if unit[0] >= 0 and functions[unit[0]].kind == "lambda" else unit


def _defined_within(module: Module) -> dict[int, set[str]]:
    """The names of the functions and classes that each function defines in itself."""
    found: dict[int, set[str]] = defaultdict(set)
    items: tuple[Function | Class, ...] = (*module.model.functions, *module.model.classes)
    for item in items:
        if item.owner < 0 <= item.parent:
            found[item.parent].add(item.name)
    return found


def _seen_from(module: Module, function: int, inner: dict[int, set[str]]) -> set[str]:
    """What a function defines in itself, and those around it: its code means these by their names."""
    found: set[str] = set()
    while function >= 0:
        found |= inner.get(function, set())
        function = module.model.functions[function].parent
    return found


def _packages_around(path: str) -> list[str]:
    """The `__init__` files of the folders that a file is in."""
    folders = path.split("/")[:-1]
    return ["/".join((*folders[: count + 1], "__init__.py")) for count in range(len(folders))]


def _handed_on(module: Module) -> set[str]:
    """What `__all__` lists of the imports of a file that isn't the `__init__` of a package."""
    listed = () if posixpath.basename(module.path) == "__init__.py" else module.model.exports or ()
    return {item.bound for item in module.model.imports}.intersection(listed)


def _exporters(index: Index, module: Module, name: str) -> list[Module]:
    """The modules that hand on what a module has: by `import *`, or by its name in an `__init__`."""
    return [
        user
        for user, item in index.import_statements.get(module.path, ())
        if item.attribute == "*" or (item.attribute == name and posixpath.basename(user.path) == "__init__.py")
    ]
