"""The files of the project, and which of them the arguments select.

Arguments are report targets; the project is everything under the root that is not excluded. A script in no project
has the files beside it and the folders that these import, not all that lies below its folder, which may be somebody's
home.

Symbolic links to folders are not followed (data sets lie behind them), unless named; a linked file counts once, by its
real path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from dllint.config import FILES, Config, Configs, marked
from dllint.documents.containers import is_container_file
from dllint.files.ignore import Globs, Ignores, posix
from dllint.files.listings import Listings
from dllint.files.sieve import imported
from dllint.reading import LARGEST, contents
from dllint.source import is_settings

SUFFIXES = (".py", ".ipynb")
"""What is checked unless `include` is configured."""


SETUP = ("setup.py", "setup.cfg")
"""Names of files that a folder of a project may have."""


class Selection(msgspec.Struct, frozen=True):
    """Paths relative to the root, with forward slashes, sorted."""

    files: tuple[str, ...]
    """The whole project, with all YAML and TOML files: any may be settings."""
    containers: tuple[str, ...]
    """Its container files, where they are asked for."""
    targets: frozenset[str]
    """What is reported on."""
    named: frozenset[str]
    """Files that were arguments themselves."""
    missing: tuple[str, ...] = ()
    """Arguments that do not exist, as they were written."""
    ignored: tuple[str, ...] = ()
    """Container files that were arguments and that no selected rule reads."""
    whole: bool = True
    """Whether the files are all those below the root, and not only what is beside scripts in no project."""


def select(
    configs: Configs,
    paths: Sequence[str],
    overlay: str = "",
    containers: bool = False,
    listings: Listings | None = None,
    force: bool = False,
    beside: bool = False,
) -> Selection:
    """Walk the root once, then add what was named outright. `overlay` is a file that doesn't have to exist (stdin).

    `containers` asks for container files too; one that is named and not asked for is `ignored`. `listings` are those of
    an earlier walk with these configurations. `force` leaves out excluded files even when they are named. Where
    nothing marks the root and no folder is named, or `beside` says so of those that are, folders below count only where
    they are imported. Afterwards `configs` knows every configuration that decides about one of the files.
    """
    if (
        paths and not overlay and not any(map(os.path.exists, paths))
    ):  # a typo is not a reason to search the folder around it
        return Selection((), (), frozenset(), frozenset(), missing=tuple(paths))
    walk = _Walk(configs, containers, listings)
    scripts = [*paths, *([overlay] if overlay else [])]
    whole = not scripts or configs.marked or (not beside and any(map(os.path.isdir, scripts)))
    files = walk.all() if whole else walk.near(scripts)
    targets: set[str] = set()
    named: set[str] = set()
    missing, ignored = [], []
    for path in paths:
        place = walk.place(path)
        if not os.path.exists(path):
            missing.append(path)
        elif (force or walk.forced(place)) and walk.excluded(place):
            continue
        elif os.path.isdir(path):
            inside = _below(files, walk.relative(place))
            unseen = not inside and (walk.outside(place) or walk.excluded(place))
            targets |= set(walk.outright(place)) if unseen else inside
        elif not containers and is_container_file(posix(path)):
            ignored.append(path)
        else:
            named.add(walk.relative(place))
    if overlay:
        place = walk.place(overlay)
        if not ((force or walk.forced(place)) and walk.excluded(place)):
            named.add(walk.relative(place))
    targets |= named
    for path in targets - files:
        configs.of(path)
    found = {file for file in files | targets if containers and is_container_file(file)}
    return Selection(
        files=tuple(sorted(file for file in files | targets if file not in found or is_settings(file))),
        containers=tuple(sorted(found)),
        targets=frozenset(file for file in targets if file in found or not is_settings(file)),
        named=frozenset(named),
        missing=tuple(missing),
        ignored=tuple(ignored),
        whole=whole,
    )


def _below(files: set[str], folder: str) -> set[str]:
    return files.copy() if folder == "." else {file for file in files if file.startswith(f"{folder}/")}


def left_out(configs: Configs, place: str) -> bool:
    """Whether a place below the root is none of the project: excluded, ignored, or really elsewhere."""
    walk = _Walk(configs)
    return walk.outside(place) or walk.excluded(place)


def others(configs: Configs, wanted: Callable[[str], bool]) -> set[str]:
    """The regular files below the root with names that are `wanted`, which aren't left out."""
    return _Others(configs, wanted).all()


