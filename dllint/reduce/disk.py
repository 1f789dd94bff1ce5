"""Files as they are on disk: regular, and of a plausible size."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from dllint.reading import LARGEST, contents
from dllint.reduce import Collected, collect_bytes, unreadable
from dllint.source import digest


class Fresh(NamedTuple):
    """A file that was read just now, the digest of its content, and what became of it."""

    path: str
    digest: bytes
    item: Collected
    packed: bytes = b""
    """The item as bytes, where it came from another process."""


def read(root: str, path: str) -> bytes:
    """A file's bytes. Raises OSError."""
    return contents(os.path.join(root, path), LARGEST)


def status_of(root: str, path: str) -> os.stat_result:
    """The status of a file that may be read. Raises OSError."""
    status = os.stat(os.path.join(root, path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a regular file")
    if status.st_size > LARGEST:
        raise OSError(f"{status.st_size // 2**20} MiB are too large")
    return status


def collect_file(root: str, path: str, data: bytes | None = None) -> Fresh:
    """Read and collect one file."""
    try:
        data = read(root, path) if data is None else data
    except OSError as error:
        return Fresh(path, b"", Collected(problem=unreadable(path, str(error.strerror or error))))
    return Fresh(path, digest(path, data), collect_bytes(path, data))
