"""The facts of container files."""

from __future__ import annotations

import re
from posixpath import dirname, join, normpath

import msgspec

from dllint.fix import Edit
from dllint.model.facts import Suppression
from dllint.source import Span

SIZE = "8g"
"""What the fixes give: a bound of what may be used, not memory that is set aside."""
MOUNT = "/dev/shm"


class Container(msgspec.Struct, frozen=True, kw_only=True):
    """One container that a file starts."""

    path: str
    span: Span
    name: str
    """What it is called among its like: files beside this one may say more of it. "" for a single command."""
    what: str
    """In words, for messages."""
    enough: bool
    """The file says something of its shared memory."""
    gpu: bool = False
    folder: str | None = None
    """The folder of the project that is built or mounted: "" is the project's root, None that none is."""
    image: str = ""
    """The image that it is made of, where none is built here."""
    words: tuple[str, ...] = ()
    """The words of its command."""
    remedy: str = ""
    edits: tuple[Edit, ...] = ()
    """What gives it shared memory; empty if there is no place to write it."""


class Containers(msgspec.Struct, frozen=True):
    """What a file says of containers."""

    containers: tuple[Container, ...] = ()
    suppressions: tuple[Suppression, ...] = ()


def words_of(texts: list[str]) -> tuple[str, ...]:
    """The words of commands that are handed to a shell, or word by word."""
    return tuple(word.strip("\"'[],;()") for text in texts for word in re.split(r"[\s]+", text) if word)


def beside(path: str, folder: str) -> str | None:
    """A folder that the file at `path` names, relative to the project's root; None for one outside of it."""
    found = normpath(join(dirname(path), folder))
    return None if found.startswith(("..", "/")) else "" if found == "." else found
