"""The files of an archive or a commit, written into a folder that nothing leads out of.

Files of code and small ones are written: dllint reads no others. Links are never made, so nothing can be followed.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterable

from dllint.files.walk import SUFFIXES
from dllint.survey.limits import MIB, Broken, Hostile, Limits, TooLarge, Unfit

SMALL = MIB
"""Bytes; configuration and lists of requirements are never larger."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$|[<>:\"|?*\x00-\x1f]|[. ]$")
"""Names that Windows gives another meaning."""


class Unpacked:
    """A folder that is filled, with what may still go into it."""

    def __init__(self, root: str, limits: Limits) -> None:
        self.root = root
        self._limits = limits
        self._members = 0
        self._left = limits.unpacked * MIB
        self._written: set[str] = set()

    def meet(self, name: str) -> tuple[str, ...]:
        """The parts of a member's name; every member counts, also one that is not written. Raises Refused."""
        self._members += 1
        if self._members > self._limits.files:
            raise TooLarge(f"it holds more than {self._limits.files:,} files")
        return self._parts(name)

    def wants(self, parts: tuple[str, ...], size: int) -> bool:
        """Whether a file is one that dllint may read. Git's own folder is not: nothing of it is the project's."""
        return bool(parts) and ".git" not in parts and (size <= SMALL or parts[-1].endswith(SUFFIXES))

    def write(self, parts: tuple[str, ...], size: int, pieces: Iterable[bytes], again: bool = False) -> None:
        """Write a file of exactly `size` bytes; `again`: it may replace one of the same name. Raises Refused."""
        shown, place = "/".join(parts), os.path.join(self.root, *parts)
        if size > self._left:
            raise TooLarge(f"unpacked, it takes more than {self._limits.unpacked} MiB")
        if shown in self._written:
            if not again:
                raise Hostile(f"it holds two files called {_short(shown)}")
            os.unlink(place)
        self._written.add(shown)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "xb") as stream:
                for piece in pieces:
                    size -= len(piece)
                    self._left -= len(piece)
                    if size < 0:
                        raise Hostile(f"{_short(shown)} is larger than it says")
                    stream.write(piece)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise Broken(f"{_short(shown)} and another name cannot both be files here") from None
        except OSError as error:
            if error.errno in _FULL:
                raise Unfit(f"{self.root}: {error.strerror}") from None
            raise Broken(f"{_short(shown)} cannot be written: {error.strerror or error}") from None
        if size:
            raise Broken(f"{_short(shown)} is shorter than it says")

    def content(self, parts: tuple[str, ...]) -> bytes | None:
        """What was written under a name."""
        if "/".join(parts) not in self._written:
            return None
        with open(os.path.join(self.root, *parts), "rb") as stream:
            return stream.read()

    def project(self, bare: bool) -> str:
        """The project's folder: the one that all is in, as in a source archive, unless it is `bare`."""
        entries = [] if bare else [*os.scandir(self.root)]
        place = entries[0].path if len(entries) == 1 and entries[0].is_dir() else self.root
        # Whatever lies above must not configure it: dllint looks no further up than where git's folder is.
        os.makedirs(os.path.join(place, ".git"), exist_ok=True)
        return place

    def _parts(self, name: str) -> tuple[str, ...]:
        if "\0" in name:
            raise Hostile("a name in it has a NUL character")
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        lax = re.split(r"[/\\]", name)
        if name[:1] in ("/", "\\") or ".." in lax or re.match(r"[A-Za-z]:", name):
            raise Hostile(f"{_short(name)} leads out of its folder")
        if len(parts) > self._limits.depth:
            raise TooLarge(f"its folders are nested more than {self._limits.depth} deep")
        if sys.platform == "win32" and any(_RESERVED.search(part) for part in parts):
            raise Broken(f"{_short(name)} is not a name on Windows")
        return parts


def _short(name: str) -> str:
    shown = name if len(name) <= 80 else f"{name[:77]}..."
    return repr(shown)
