"""The start methods of processes: how each hands over what workers need, and where it is the default.

Source: CPython, Lib/multiprocessing/context.py, and the notes on `multiprocessing` in "What's New In Python 3.14".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Default(NamedTuple):
    """Where a start method is the default: a platform, and the minor versions of Python; none means all."""

    platform: str
    pythons: tuple[str, ...] = ()


class StartMethod(NamedTuple):
    """A way to start a process."""

    name: str
    pickles: bool
    """Workers are sent pickles; otherwise they inherit the memory of the main process."""
    defaults: tuple[Default, ...]
    where: str
    """The defaults in words."""


_FORKSERVER_SINCE = 14
"""The first minor version of Python 3 whose default on Linux isn't fork."""
LINUX_FORKS_BEFORE = f"3.{_FORKSERVER_SINCE}"
START_METHODS = (
    StartMethod(
        "fork",
        pickles=False,
        defaults=(Default("linux", tuple(f"3.{minor}" for minor in range(6, _FORKSERVER_SINCE))),),
        where=f"Linux, Python before {LINUX_FORKS_BEFORE}",
    ),
    StartMethod(
        "spawn",
        pickles=True,
        defaults=(Default("macos"), Default("windows")),
        where="macOS, Windows",
    ),
    StartMethod(
        "forkserver",
        pickles=True,
        defaults=(Default("linux", tuple(f"3.{minor}" for minor in range(_FORKSERVER_SINCE, 100))),),
        where=f"Linux, Python {LINUX_FORKS_BEFORE} and later",
    ),
)
NAMES = tuple(method.name for method in START_METHODS)
FORK, SPAWN, FORKSERVER = NAMES
ALL_METHODS = frozenset(NAMES)
PICKLING = frozenset(method.name for method in START_METHODS if method.pickles)
"""The start methods that pickle what workers are given."""


def outcomes(failing: Iterable[str], outcome: str, chosen: bool = False) -> dict[str, str]:
    """What a hazard of pickling or of a fresh import does: `outcome` where it fails, "ok" where memory is inherited.

    Where the code has chosen the start method, no platform spares it, and nothing is said of the others.
    """
    inherited = () if chosen else ALL_METHODS - PICKLING
    return dict.fromkeys(sorted(failing), outcome) | dict.fromkeys(sorted(inherited), "ok")