def projects(folder: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """The projects below a folder that is none, with the arguments that concern each; none where a file is in none.

    A project inside of another one is part of it.
    """
    found: dict[str, list[str]] = {}
    walk = _Walk(Configs.only(Config(root=folder)), containers=True)
    missing = []
    for path in paths:
        place = os.path.abspath(path)
        around = _home(folder, place)
        if not around and not os.path.lexists(place):
            missing.append(path)
            continue
        for home in [around] if around else walk.homes(place) if os.path.isdir(place) else [None]:
            if home is None:
                return {}
            found.setdefault(home, []).append(path if around else home)
    for home in [*found][:1]:  # the user must say so
        found[home] += missing
    return found


def alike(root: str, files: Iterable[str]) -> list[str]:
    """The outermost folders with some of these files that look like projects of their own, relative to the root."""
    known: dict[str, bool] = {"": False}

    def looks(folder: str) -> bool:
        if folder not in known:
            place = os.path.join(root, folder)
            known[folder] = marked(place) or any(os.path.exists(os.path.join(place, sign)) for sign in SETUP)
        return known[folder]

    found: set[str] = set()
    for path in files:
        parts = path.split("/")[:-1]
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        found.update(next(([folder] for folder in above if looks(folder)), ()))
    return sorted(found)


def _home(folder: str, place: str) -> str:
    """The outermost project below a folder that holds a place, or ""."""
    here = folder
    for name in _parts(os.path.relpath(place, folder)):
        here = os.path.join(here, name)
        if os.path.isdir(here) and marked(here):
            return here
    return ""


def _parts(path: str) -> list[str]:
    """The names in a relative path."""
    return [] if path == "." else path.split(os.sep)


class _Wish(NamedTuple):
    """Which files a configuration includes."""

    plain: bool
    """Those of the usual names."""
    globs: Globs
    identity: str


class _Walk:
    """One walk: what it leaves out, what it includes, and how paths are written."""

    def __init__(self, configs: Configs, containers: bool = False, listings: Listings | None = None) -> None:
        self._configs = configs
        self._listings = listings or Listings()
        self._containers = containers
        self.root = configs.root
        self.real = os.path.realpath(self.root)
        self.ignores = Ignores(configs.at(self.root))
        self._wishes: dict[int, _Wish] = {}
        self._seen: set[str] = set()

    def _wish(self, config: Config) -> _Wish:
        if id(config) not in self._wishes:
            include = config.include if config.include is not None else ()
            identity = repr((self._containers, [(pattern.base, pattern.glob) for pattern in include]))
            self._wishes[id(config)] = _Wish(config.include is None, Globs(include), identity)
        return self._wishes[id(config)]

    def forced(self, place: str) -> bool:
        """Whether the configuration of a place leaves it out when it is excluded and named."""
        return self._configs.at(os.path.dirname(place)).force_exclude

    def place(self, path: str) -> str:
        """An argument's absolute path; through links, the real one if it is under the root."""
        if self.outside(path):
            return os.path.normpath(os.path.abspath(path))
        return os.path.normpath(os.path.join(self.root, os.path.relpath(os.path.realpath(path), self.real)))

    def outside(self, path: str) -> bool:
        """Whether a path is really outside the root because of a link."""
        real = os.path.realpath(path)
        return real != self.real and not real.startswith(os.path.join(self.real, ""))

    def relative(self, place: str) -> str:
        return posix(os.path.relpath(place, self.root))

    def all(self) -> set[str]:
        """All files below the root."""
        return set(self.below(self.root, self.ignores.at_root(self.root), nested=True))

    def near(self, scripts: Iterable[str]) -> set[str]:
        """The files in the folders of scripts, and below the folders there that any of all these files imports."""
        places = map(self.place, scripts)
        homes = {self.relative(place if os.path.isdir(place) else os.path.dirname(place)) for place in places}
        starts = {"" if home == "." else f"{home}/" for home in homes}
        names: set[str] = set()
        files: set[str] = set()

        def enters(folder: str) -> bool:
            if any(start.startswith(folder) for start in starts):
                return True
            inside = (folder.removeprefix(start) for start in ("", *starts) if folder.startswith(start))
            imported = any(inner.partition("/")[0] in names for inner in inside)
            return imported and not marked(os.path.join(self.root, folder))

        looked: set[str] = set()
        while True:
            self._seen.clear()
            files = set(self.below(self.root, self.ignores.at_root(self.root), nested=True, enters=enters))
            for path in files - looked:
                names |= {name.lstrip(".").partition(".")[0] for name in self._imported(path)}
            if files == looked:
                return files
            looked = files

    def _imported(self, path: str) -> set[str]:
        try:
            return imported(path, contents(os.path.join(self.root, path), LARGEST))
        except OSError:
            return set()

    def below(
        self, folder: str, ignores: Ignores, nested: bool = False, enters: Callable[[str], bool] | None = None
    ) -> Iterator[str]:
        """The project's files under a folder, those that are left out not even looked at.

        Where `nested`, configurations further down decide about what is below them. `enters` may leave out folders.
        """
        relative = self.relative(folder)
        waiting = [(folder, "" if relative == "." else f"{relative}/", ignores)]
        while waiting:
            here, prefix, above = waiting.pop()
            try:
                with os.scandir(here) as found:
                    entries = {entry.name: entry for entry in found}
            except OSError:
                continue
            inner = above.inside(here) if ".gitignore" in entries or ".git" in entries else above
            if nested and not entries.keys().isdisjoint(FILES):
                inner = inner.under(self._configs.at(here))
            for name in self._kept(here, prefix, inner, entries):
                if name.endswith("/"):
                    if enters is None or enters(f"{prefix}{name}"):
                        waiting.append((os.path.join(here, name[:-1]), f"{prefix}{name}", inner))
                elif not entries[name].is_symlink() or self._first(entries[name].path):
                    yield f"{prefix}{name}"

    def _kept(
        self, folder: str, prefix: str, ignores: Ignores, entries: Mapping[str, os.DirEntry[str]]
    ) -> Iterable[str]:
        """The names of the files and folders of a folder that are not left out, folders with a slash behind."""
        asked, wish = [], self._wish(ignores.config)
        for name, entry in entries.items():
            if name not in ignores.names:
                if entry.is_dir(follow_symlinks=False):
                    asked.append(f"{name}/")
                elif self._file(entry, wish):
                    asked.append(name)
        asked.sort()
        if wish.plain and not ignores.patterned:
            return asked
        above = f"{posix(folder).rstrip('/')}/"

        def keep(name: str) -> bool:
            path, folderlike = f"{above}{name.rstrip('/')}", name.endswith("/")
            return (folderlike or self._included(path, wish)) and not ignores.hit(path, "", folderlike)

        return self._listings.kept(prefix, f"{wish.identity}{ignores.identity}", asked, keep)

    def homes(self, folder: str) -> Iterator[str | None]:
        """The projects below a folder that is in none; None for a file that is in none either."""
        waiting = [folder]
        while waiting:
            try:
                entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries:
                folderlike = entry.is_dir(follow_symlinks=False)
                if not (folderlike or self._wanted(entry)) or self.ignores.hit(
                    posix(entry.path), entry.name, folderlike
                ):
                    continue
                if not folderlike:
                    yield None
                elif marked(entry.path):
                    yield entry.path
                else:
                    waiting.append(entry.path)

    def outright(self, folder: str) -> Iterator[str]:
        """The files of a folder that the walk leaves out and that was named: the configured patterns do not count."""
        respects = self._configs.at(self.root).respect_gitignore
        ignores = Ignores(Config(root=folder, respect_gitignore=respects))
        return self.below(folder, ignores.from_here(folder))

    def excluded(self, place: str) -> bool:
        """Whether walking from the root would leave this place out."""
        ignores, here = self.ignores.at_root(self.root), self.root
        parts = _parts(os.path.relpath(place, self.root))
        for depth, name in enumerate(parts, start=1):
            ignores = ignores.inside(here).under(self._configs.at(os.path.normpath(here)))
            here = os.path.join(here, name)
            if ignores.hit(posix(here), name, depth < len(parts) or os.path.isdir(here)):
                return True
        return False

    def _wanted(self, entry: os.DirEntry[str]) -> bool:
        wish = self._wish(self.ignores.config)
        return self._file(entry, wish) and self._included(posix(entry.path), wish)

    def _file(self, entry: os.DirEntry[str], wish: _Wish) -> bool:
        """Whether an entry may be a file of the project, as far as no patterns are asked."""
        if wish.plain and not entry.name.endswith(SUFFIXES):
            if not self._always(posix(entry.path)):
                return False
        try:
            return entry.is_file()
        except OSError:  # a link to itself
            return False

    def _included(self, path: str, wish: _Wish) -> bool:
        return wish.plain or self._always(path) or wish.globs.match(path)

    def _always(self, path: str) -> bool:
        """Whether a file is read whatever is included, as it is no Python."""
        return is_settings(path) or (self._containers and is_container_file(path))

    def _first(self, link: str) -> bool:
        """Whether a linked file is outside the root and was not found through another link."""
        real = os.path.realpath(link)
        new = real not in self._seen and self.outside(real)
        self._seen.add(real)
        return new


class _Others(_Walk):
    """A walk for files that have certain names and are read for what they say of the program."""

    def __init__(self, configs: Configs, wanted: Callable[[str], bool]) -> None:
        super().__init__(configs)
        self._wanted_names = wanted

    def _file(self, entry: os.DirEntry[str], wish: _Wish) -> bool:
        return self._wanted_names(entry.name) and entry.is_file(follow_symlinks=False)

    def _included(self, path: str, wish: _Wish) -> bool:
        return True
