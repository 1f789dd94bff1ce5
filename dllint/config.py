"""The configurations of a project: which file decides about which files, where the root is, what the targets are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from dllint import own_loaders, plugins, registry
from dllint.keys import SITE, Options, Words
from dllint.options import ConfigError, Pattern, Patterns, given, has, over, read, section, specifier, toml
from dllint.package import PYPROJECT, declared, metadata, scripts
from dllint.targets import Targets

__all__ = ["Config", "ConfigError", "Configs", "Pattern", "load"]

FILES = (".dllint.toml", "dllint.toml", PYPROJECT)
"""In the order of precedence within one folder."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one run, in addition to the command line. `root` is absolute."""

    root: str
    file: str = ""
    """The configuration file; "" where there is none."""
    package: str = ""
    """The folder of the package, whose metadata count where the configuration says nothing; "" where there is none."""
    layer: registry.Layer = registry.Layer()
    per_file_ignores: tuple[tuple[Pattern, Words], ...] = ()
    fixable: Words = (registry.ALL,)
    unfixable: Words = ()
    unsafe_fixes: bool = False
    safe: Words = ()
    """Selectors of rules whose unsafe fixes count as safe."""
    unsafe: Words = ()
    """Selectors of rules whose safe fixes count as unsafe."""
    exclude: tuple[Pattern, ...] | None = None
    """None means the defaults."""
    extend_exclude: tuple[Pattern, ...] = ()
    include: tuple[Pattern, ...] | None = None
    """None means the defaults."""
    force_exclude: bool = False
    respect_gitignore: bool = True
    output_format: str = ""
    docs_url: str = SITE
    cache_dir: str = ""
    """Absolute; "" means the user's."""
    targets: Targets = Targets()
    warnings: Words = ()


class Configs:
    """The configurations of a project: each decides about the files below its folder, up to the next one.

    `run` is the one of what the arguments have in common: it decides about the output and the cache. `settings` are
    keys of the command line, as lines of TOML; they are laid over every file.
    """

    def __init__(
        self, paths: Sequence[str], explicit: str = "", isolated: bool = False, settings: Sequence[str] = ()
    ) -> None:
        """Raises ConfigError and RegistryError."""
        parent = _common_parent(paths)
        self.root = _root(parent)
        self.marked = bool(self.root)
        """Whether something marks the root; else it is what the arguments have in common."""
        self.root = self.root or parent
        there = not paths or any(map(os.path.lexists, paths))  # what isn't there is no reason to look around
        self._packages = declared(self.root) if there else ()
        self._given = given(settings, os.getcwd())
        self._known: dict[str, Config] = {}
        self._only = isolated or bool(explicit)
        if self._only:
            file = os.path.join(os.getcwd(), explicit) if explicit and not isolated else ""
            self._known[self.root] = self._build(file, "" if isolated else self.root, self.root)
        self.run = self.at(parent)

    @classmethod
    def only(cls, config: Config) -> Configs:
        """One configuration for all files."""
        own = cls.__new__(cls)
        own.root, own.run, own._only, own.marked = config.root, config, True, True
        own._known = {config.root: config}
        return own

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configs) and (self.run, self.all) == (other.run, other.all)

    __hash__ = None  # type: ignore[assignment]

    @property
    def all(self) -> list[Config]:
        """Those that are known by now, in a fixed order."""
        different = {id(config): config for config in self._known.values()}
        return sorted(different.values(), key=lambda config: (config.file, config.package))

    def of(self, path: str) -> Config:
        """The configuration of a file, whose path is relative to the root."""
        return self.at(os.path.normpath(os.path.join(self.root, os.path.dirname(path))))

    def at(self, folder: str) -> Config:
        """The configuration of the files in a folder. Raises ConfigError and RegistryError."""
        if self._only or not _within(folder, self.root):
            folder = self.root
        if folder not in self._known:
            above = self.at(os.path.dirname(folder)) if folder != self.root else None
            self._known[folder] = self._own(folder, above)
        return self._known[folder]

    def _own(self, folder: str, above: Config | None) -> Config:
        file, package = _configured(folder), folder if _packaged(folder, above is not None) else ""
        if above is None:
            return self._build(file, package, folder)
        return self._build(file or above.file, package or above.package, folder) if file or package else above

    def _build(self, file: str, package: str, folder: str) -> Config:
        """From a configuration file and the package that says the rest, each "" where there is none."""
        options, patterns = Options(), Patterns()
        if file:
            options, patterns = read(file, self.root if self._only else os.path.dirname(file))
        options, patterns = over(*self._given, options, patterns)
        project = metadata(package) if package else {}
        bare = self._only and not file
        return Config(
            root=self.root,
            file=file,
            package=package,
            layer=registry.Layer(options.select, options.extend_select, options.ignore or ()),
            per_file_ignores=patterns.per_file_ignores,
            fixable=(registry.ALL,) if options.fixable is None else options.fixable,
            unfixable=options.unfixable or (),
            unsafe_fixes=bool(options.unsafe_fixes),
            safe=options.extend_safe_fixes,
            unsafe=options.extend_unsafe_fixes,
            exclude=patterns.exclude,
            extend_exclude=patterns.extend_exclude,
            include=patterns.include,
            force_exclude=bool(options.force_exclude),
            respect_gitignore=options.respect_gitignore is not False,
            output_format=options.output_format or "",
            docs_url=SITE if options.docs_url is None else options.docs_url,
            cache_dir=patterns.cache_dir,
            targets=_taught(self._targets("" if bare else self.root, project, options, patterns)),
            warnings=_complaints(package, project),
        )

    def _targets(self, root: str, project: dict[str, object], options: Options, patterns: Patterns) -> Targets:
        pythons = options.target_python or str(project.get("requires-python", ""))
        return Targets(
            platforms=options.target_platforms or Targets().platforms,
            pythons=specifier(pythons) or "",
            start_method=options.start_method or "",
            root=root,
            scripts=scripts(project),
            packages=self._packages,
            loaders=own_loaders.boundaries(options.loader_classes, options.loaders),
            dataset_bases=options.dataset_bases or (),
            unpicklable_types=options.unpicklable_types or (),
            src=tuple(map(self._relative, patterns.src)),
        )

    def _relative(self, folder: str) -> str:
        return os.path.relpath(folder, self.root).replace(os.sep, "/")

    def targets(self, config: Config) -> Targets:
        """What a configuration aims at, with what all of them say of how the project is laid out."""
        every = self.all
        if len(every) == 1:
            return config.targets
        inner = (os.path.join(one.package, "src") for one in every if one.package not in ("", self.root))
        laid_out = [self._relative(folder) for folder in inner if os.path.isdir(folder)]
        src = [folder for one in every for folder in one.targets.src]
        started = [name for one in every for name in one.targets.scripts]
        return msgspec.structs.replace(
            config.targets, src=tuple(dict.fromkeys((*src, *laid_out))), scripts=tuple(dict.fromkeys(started))
        )


