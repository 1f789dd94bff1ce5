"""What the project's other files give to options: which files are asked, and that not too many are read.

Only files that the walk would not leave out count, regular ones of a bounded size. Nothing is walked or read before
somebody asks.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from dllint.config import Configs
from dllint.documents.demands import Demand, Passed, demands, is_asking, passed
from dllint.files.walk import others
from dllint.reading import contents

MOST = 1_000
"""Files; those near the root come first."""
LARGEST = 1 << 16
"""Bytes; what is longer is data."""
_IN_FOLDER = 200
"""A folder with more such files holds data."""
_State = tuple[int, int, int, int]
_Given = TypeVar("_Given", Demand, Passed)
_Find = Callable[[str, str, frozenset[str]], Iterator[_Given]]
_Known = dict[tuple[object, str, frozenset[str]], tuple[_State, tuple[Any, ...]]]


class Demands:
    """Reads the files, and remembers what it read of those that stay the same."""

    def __init__(self, configs: Configs, known: _Known | None = None) -> None:
        self._configs = configs
        self._known: _Known = {} if known is None else known
        self.left = 0
        """How many files weren't asked, as there are too many."""

    def again(self) -> Demands:
        """The same, after files may have changed."""
        return Demands(self._configs, self._known)

    def of(self, names: frozenset[str]) -> tuple[Demand, ...]:
        """The numbers above 0 that files give to an option that has these names, in the order of their paths."""
        return tuple(demand for path in self._paths for demand in self._in(path, names, demands) if demand.number)

    def passed(self, names: frozenset[str]) -> tuple[Passed, ...]:
        """The texts that command lines give to such an option, in the order of the files' paths."""
        return tuple(given for path in self._paths for given in self._in(path, names, passed))

    @cached_property
    def _paths(self) -> list[str]:
        """The files that are asked."""
        found = others(self._configs, is_asking)
        folders = Counter(path.rpartition("/")[0] for path in found)
        few = [path for path in found if folders[path.rpartition("/")[0]] <= _IN_FOLDER]
        self.left = max(len(few) - MOST, 0)
        return sorted(sorted(few, key=lambda path: (path.count("/"), path))[:MOST])

    def _in(self, path: str, names: frozenset[str], find: _Find[_Given]) -> tuple[_Given, ...]:
        place, key = os.path.join(self._configs.root, path), (find, path, names)
        with contextlib.suppress(OSError, UnicodeDecodeError):
            status = os.stat(place)
            state = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
            if key not in self._known or self._known[key][0] != state:
                text = contents(place, LARGEST).decode("utf-8-sig")
                named = any(name in text for name in names)
                self._known[key] = state, tuple(find(path, text, names)) if named else ()
            return self._known[key][1]
        return ()
