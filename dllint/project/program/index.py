"""The modules of a project and how their names find each other.

An import means what Python finds first. Where the program's own folder has an `a` without `b`, no other folder's `a.b`
is meant, unless code there changes `sys.path`. What is found nowhere else is looked for in the folders that the
importing file, or one that it imports, adds to `sys.path`. Where a module that isn't beside the importing file lacks
what is imported, the only other one of its name that has it is meant.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from dllint.model.facts import Expr, ImportedName, ModuleModel
from dllint.project.program.added_folders import ADDING, added, adds
from dllint.project.program.events import event_names, handed_on
from dllint.project.program.module import Module, Site, Write
from dllint.project.program.on_demand import OnDemand


class Index:
    """All modules of a project, by path, and the resolution of imports to them."""

    def __init__(
        self, models: Mapping[str, ModuleModel], roots: Iterable[str] = (), former: Iterable[Module] = ()
    ) -> None:
        known = {id(module.model): module for module in former}
        self.modules = {path: known.get(id(model)) or Module(model) for path, model in sorted(models.items())}
        self.roots = tuple(roots)
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        for path in self.modules:
            self._by_stem[stem(path).rpartition("/")[2]].append(path)
        self._sites = OnDemand(self._sites_of)
        self._search_paths = OnDemand(self._search_path)
        self._added = OnDemand(self._added_for)
        self._imports: dict[str, frozenset[str]] = {}
        self._importers: dict[str, frozenset[str]] = {}
        self._resolved: dict[tuple[str, str, int], Module | None] = {}

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules.values())

    def calls_named(self, names: Iterable[str]) -> Iterator[Site]:
        """Every call whose callee's last name is one of these."""
        wanted = [found for name in names if (found := self._sites[name])]
        for number in sorted({number for found in wanted for number in found}):
            for found in wanted:
                yield from found.get(number, ())

    def _sites_of(self, name: str) -> dict[int, list[Site]]:
        """The calls whose callee's last name this is, by the number of the module."""
        return {
            number: [Site(module, call.function, call.event, call.expr) for call in module.calls[name]]
            for number, module in self._callers.get(name, ())
        }

    @cached_property
    def packages(self) -> frozenset[str]:
        """The first parts of all names that are imported: those of packages, other than by relative imports."""
        imports = (imported for module in self for imported in module.model.imports)
        return frozenset(imported.module.partition(".")[0] for imported in imports)

    @cached_property
    def _callers(self) -> dict[str, list[tuple[int, Module]]]:
        """The modules that call something of a name, with their numbers."""
        found: dict[str, list[tuple[int, Module]]] = defaultdict(list)
        for numbered in enumerate(self):
            for name in numbered[1].calls:
                found[name].append(numbered)
        return dict(found)

    @cached_property
    def aliases(self) -> dict[str, set[str]]:
        """Names under which a thing is also called: `import x as y`, `y = x if small else z`, `y = table[key]`."""
        found: dict[str, set[str]] = defaultdict(set)
        for module in self:
            for name, alias in self.aliases_in(module):
                found[name].add(alias)
        return dict(found)

    def aliases_in(self, module: Module) -> Iterator[tuple[str, str]]:
        """What one module gives another name, each with that name."""
        for imported in module.model.imports:
            if imported.attribute and imported.bound not in ("*", imported.attribute):
                yield imported.attribute, imported.bound
        for _, _, events in module.scopes:
            for event in events:
                value, target = event.value, event.target
                if event.kind == "assign" and value is not None and target is not None and target.name:
                    for given in _alternatives(value, module, self._tables):
                        if given.kind in ("name", "attribute") and given.name != target.name:
                            yield given.name, target.name

    @cached_property
    def _tables(self) -> dict[str, list[Expr]]:
        """The classes that the dictionaries of modules have as values, by the names of the dictionaries."""
        found: dict[str, list[Expr]] = defaultdict(list)
        for module in self:
            for event in module.model.events:
                if event.kind == "assign" and event.value is not None and event.value.kind == "dict" and event.target:
                    classes = [item for item in event.value.args[1::2] if item.kind in ("name", "attribute")]
                    found[event.target.name] += [item for item in classes if item.name[:1].isupper()]
        return dict(found)

    @cached_property
    def kept_generators(self) -> frozenset[str]:
        """The names and attributes that keep what generator functions return, and that code hands on nowhere."""
        names = {function.name for module in self for function in module.model.functions if function.is_generator}
        sites = (site for site in self.calls_named(names) if site.event.value is site.expr)
        targets = (site.event.target for site in sites if site.event.kind == "assign")
        kept = {target.name for target in targets if target is not None}
        events = (event for module in self if kept for _, _, scope in module.scopes for event in scope)
        return frozenset(kept.difference(*(handed_on(event) for event in events)))

    @cached_property
    def outside_writes(self) -> dict[str, list[tuple[Module, Write]]]:
        """`x.attribute = value` where x is no method's own object, under the attribute's name."""
        found: dict[str, list[tuple[Module, Write]]] = defaultdict(list)
        for module in self:
            for name, writes in module.attribute_writes.items():
                for write in writes:
                    if not write.target.args[0].name == module.receiver_name(write.function) != "":
                        found[name].append((module, write))
        return found

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """The attributes that the code of some class sets on its own objects, or that its body names."""
        found: set[str] = set()
        for module in self:
            found.update(*module.self_writes.values())
            for item in module.model.classes:
                found.update(name for event in item.events for name in event_names(event))
        return frozenset(found)

    def find(self, importer: str, dotted: str, level: int) -> Module | None:
        """The project's module that an import in `importer` means, or None."""
        found = self._found_from(importer, dotted, level)
        return found if found is not None or level else self._found_in_added(importer, dotted)

    def _found_from(self, importer: str, dotted: str, level: int) -> Module | None:
        """The module that an import means in any file of the importer's folder."""
        key = (importer.rpartition("/")[0], dotted, level)
        if key not in self._resolved:
            self._resolved[key] = self._find(*key)
        return self._resolved[key]

    def _found_in_added(self, importer: str, dotted: str) -> Module | None:
        """The module in a folder that the importer, or what it imports, puts on `sys.path`."""
        wanted = dotted.replace(".", "/")
        if wanted.rpartition("/")[2] not in self._by_stem:
            return None
        found = (self._at(f"{folder}/{wanted}") for folder in self._added[importer])
        return next((module for module in found if module is not None), None)

    def _added_for(self, importer: str) -> tuple[str, ...]:
        module = self.modules.get(importer)
        imports = module.model.imports if module is not None and self._changing_path else ()
        named = (self._found_from(importer, item.module, item.level) for item in imports)
        changing = [item for item in (module, *named) if item is not None and item.path in self._changing_path]
        return tuple(dict.fromkeys(folder for item in changing for folder in added(item, self._folders)))

    def _find(self, folder: str, dotted: str, level: int) -> Module | None:
        wanted = dotted.replace(".", "/")
        last = wanted.rpartition("/")[2]
        if last not in self._by_stem and last not in ("", "__init__"):
            return None  # most imports are of something else
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._at(posixpath.join(folder, wanted) if wanted else folder)
        for root in self._search_paths[folder]:
            found = self._at(posixpath.join(root, wanted) if root else wanted)
            if found is not None:
                return found
        return None if self._is_shadowed(folder, wanted, self._has) else self._by_suffix(wanted)

    def lacks(self, importer: str, dotted: str) -> bool:
        """Whether an import in `importer` means a submodule that a module or package of the project doesn't have."""
        wanted = dotted.replace(".", "/")
        return "/" in wanted and self._is_shadowed(
            importer.rpartition("/")[0], wanted, lambda place: bool(self._at(place))
        )

    def _is_shadowed(self, folder: str, wanted: str, has: Callable[[str], bool]) -> bool:
        """Whether a folder below the root, where scripts look up `a.b`, has an `a` without `b`: Python stops there.

        Not where code in that folder changes `sys.path`, nor in a package that code imports by its name: it is looked
        up from above.
        """
        first = wanted.partition("/")[0]
        nearby = {
            root
            for root in self._search_paths[folder]
            if root and f"{folder}/".startswith(f"{root}/") and not self._is_imported(root)
        }
        having = {root for root in nearby if has(f"{root}/{first}")}
        return any(not any(path.startswith(f"{root}/") for path in self._changing_path) for root in having)

    def _is_imported(self, folder: str) -> bool:
        """Whether a folder is a package, or in one, that code imports by its name."""
        outermost = ""
        while folder and posixpath.join(folder, "__init__.py") in self.modules:
            outermost, folder = folder, posixpath.dirname(folder)
        return posixpath.basename(outermost) in self.packages

    def _has(self, place: str) -> bool:
        """Whether there is a module, a package, or a folder with modules."""
        return self._at(place) is not None or place in self._folders

    @cached_property
    def _folders(self) -> frozenset[str]:
        """The folders with modules, in themselves or below."""
        found: set[str] = set()
        for path in self.modules:
            while path := posixpath.dirname(path):
                found.add(path)
        return frozenset(found)

    @cached_property
    def _changing_path(self) -> frozenset[str]:
        """The files that change `sys.path`."""
        return frozenset(site.module.path for site in self.calls_named(ADDING) if adds(site))

    def imports(self, path: str) -> frozenset[str]:
        """The files that a file imports, and all that those import, itself included."""
        known = self._imports.get(path)
        if known is None:
            known = self._imports[path] = _reached(path, self._named_by)
        return known

    def importers(self, path: str) -> frozenset[str]:
        """The files that import a file, directly or not, itself included."""
        known = self._importers.get(path)
        if known is None:
            known = self._importers[path] = _reached(path, self._naming)
        return known

    def together(self, one: str, other: str) -> bool:
        """Whether two files may be parts of one program: some file imports both, or is one of them."""
        return not self.importers(one).isdisjoint(self.importers(other))

    @cached_property
    def _named_by(self) -> dict[str, set[str]]:
        """The other files that each file's import statements name."""
        found: dict[str, set[str]] = {path: set() for path in self.modules}
        for path, importers in self._naming.items():
            for importer in importers:
                found[importer].add(path)
        return found

    @cached_property
    def _naming(self) -> dict[str, set[str]]:
        """For each file, those others whose import statements name it."""
        statements = self.import_statements
        return {path: {importer.path for importer, _ in statements.get(path, ())} for path in self.modules}

    @cached_property
    def import_statements(self) -> dict[str, list[tuple[Module, ImportedName]]]:
        """The import statements that name a file, each with its module."""
        found: dict[str, list[tuple[Module, ImportedName]]] = defaultdict(list)
        for module in self:
            for imported in module.model.imports:
                for path in self.targets(module, imported):
                    if path != module.path:
                        found[path].append((module, imported))
        return found

    def unresolved_importers(self, path: str) -> frozenset[str]:
        """The files with an import statement that may mean a file, but could not be resolved."""
        place = f"/{stem(path)}"
        found = self._unresolved.get(place.rpartition("/")[2], {}).items()
        return frozenset().union(*(users for wanted, users in found if place.endswith(f"/{wanted}")))

    @cached_property
    def _unresolved(self) -> dict[str, dict[str, set[str]]]:
        """The files that import what could not be resolved, by its last name and its path."""
        found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for module in self:
            for imported in module.model.imports:
                if not imported.level and not self.targets(module, imported):
                    wanted = imported.module.replace(".", "/")
                    found[wanted.rpartition("/")[2]][wanted].add(module.path)
        return found

    def targets(self, importer: Module, imported: ImportedName) -> list[str]:
        """The files that an import statement names: the module, and the submodule that the name may be."""
        names = [imported.module]
        if imported.attribute not in ("", "*"):
            names.append(f"{imported.module}.{imported.attribute}" if imported.module else imported.attribute)
        found = [self.find(importer.path, name, imported.level) for name in names]
        return [target.path for target in (*found, self.namesake(importer, imported)) if target is not None]

    def namesake(self, importer: Module, imported: ImportedName) -> Module | None:
        """The only other module of an imported one's name that has what is imported, which the one that is found lacks.

        Its folder is on a path that is set outside the program.
        """
        name, attribute = imported.module, imported.attribute
        if imported.level or attribute in ("", "*") or len(self._by_stem.get(name, ())) < 2:
            return None
        target = self.find(importer.path, name, 0)
        if target is None or target.star_imports or not target.model.bound.isdisjoint((attribute, "__getattr__")):
            return None
        if posixpath.dirname(stem(target.path)) == posixpath.dirname(importer.path):
            return None  # a script finds what is beside it first
        if self.find(importer.path, f"{name}.{attribute}", 0) is not None:
            return None
        others = (self.modules[path] for path in self._by_stem[name] if path != target.path)
        having = [module for module in others if attribute in module.model.bound]
        return having[0] if len(having) == 1 else None

    def _search_path(self, folder: str) -> tuple[str, ...]:
        """Where a script's absolute imports are looked up: its own folder first, unless it is a package's."""
        ancestors = [folder]
        while ancestors[-1]:
            ancestors.append(posixpath.dirname(ancestors[-1]))
        packages = [path for path in ancestors if posixpath.join(path, "__init__.py") in self.modules]
        roots = sorted(self.roots, key=lambda root: -_shared(root, folder))  # those of its own package first
        return (*(path for path in ancestors if path not in packages), *roots, "src", *packages)

    def _at(self, place: str) -> Module | None:
        return self.modules.get(f"{place}.py") or self.modules.get(posixpath.join(place, "__init__.py"))

    def _by_suffix(self, wanted: str) -> Module | None:
        """The only file whose path ends so: projects that put folders on sys.path. Several mean unknown."""
        last = wanted.rpartition("/")[2]
        if last == wanted:
            return None
        found = [path for path in self._by_stem.get(last, ()) if f"/{stem(path)}".endswith(f"/{wanted}")]
        return self.modules[found[0]] if len(found) == 1 else None


