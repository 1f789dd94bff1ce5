"""The files of the project, and which of them the arguments ask about.

Arguments are report targets; the project is everything under the root that is not excluded. Symbolic links to folders
are not followed (data sets lie behind them), unless named; a linked file counts once, by its real path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from dllint.config import Config, marked
from dllint.documents.containers import is_container_file
from dllint.files.ignore import Globs, Ignores, posix

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


def select(config: Config, paths: Sequence[str], overlay: str = "", containers: bool = False) -> Selection:
    """Walk the root once, then add what was named outright. `overlay` is a file that need not exist (stdin).

    `containers` asks for container files too; one that is named and not asked for is `ignored`.
    """
    walk = _Walk(config, containers)
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
            unseen = walk.outside(place) or walk.excluded(place)
            targets |= set(walk.outright(place)) if unseen else _below(files, walk.relative(place))
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

    All paths are absolute. A project inside of another one is part of it.
    """
    found: dict[str, list[str]] = {}
    walk = _Walk(Config(root=folder), containers=True)
    for place in map(os.path.abspath, paths):
        here = folder
        for name in Path(os.path.relpath(place, folder)).parts:
            here = os.path.join(here, name)
            if os.path.isdir(here) and marked(here):
                found.setdefault(here, []).append(place)
                break
        else:
            inner = list(walk.homes(place)) if os.path.isdir(place) else [None]
            if None in inner:
                return {}
            for home in filter(None, inner):
                found.setdefault(home, []).append(home)
    return found


class _Walk:
    """One walk: what it leaves out, what it includes, and how paths are written."""

    def __init__(self, config: Config, containers: bool = False) -> None:
        self.config = config
        self._containers = containers
        self.root = config.root
        self.real = os.path.realpath(config.root)
        self.ignores = Ignores(config)
        include = config.include if config.include is not None else ()
        self._include = Globs(include)
        self._plain = config.include is None
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
        waiting = [(folder, ignores)]
        while waiting:
            here, above = waiting.pop()
            try:
                entries = sorted(os.scandir(here), key=lambda entry: entry.name)
            except OSError:
                continue
            inner = above.inside(here) if any(entry.name in (".gitignore", ".git") for entry in entries) else above
            for entry in entries:
                folderlike = entry.is_dir(follow_symlinks=False)
                if not (folderlike or self._wanted(entry)):
                    continue
                if not inner.hit(posix(entry.path), entry.name, folderlike):
                    if folderlike:
                        waiting.append((entry.path, inner))
                    elif not entry.is_symlink() or self._first(entry.path):
                        yield self.relative(entry.path)

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
        parts = Path(os.path.relpath(place, self.root)).parts
        for depth, name in enumerate(parts, start=1):
            ignores, here = ignores.inside(here), os.path.join(here, name)
            if ignores.hit(posix(here), name, depth < len(parts) or os.path.isdir(here)):
                return True
        return False

    def _wanted(self, entry: os.DirEntry[str]) -> bool:
        container = self._containers and is_container_file(posix(entry.path))
        if self._plain and not container and not entry.name.endswith(SUFFIXES):
            return False
        try:
            return entry.is_file() and (self._plain or container or self._include.match(posix(entry.path)))
        except OSError:  # a link to itself
            return False

    def _first(self, link: str) -> bool:
        """Whether a linked file lies outside the root and was not met through another link."""
        real = os.path.realpath(link)
        new = real not in self._seen and self.outside(real)
        self._seen.add(real)
        return new
