"""What installed packages announce for dllint: their entry points.

Nearly always that is nothing, and to hear it from `importlib.metadata` takes as long as the rest of a short run. So
the bytes are asked first, and Python only where they name one of our groups, or where it looks in other places.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

from dllint.reading import contents

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OURS = b"[dllint."
"""How the heading of a group of ours begins."""
_METADATA = (".dist-info", ".egg-info")


def points(group: str) -> list[EntryPoint]:
    """The entry points of a group."""
    if not (_elsewhere() or _named(tuple(sys.path))):
        return []
    from importlib.metadata import entry_points

    return list(entry_points(group=group))


def _elsewhere() -> bool:
    """Whether a finder other than Python's own lists installed packages."""
    return any(hasattr(finder, "find_distributions") and finder is not PathFinder for finder in sys.meta_path)


@cache
def _named(path: tuple[str, ...]) -> bool:
    """Whether a package on the search path may announce something."""
    return any(os.path.isfile(entry) or any(_OURS in text for text in _texts(entry or ".")) for entry in path)


def _texts(folder: str) -> Iterator[bytes]:
    """What the packages in a folder announce, whatever it is for."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.lower().endswith(_METADATA) or name.lower() == "egg-info":
            try:
                yield contents(os.path.join(folder, name, "entry_points.txt"))
            except OSError:
                continue
