"""Writing a file in one step: all of it or nothing."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable

TEMPORARY = re.compile(r"\.dllint-[0-9a-f]{16}\.tmp")
"""The name of a file that is being written."""


def replace(
    place: str, data: bytes, mode: int | None = None, finish: Callable[[str], None] = lambda temporary: None
) -> None:
    """Put a file in the place of another, or where none is. Raises OSError; what was there is there still then.

    Without a mode it is for its owner alone. `finish` may change the new file before it takes the place.
    """
    temporary = os.path.join(os.path.dirname(place), f".dllint-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb", opener=_private) as stream:
            stream.write(data)
        if mode is not None:
            os.chmod(temporary, mode)
        finish(temporary)
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def save(place: str, data: bytes) -> None:
    """Write a file for a user: a link stays a link, a mode stays, a new file has the usual one. Raises OSError.

    What isn't a file (a pipe, `/dev/stdout`) is written to.
    """
    if os.path.exists(place) and not os.path.isfile(place):
        with open(place, "wb") as stream:
            stream.write(data)
    else:
        place = os.path.realpath(place)
        replace(place, data, _mode(place))


def _private(file: str, flags: int) -> int:
    """Opens a file that only its owner may read, as `tempfile` does, whose import takes a tenth of a hook's time."""
    return os.open(file, flags, 0o600)


def _mode(place: str) -> int:
    try:
        return stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
