"""Python's collector of cyclic garbage, kept away where all that grows is in use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No collection meanwhile: trees, facts and values are looked at again and again, and are no garbage.

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
    """No search for garbage among what is there now: before Python's end it would be the last thing, and in vain.

    A sixth of the time of a run that remembers its verdict goes into that otherwise, and a fifteenth of a whole run.
    """
    gc.freeze()
