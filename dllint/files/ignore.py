"""Excludes and .gitignore files, asked folder by folder while walking."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.config import Config, Pattern, upwards
from dllint.reading import contents
from dllint.source import hashed

if TYPE_CHECKING:
    from dllint.files.globs import Spec

DEFAULT_EXCLUDE = frozenset(
    {
        *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox"),
        *(".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode"),
        *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages"),
        *("venv",),
    }
)
"""Names of files and folders that are left out unless `exclude` is configured."""


def posix(path: str) -> str:
    """The path with forward slashes."""
    return path.replace(os.sep, "/")


class _Spec:
    """The patterns of one folder, compiled when they are asked for the first time: that takes a while."""

    def __init__(self, base: str, lines: Iterable[str]) -> None:
        self._prefix = base if base.endswith("/") else f"{base}/"
        self._lines = lines

    @cached_property
    def _compiled(self) -> Spec:
        from dllint.files.globs import Spec  # a run in which nothing changed asks no pattern

        return Spec(self._lines)

    def verdict(self, path: str, folder: bool) -> bool | None:
        """True: covered, False: excepted by a `!` pattern, None: not mentioned."""
        inside = path.startswith(self._prefix)
        return self._compiled.verdict(path[len(self._prefix) :], folder) if inside else None

    def covers(self, path: str, folder: bool) -> bool:
        """Whether a path, or a folder that contains it, is covered."""
        inside = path.startswith(self._prefix)
        return inside and self._compiled.covers(path[len(self._prefix) :], folder)


class Globs:
    """Gitignore-style patterns, each relative to its own folder. Paths are absolute, with forward slashes."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        by_base: dict[str, list[str]] = {}
        for pattern in patterns:
            by_base.setdefault(posix(pattern.base), []).append(pattern.glob)
        self._specs = [_Spec(base, globs) for base, globs in by_base.items()]

    def __bool__(self) -> bool:
        return bool(self._specs)

    def match(self, path: str, folder: bool = False) -> bool:
        """Whether a pattern covers the file or folder."""
        return any(spec.covers(path, folder) for spec in self._specs)


class Ignores:
    """What the walk leaves out: names, configured patterns, and the .gitignore files met on the way down.

    These count inside a git repository, as they do for git and Ruff: an archive of one holds tracked files, whatever a
    pattern says.
    """

    def __init__(self, config: Config) -> None:
        self._configure(config)
        self._git = False
        """Inside a repository whose ignore files count."""
        self._specs: tuple[_Spec, ...] = ()
        self.identity = self._own
        """Of all patterns that count here."""

    def _configure(self, config: Config) -> None:
        patterns = (*(config.exclude or ()), *config.extend_exclude)
        self.config = config
        self.names = DEFAULT_EXCLUDE if config.exclude is None else frozenset[str]()
        self._globs = Globs(patterns)
        self._respects = config.respect_gitignore
        self._own = repr([(pattern.base, pattern.glob) for pattern in patterns])

    @property
    def patterned(self) -> bool:
        """Whether more is left out than names say."""
        return bool(self._globs or self._specs)

    def at_root(self, root: str) -> Ignores:
        """With the ignore files of the repository above the root."""
        if not self._respects:
            return self
        top = _repository(root)
        if top is None:
            return self
        above = self._in_git()._with(top, _exclude_file(os.path.join(top, ".git")))
        places = list(upwards(root))
        for place in reversed(places[1 : places.index(top) + 1]):
            above = above._with(place, os.path.join(place, ".gitignore"))
        return above

    def from_here(self, folder: str) -> Ignores:
        """With the ignore files from a folder on down, if it is in a repository, and none of those above."""
        return self._in_git() if self._respects and _repository(folder) else self

    def inside(self, folder: str) -> Ignores:
        """With the folder's own .gitignore."""
        new = self._respects and not self._git and os.path.exists(os.path.join(folder, ".git"))
        here = self._in_git() if new else self
        return here._with(folder, os.path.join(folder, ".gitignore")) if here._git else here

    def under(self, config: Config) -> Ignores:
        """With the patterns of the configuration of a folder further down in place of those above it."""
        if config is self.config:
            return self
        more = self._copy()
        more._configure(config)
        more._specs = self._specs if more._respects else ()
        more.identity = hashed(repr((self.identity, more._own)).encode("utf-8", "backslashreplace"))
        return more

    def hit(self, path: str, name: str, folder: bool) -> bool:
        """Whether this entry of a folder is left out."""
        if name in self.names or self._globs.match(path, folder):
            return True
        for spec in reversed(self._specs):
            verdict = spec.verdict(path, folder)
            if verdict is not None:
                return verdict
        return False

    def _in_git(self) -> Ignores:
        """The same, inside a repository."""
        more = self._copy()
        more._git = True
        return more

    def _copy(self) -> Ignores:
        more = Ignores.__new__(Ignores)
        vars(more).update(vars(self))
        return more

    def _with(self, base: str, file: str) -> Ignores:
        text = _read(file)
        lines = text.replace("\r\n", "\n").split("\n")
        if not any(line.strip() and not line.startswith("#") for line in lines):
            return self
        more = self._in_git()
        more._specs = (*self._specs, _Spec(posix(base), lines))
        more.identity = hashed(repr((self.identity, base, text)).encode("utf-8", "backslashreplace"))
        return more


def _read(file: str) -> str:
    """A file's text; "" where there is none."""
    try:
        return contents(file).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _repository(folder: str) -> str | None:
    """The repository that a folder belongs to."""
    return next((place for place in upwards(folder) if os.path.exists(os.path.join(place, ".git"))), None)


def _exclude_file(git: str) -> str:
    """`info/exclude`; in a worktree or submodule, `.git` is a file that names the real folder."""
    if os.path.isfile(git):
        git = os.path.normpath(os.path.join(git, "..", _read(git).partition("gitdir:")[2].strip()))
        common = os.path.join(git, "commondir")
        if os.path.isfile(common):
            git = os.path.normpath(os.path.join(git, _read(common).strip()))
    return os.path.join(git, "info", "exclude")
