"""Python's collector of cyclic garbage, kept away where all that grows is in use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection in the block: trees, facts and values are used again and again, and aren't garbage.

    A fifth of the time of a whole run goes into that otherwise.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def forgotten() -> None:
    """Freeze the heap so that the final collection at exit skips it.

    A sixth of the time of a run that remembers its verdict goes into that otherwise, and a fifteenth of a whole run.
    """
    gc.freeze()
