"""The sources of a survey: folders, git repositories at a commit, archives, and text files that list any of these."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from dllint import config
from dllint.survey import git
from dllint.survey.limits import Broken

Form = Literal["folder", "git", "archive", "missing"]
ARCHIVES = (".whl", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
LIST = ".txt"
_SDIST = re.compile(r"(?P<name>.+?)-\d")
_CHUNK = 1024 * 1024


class Tree(msgspec.Struct, frozen=True):
    """One source. `name` is what it is called in the database, as it was written."""

    name: str
    form: Form
    path: str
    revision: str = ""

    @property
    def project(self) -> str:
        """What stays the same from version to version, so that two surveys can be compared."""
        if self.form == "git":
            return self.name.removesuffix(f"@{self.revision}") if self.revision else self.name
        if self.form != "archive":
            return self.name
        file = os.path.basename(self.path)
        named = _SDIST.match(file)
        return re.sub(r"[-_.]+", "-", named["name"]).lower() if named else file


class NoSource(Exception):
    """An argument that is no source; the message says which."""


def read(arguments: Sequence[str]) -> list[Tree]:
    """The sources that the arguments name, each once. Raises NoSource for an argument that does not exist."""
    found: dict[str, Tree] = {}
    for argument in arguments:
        if argument.endswith(LIST) and os.path.isfile(argument):
            trees = [*_listed(argument)]
        else:
            trees = [tree(argument)]
            if trees[0].form == "missing":
                raise NoSource(f"{argument}: {_lacking(argument)}")
        for each in trees:
            known = found.setdefault(each.name, each)
            if known != each:
                again = msgspec.structs.replace(each, name=each.path)
                found.setdefault(again.name, again)
    return list(found.values())


def _listed(file: str) -> Iterator[Tree]:
    """The sources of a list: one a line, relative to the list; `#` begins a comment."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise NoSource(f"{file}: the list cannot be read: {error}") from None
    for line in text.splitlines():
        written = line.partition(" #")[0].strip()
        if written and not written.startswith("#"):
            yield tree(written, os.path.dirname(file))


def tree(written: str, base: str = "") -> Tree:
    """The source that a text names. What is none is `missing`: a survey records it and goes on."""
    path = os.path.abspath(os.path.join(base, os.path.expanduser(written)))
    name = written.replace(os.sep, "/").rstrip("/") or written
    if os.path.isdir(path):
        return Tree(name, "git" if git.bare(path) else "folder", path)
    if os.path.isfile(path) and path.lower().endswith(ARCHIVES):
        return Tree(name, "archive", path)
    place, at, revision = path.rpartition("@")
    if at and git.folder(place):
        return Tree(name, "git", place, revision)
    return Tree(name, "missing", path)


def _lacking(path: str) -> str:
    if os.path.exists(path):
        return f"is not a folder, git repository, list ({LIST}) or archive ({', '.join(ARCHIVES)})"
    return "no such file or folder"


def identity(tree: Tree) -> str:
    """What the content is known by: archives by their bytes, repositories by their commit, folders by their files'
    states on disk. Raises Broken and Unfit."""
    try:
        match tree.form:
            case "archive":
                return f"sha256:{_file_digest(tree.path)}"
            case "git":
                return f"git:{git.commit(tree.path, tree.revision)}"
            case "folder":
                return f"state:{_folder_digest(tree.path)}"
            case _:
                raise Broken(_lacking(tree.path))
    except OSError as error:
        raise Broken(f"cannot be read: {error.strerror or error}") from None


def _file_digest(path: str) -> str:
    seen = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
    return seen.hexdigest()


def _folder_digest(path: str) -> str:
    """Of the files' names, sizes and times, and of the configuration, which may come from above the folder."""
    seen = hashlib.sha256()
    try:
        told = msgspec.to_builtins(config.load((path,)), order="deterministic")
        seen.update(repr(told).encode("utf-8", "backslashreplace"))
    except config.ConfigError as error:
        seen.update(str(error).encode("utf-8", "surrogateescape"))
    for place, status in _states(path):
        name = os.fsencode(os.path.relpath(place, path))
        seen.update(b"%b\0%d\0%d\0" % (name, status.st_size, status.st_mtime_ns))
    return seen.hexdigest()


def _states(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files under a folder with their states, in a fixed order; git's own are left out."""
    for folder, inner, files in os.walk(path):
        inner[:] = sorted(name for name in inner if name != ".git")
        for name in sorted(files):
            place = os.path.join(folder, name)
            yield place, os.lstat(place)
