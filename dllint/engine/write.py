"""Writing fixed files: all of a file or nothing of it."""

from __future__ import annotations

import os
import stat

from dllint.files.atomic import replace
from dllint.reading import LARGEST, contents


class NotWritten(Exception):
    """The file is as it was; the message says why."""


def write(place: str, before: bytes, after: bytes) -> None:
    """Replace a file's content in one step, keeping its mode. Raises NotWritten.

    A link stays a link: what it leads to is written. A file that is not what was read is left alone.
    """
    place = os.path.realpath(place)
    try:
        if contents(place, LARGEST) != before:
            raise NotWritten("it was changed meanwhile")
        mode = stat.S_IMODE(os.stat(place).st_mode)
        if not os.access(place, os.W_OK):
            raise NotWritten("it may not be written")
        replace(place, after, mode)
    except OSError as error:
        raise NotWritten(str(error.strerror or error)) from None
