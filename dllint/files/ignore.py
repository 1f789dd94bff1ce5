"""Excludes and .gitignore files, asked folder by folder while walking."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path

from pathspec import GitIgnoreSpec

from dllint.config import Config, Pattern

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


class Globs:
    """Gitignore-style patterns, each relative to its own folder. Paths are absolute, with forward slashes."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        by_base: dict[str, list[str]] = {}
        for pattern in patterns:
            by_base.setdefault(posix(pattern.base), []).append(pattern.glob)
        self._specs = [(base, GitIgnoreSpec.from_lines(globs)) for base, globs in by_base.items()]

    def match(self, path: str, folder: bool = False) -> bool:
        """Whether a pattern covers the file or folder."""
        return any(_verdict(base, spec, path, folder) for base, spec in self._specs)


class Ignores:
    """What the walk leaves out: names, configured patterns, and the .gitignore files met on the way down.

    These count inside a git repository, as they do for git and Ruff: an archive of one holds tracked files, whatever a
    pattern says.
    """

    def __init__(self, config: Config) -> None:
        self._names = DEFAULT_EXCLUDE if config.exclude is None else frozenset()
        self._globs = Globs((*(config.exclude or ()), *config.extend_exclude))
        self._respects = config.respect_gitignore
        self._git = False
        """Inside a repository whose ignore files count."""
        self._specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def at_root(self, root: str) -> Ignores:
        """With the ignore files of the repository above the root."""
        if not self._respects:
            return self
        top = _repository(root)
        if top is None:
            return self
        above = self._in_git()._with(top, _exclude_file(top / ".git"))
        places = [Path(root), *Path(root).parents]
        for place in reversed(places[1 : places.index(top) + 1]):
            above = above._with(place, place / ".gitignore")
        return above

    def from_here(self, folder: str) -> Ignores:
        """With the ignore files from a folder on down, if it lies in a repository, and none of those above."""
        return self._in_git() if self._respects and _repository(folder) else self

    def inside(self, folder: str) -> Ignores:
        """With the folder's own .gitignore."""
        new = self._respects and not self._git and Path(folder, ".git").exists()
        here = self._in_git() if new else self
        return here._with(Path(folder), Path(folder, ".gitignore")) if here._git else here

    def hit(self, path: str, name: str, folder: bool) -> bool:
        """Whether this entry of a folder is left out."""
        if name in self._names or self._globs.match(path, folder):
            return True
        for base, spec in reversed(self._specs):
            verdict = _verdict(base, spec, path, folder)
            if verdict is not None:
                return verdict
        return False

    def _in_git(self) -> Ignores:
        """The same, inside a repository."""
        more = copy(self)
        more._git = True
        return more

    def _with(self, base: Path, file: Path) -> Ignores:
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return self
        if not any(line.strip() and not line.startswith("#") for line in lines):
            return self
        more = self._in_git()
        more._specs = (*self._specs, (base.as_posix(), GitIgnoreSpec.from_lines(_valid(lines))))
        return more


def _repository(folder: str) -> Path | None:
    """The repository that a folder belongs to."""
    return next((place for place in (Path(folder), *Path(folder).parents) if (place / ".git").exists()), None)


def _valid(lines: Iterable[str]) -> Iterator[str]:
    """The patterns that git would accept; it skips the others silently."""
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        yield line


def _verdict(base: str, spec: GitIgnoreSpec, path: str, folder: bool) -> bool | None:
    """True: covered, False: excepted by a `!` pattern, None: not mentioned."""
    prefix = base if base.endswith("/") else f"{base}/"
    if not path.startswith(prefix):
        return None
    return spec.check_file(path[len(prefix) :] + ("/" if folder else "")).include


def _exclude_file(git: Path) -> Path:
    """`info/exclude`; in a worktree or submodule, `.git` is a file that names the real folder."""
    if git.is_file():
        named = git.read_text(encoding="utf-8", errors="replace").partition("gitdir:")[2].strip()
        git = Path(os.path.normpath(git.parent / named))
        common = git / "commondir"
        if common.is_file():
            git = Path(os.path.normpath(git / common.read_text(encoding="utf-8", errors="replace").strip()))
    return git / "info" / "exclude"