def _alternatives(value: Expr, module: Module, tables: Mapping[str, list[Expr]]) -> tuple[Expr, ...]:
    """What an expression may stand for: of `small if test else large` and `given or usual`, classes and functions only.

    By their names: other values are chosen so often that every name would be an alias of most. Of `table[key]`, the
    classes in tables of this name.
    """
    if value.kind == "subscript":
        return tuple(tables.get(value.args[0].name, ()))
    if value.kind not in ("ifexp", "boolop"):
        return (value,)
    inner = (inner for part in value.args[-2:] for inner in _alternatives(part, module, tables))
    return tuple(item for item in inner if item.name[:1].isupper() or _first(item) in module.defined)


def _first(expr: Expr) -> str:
    """`a` of `a` and of `a.b.c`."""
    return expr.dotted.partition(".")[0]


def _reached(start: str, edges: Mapping[str, Iterable[str]]) -> frozenset[str]:
    found, waiting = {start}, [start]
    while waiting:
        new = [target for target in edges[waiting.pop()] if target not in found]
        found.update(new)
        waiting += new
    return frozenset(found)


def _shared(one: str, other: str) -> int:
    """How many folders two paths have in common, from the top."""
    return len(posixpath.commonpath((one, other)).split("/")) if one.partition("/")[0] == other.partition("/")[0] else 0


def stem(path: str) -> str:
    """`a/b` of `a/b.py` and of `a/b/__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__")
