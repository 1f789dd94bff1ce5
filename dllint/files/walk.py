"""The files of the project, and which of them the arguments ask about.

Arguments are report targets; the project is everything under the root that is not excluded. Symbolic links to folders
are not followed (data sets lie behind them), unless named; a linked file counts once, by its real path.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from dllint.config import Config, marked
from dllint.documents.containers import is_container_file
from dllint.files.ignore import Globs, Ignores, posix
from dllint.files.listings import Listings

SUFFIXES = (".py", ".ipynb")
"""What is checked unless `include` is configured."""


class Selection(msgspec.Struct, frozen=True):
    """Paths relative to the root, with forward slashes, sorted."""

    files: tuple[str, ...]
    """The whole project."""
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


def select(
    config: Config,
    paths: Sequence[str],
    overlay: str = "",
    containers: bool = False,
    listings: Listings | None = None,
) -> Selection:
    """Walk the root once, then add what was named outright. `overlay` is a file that need not exist (stdin).

    `containers` asks for container files too; one that is named and not asked for is `ignored`. `listings` are those of
    an earlier walk with this configuration.
    """
    if paths and not overlay and not any(map(os.path.exists, paths)):  # a typo is no reason to look at all around it
        return Selection((), (), frozenset(), frozenset(), missing=tuple(paths))
    walk = _Walk(config, containers, listings)
    files = set(walk.below(config.root, walk.ignores.at_root(config.root)))
    targets: set[str] = set()
    named: set[str] = set()
    missing, ignored = [], []
    for path in paths:
        place = walk.place(path)
        if not os.path.exists(path):
            missing.append(path)
        elif config.force_exclude and walk.excluded(place):
            continue
        elif os.path.isdir(path):
            inside = _below(files, walk.relative(place))
            unseen = not inside and (walk.outside(place) or walk.excluded(place))
            targets |= set(walk.outright(place)) if unseen else inside
        elif not containers and is_container_file(posix(path)):
            ignored.append(path)
        else:
            named.add(walk.relative(place))
    if overlay and not (config.force_exclude and walk.excluded(walk.place(overlay))):
        named.add(walk.relative(walk.place(overlay)))
    targets |= named
    found = {file for file in files | targets if containers and is_container_file(file)}
    return Selection(
        files=tuple(sorted((files | targets) - found)),
        containers=tuple(sorted(found)),
        targets=frozenset(targets),
        named=frozenset(named),
        missing=tuple(missing),
        ignored=tuple(ignored),
    )


def _below(files: set[str], folder: str) -> set[str]:
    return files.copy() if folder == "." else {file for file in files if file.startswith(f"{folder}/")}


def projects(folder: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """The projects below a folder that is none, with the arguments that concern each; none where a file is in none.

    A project inside of another one is part of it.
    """
    found: dict[str, list[str]] = {}
    walk = _Walk(Config(root=folder), containers=True)
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
    for home in [*found][:1]:  # somebody must say so
        found[home] += missing
    return found


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


class _Walk:
    """One walk: what it leaves out, what it includes, and how paths are written."""

    def __init__(self, config: Config, containers: bool = False, listings: Listings | None = None) -> None:
        self.config = config
        self._listings = listings or Listings()
        self._containers = containers
        self.root = config.root
        self.real = os.path.realpath(config.root)
        self.ignores = Ignores(config)
        include = config.include if config.include is not None else ()
        self._include = Globs(include)
        self._plain = config.include is None
        self._wish = repr((containers, [(pattern.base, pattern.glob) for pattern in include]))
        self._seen: set[str] = set()

    def place(self, path: str) -> str:
        """An argument's absolute path; through links, the real one where it lies under the root."""
        if self.outside(path):
            return os.path.normpath(os.path.abspath(path))
        return os.path.normpath(os.path.join(self.root, os.path.relpath(os.path.realpath(path), self.real)))

    def outside(self, path: str) -> bool:
        """Whether a path really lies outside the root: a link leads there."""
        real = os.path.realpath(path)
        return real != self.real and not real.startswith(os.path.join(self.real, ""))

    def relative(self, place: str) -> str:
        return posix(os.path.relpath(place, self.root))

    def below(self, folder: str, ignores: Ignores) -> Iterator[str]:
        """The project's files under a folder, those that are left out not even looked at."""
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
            for name in self._kept(here, prefix, inner, entries):
                if name.endswith("/"):
                    waiting.append((os.path.join(here, name[:-1]), f"{prefix}{name}", inner))
                elif not entries[name].is_symlink() or self._first(entries[name].path):
                    yield f"{prefix}{name}"

    def _kept(
        self, folder: str, prefix: str, ignores: Ignores, entries: Mapping[str, os.DirEntry[str]]
    ) -> Iterable[str]:
        """The names of the files and folders of a folder that are not left out, folders with a slash behind."""
        asked = []
        for name, entry in entries.items():
            if name not in ignores.names:
                if entry.is_dir(follow_symlinks=False):
                    asked.append(f"{name}/")
                elif self._file(entry):
                    asked.append(name)
        asked.sort()
        if self._plain and not ignores.patterned:
            return asked
        above = f"{posix(folder).rstrip('/')}/"

        def keep(name: str) -> bool:
            path, folderlike = f"{above}{name.rstrip('/')}", name.endswith("/")
            return (folderlike or self._included(path)) and not ignores.hit(path, "", folderlike)

        return self._listings.kept(prefix, f"{self._wish}{ignores.identity}", asked, keep)

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
        ignores = Ignores(Config(root=folder, respect_gitignore=self.config.respect_gitignore))
        return self.below(folder, ignores.from_here(folder))

    def excluded(self, place: str) -> bool:
        """Whether walking from the root would leave this place out."""
        ignores, here = self.ignores.at_root(self.root), self.root
        parts = _parts(os.path.relpath(place, self.root))
        for depth, name in enumerate(parts, start=1):
            ignores, here = ignores.inside(here), os.path.join(here, name)
            if ignores.hit(posix(here), name, depth < len(parts) or os.path.isdir(here)):
                return True
        return False

    def _wanted(self, entry: os.DirEntry[str]) -> bool:
        return self._file(entry) and self._included(posix(entry.path))

    def _file(self, entry: os.DirEntry[str]) -> bool:
        """Whether an entry may be a file of the project, as far as no patterns are asked."""
        if self._plain and not entry.name.endswith(SUFFIXES):
            if not (self._containers and is_container_file(posix(entry.path))):
                return False
        try:
            return entry.is_file()
        except OSError:  # a link to itself
            return False

    def _included(self, path: str) -> bool:
        return self._plain or (self._containers and is_container_file(path)) or self._include.match(path)

    def _first(self, link: str) -> bool:
        """Whether a linked file lies outside the root and was not met through another link."""
        real = os.path.realpath(link)
        new = real not in self._seen and self.outside(real)
        self._seen.add(real)
        return new
