"""Files as they lie on disk: regular, and of a size that a program may have."""

from __future__ import annotations

import os
import stat

from dllint.reduce import Collected, collect_bytes, pack, unreadable
from dllint.source import digest

Packed = tuple[str, bytes, bytes]
"""Path, digest of the content, what became of it."""

LARGEST = 32 * 1024 * 1024
"""Bytes; what is larger is no source code."""


def read(root: str, path: str) -> bytes:
    """A file's bytes. Raises OSError."""
    status_of(root, path)
    with open(os.path.join(root, path), "rb") as stream:
        return stream.read()


def status_of(root: str, path: str) -> os.stat_result:
    """The status of a file that may be read. Raises OSError."""
    status = os.stat(os.path.join(root, path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a regular file")
    if status.st_size > LARGEST:
        raise OSError(f"{status.st_size // 2**20} MiB are too large")
    return status


def collect_file(root: str, path: str, data: bytes | None = None) -> Packed:
    """Read and collect one file."""
    try:
        data = read(root, path) if data is None else data
    except OSError as error:
        return path, b"", pack(Collected(problem=unreadable(path, str(error.strerror or error))))
    return path, digest(path, data), pack(collect_bytes(path, data))
