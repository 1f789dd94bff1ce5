"""The configuration of a run: which file it comes from, where the project's root is, what the targets are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from dllint import plugins, registry
from dllint.keys import Options, Words
from dllint.options import ConfigError, Pattern, Patterns, read, section, specifier, toml
from dllint.targets import Targets

__all__ = ["Config", "ConfigError", "Pattern", "load"]

FILES = (".dllint.toml", "dllint.toml", "pyproject.toml")
"""In the order of precedence within one folder."""


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What one run is told, besides the command line. `root` is absolute."""

    root: str
    file: str = ""
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
    cache_dir: str = ""
    """Absolute; "" means the user's."""
    targets: Targets = Targets()
    warnings: Words = ()


def load(paths: Sequence[str], explicit: str = "", isolated: bool = False) -> Config:
    """The configuration for these arguments. Raises ConfigError and RegistryError."""
    parent = _common_parent(paths)
    marker = _find(parent)
    root = os.path.dirname(marker) if os.path.basename(marker) in FILES else marker or parent
    if explicit and not isolated:
        return _build(root, os.path.join(os.getcwd(), explicit), root)
    if isolated or marker in ("", root):
        return Config(root=root, targets=_taught(Targets()))
    return _build(root, marker, root)


def homeless(paths: Sequence[str]) -> str:
    """The folder that arguments have in common where they lie in no project; "" where they do. Raises ConfigError."""
    parent = _common_parent(paths)
    return "" if _find(parent) else parent


def marked(folder: str) -> bool:
    """Whether a folder is a project's: it has a configuration, or it is a repository."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (*FILES, ".git"))


def _taught(targets: Targets) -> Targets:
    """With what installed packages know of libraries. Raises RegistryError."""
    known = plugins.knowledge()
    return msgspec.structs.replace(
        targets,
        loaders=known.loaders,
        dataset_bases=(*targets.dataset_bases, *known.dataset_bases),
        unpicklable_types=(*targets.unpicklable_types, *known.unpicklable_types),
    )


def _common_parent(paths: Sequence[str]) -> str:
    places = [os.path.join(os.getcwd(), path) for path in paths or (".",)]
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


def _find(folder: str) -> str:
    """The configuration file that counts, else the nearest pyproject.toml, else the folder that holds .git, else "".

    Inside a git repository a pyproject.toml without `[tool.dllint]` does not hide a configuration further up, or the
    files of a nested package would be judged differently when they are checked alone.
    """
    places = list(upwards(folder))
    top = next((place for place in places if os.path.exists(os.path.join(place, ".git"))), "")
    nearest = ""
    for place in places[: places.index(top) + 1] if top else places:
        for name in FILES:
            file = os.path.join(place, name)
            if os.path.isfile(file):
                if not top or name != FILES[-1] or "dllint" in section(toml(file), "tool"):
                    return file
                nearest = nearest or file
    return nearest or top


def _build(root: str, file: str, base: str) -> Config:
    options, patterns = read(file, base)
    project = _metadata(root)
    return Config(
        root=root,
        file=file,
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
        cache_dir=patterns.cache_dir,
        targets=_taught(_targets(root, project, options, patterns)),
        warnings=_complaints(root, project),
    )


def _targets(root: str, project: dict[str, object], options: Options, patterns: Patterns) -> Targets:
    pythons = options.target_python or str(project.get("requires-python", ""))
    return Targets(
        platforms=options.target_platforms or Targets().platforms,
        pythons=specifier(pythons) or "",
        start_method=options.start_method or "",
        root=root,
        scripts=_scripts(project),
        loader_classes=options.loader_classes or (),
        dataset_bases=options.dataset_bases or (),
        unpicklable_types=options.unpicklable_types or (),
        src=tuple(os.path.relpath(folder, root).replace(os.sep, "/") for folder in patterns.src),
    )


def _complaints(root: str, project: dict[str, object]) -> Words:
    wanted = project.get("requires-python", "")
    if isinstance(wanted, str) and specifier(wanted) is not None:
        return ()
    return (f"{os.path.join(root, FILES[-1])}: project.requires-python is no version specifier and was not used",)


def _metadata(root: str) -> dict[str, object]:
    """The `[project]` table of the root's package."""
    file = os.path.join(root, FILES[-1])
    return dict(section(toml(file), "project")) if os.path.isfile(file) else {}


def _scripts(project: dict[str, object]) -> Words:
    """The modules that the package's scripts import."""
    tables = [project.get(name) for name in ("scripts", "gui-scripts")]
    places = [place for table in tables if isinstance(table, dict) for place in table.values()]
    return tuple(place.partition(":")[0].strip() for place in places if isinstance(place, str))