def load(paths: Sequence[str], explicit: str = "", isolated: bool = False, settings: Sequence[str] = ()) -> Config:
    """The configuration of what these arguments have in common. Raises ConfigError and RegistryError."""
    return Configs(paths, explicit, isolated, settings).run


def homeless(paths: Sequence[str]) -> str:
    """The common folder of arguments outside any project; "" for arguments in a project. Raises ConfigError."""
    parent = _common_parent(paths)
    return "" if _root(parent) else parent


def marked(folder: str) -> bool:
    """Whether a folder is a project's: it has a configuration, or it is a repository."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (*FILES, ".git"))


def _taught(targets: Targets) -> Targets:
    """With what installed packages know of libraries. Raises RegistryError."""
    known = plugins.knowledge()
    return msgspec.structs.replace(
        targets,
        loaders={**known.loaders, **targets.loaders},
        dataset_bases=(*targets.dataset_bases, *known.dataset_bases),
        unpicklable_types=(*targets.unpicklable_types, *known.unpicklable_types),
    )


def _common_parent(paths: Sequence[str]) -> str:
    """The folder that holds the arguments; one that does not exist (a typo) says nothing beside one that does."""
    there = [path for path in paths if os.path.lexists(path)]
    places = [os.path.join(os.getcwd(), path) for path in there or paths or (".",)]
    folders = [os.path.normpath(place if os.path.isdir(place) else os.path.join(place, "..")) for place in places]
    try:
        return os.path.commonpath(folders)
    except ValueError:
        raise ConfigError("the paths have no folder in common (different drives)") from None


def upwards(folder: str) -> Iterator[str]:
    """A folder and all above it."""
    yield folder
    while folder != (folder := os.path.dirname(folder)):
        yield folder


def _root(folder: str) -> str:
    """The root of the project that a folder belongs to, whatever was named in it; "" where nothing marks one.

    In a git repository its top. Elsewhere the outermost folder with a configuration file or a pyproject.toml; what lies
    in the user's home folder or above speaks for no project below.
    """
    places = list(upwards(folder))
    for place in places:
        if os.path.exists(os.path.join(place, ".git")):
            return place
    limits = {os.path.expanduser("~"), places[-1]}
    stop = next((number for number, place in enumerate(places) if number and place in limits), len(places))
    return next((place for place in reversed(places[:stop]) if marked(place)), "")


def _configured(folder: str) -> str:
    """The folder's configuration file, or ""."""
    for name in FILES:
        file = os.path.join(folder, name)
        if os.path.isfile(file) and (name != PYPROJECT or _speaks(file)):
            return file
    return ""


def _speaks(pyproject: str) -> bool:
    return has(pyproject, b"dllint") and "dllint" in section(toml(pyproject), "tool")


def _packaged(folder: str, nested: bool) -> bool:
    """Whether the folder has a package with metadata. Templates of such files aren't TOML."""
    file = os.path.join(folder, PYPROJECT)
    try:
        return os.path.isfile(file) and has(file, b"[project") and bool(metadata(folder))
    except ConfigError:
        if nested:
            return False
        raise


def _within(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(os.path.join(root, ""))


def _complaints(package: str, project: dict[str, object]) -> Words:
    wanted = project.get("requires-python", "")
    if isinstance(wanted, str) and specifier(wanted) is not None:
        return ()
    return (f"{os.path.join(package, PYPROJECT)}: project.requires-python is not a version specifier and was ignored",)
