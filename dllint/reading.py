"""Files read defensively: the project may have put anything in the place of a file."""

from __future__ import annotations

import os
import re
import stat
import sys
from typing import IO, Any

SMALL = 1 << 20
"""Bytes; configuration, ignore files and lists of requirements are never larger."""
LARGEST = 32 << 20
"""Bytes; a larger file isn't source code."""
_DEEP = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]+[ \t]*\.[ \t]*){100}")
"""What Python's parser takes minutes for."""


def regular(place: str) -> tuple[IO[bytes], os.stat_result]:
    """A regular file, open, and its status. Raises OSError: no pipe is waited for, and no device is read."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(place, flags)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("not a regular file")
        return os.fdopen(handle, "rb"), status
    except OSError:
        os.close(handle)
        raise


def contents(place: str, most: int = SMALL) -> bytes:
    """A regular file's bytes, which are not more than that. Raises OSError."""
    stream, status = regular(place)
    with stream:
        if status.st_size > most:
            raise OSError(f"{status.st_size >> 20} MiB is too large")
        data = stream.read(status.st_size + 1)
        if len(data) > status.st_size:  # it grows, or is one of /proc
            data += stream.read(most + 1 - len(data))
    if len(data) > most:
        raise OSError(f"more than {most >> 20} MiB is too large")
    return data


def toml(text: str) -> dict[str, Any]:
    """What TOML says. Raises ValueError and RecursionError."""
    if not text.strip():
        return {}
    if _DEEP.search(text):
        raise ValueError("nested too deeply")
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)
