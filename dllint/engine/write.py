"""Write fixed files: completely or not at all, and without losing attributes of the file."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable

from dllint.files.atomic import TEMPORARY, replace
from dllint.reading import LARGEST, contents

STALE = 600
"""Seconds after which a temporary file is one that a killed run has left."""


class NotWritten(Exception):
    """The file is as it was; the message says why."""


class Interrupted(KeyboardInterrupt):
    """The user stopped a run that was writing; the message says how far it came."""


def write(root: str, path: str, before: bytes, after: bytes) -> None:
    """Replace a file's content in one step, keeping its mode, owner and extended attributes. Raises NotWritten.

    A link stays a link: what it leads to is written, where that is in the project. A file that is not what was read is
    left alone, and so is one with further hard links, which would keep the old text.
    """
    place = os.path.realpath(os.path.join(root, path))
    if not _is_inside(place, os.path.realpath(root)):
        raise NotWritten(f"it is a link to {place}, which is outside the project")
    try:
        if contents(place, LARGEST) != before:
            raise NotWritten("it changed in the meantime")
        status = os.stat(place)
        if not os.access(place, os.W_OK):
            raise NotWritten("it is not writable")
        if status.st_nlink > 1:
            raise NotWritten("it has other hard links, which would keep the old text")
        replace(place, after, stat.S_IMODE(status.st_mode), lambda temporary: _keep(place, status, temporary))
    except OSError as error:
        raise NotWritten(str(error.strerror or error)) from None


def _is_inside(place: str, folder: str) -> bool:
    try:
        return os.path.commonpath([folder, place]) == folder
    except ValueError:  # another drive
        return False


def _keep(place: str, status: os.stat_result, temporary: str) -> None:
    """Give a new file the owner and the extended attributes of the old one. Raises NotWritten."""
    own = os.stat(temporary)
    if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid) and hasattr(os, "chown"):
        try:
            os.chown(temporary, status.st_uid, status.st_gid)
        except OSError:
            raise NotWritten("it belongs to another user, and would not keep its owner") from None
        os.chmod(temporary, stat.S_IMODE(status.st_mode))  # a change of the owner clears bits of it
    if not hasattr(os, "listxattr"):
        return
    for name in os.listxattr(place):
        try:
            os.setxattr(temporary, name, os.getxattr(place, name))
        except OSError:
            if not name.startswith("security."):  # the system labels the new file itself
                raise NotWritten(f"its extended attribute `{name}` would be lost") from None


def tidy(root: str, paths: Iterable[str]) -> None:
    """Delete what a killed run has left beside these files."""
    for folder in {os.path.dirname(os.path.realpath(os.path.join(root, path))) for path in paths}:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if TEMPORARY.fullmatch(entry.name) and time.time() - entry.stat().st_mtime > STALE:
                    os.unlink(entry.path)
