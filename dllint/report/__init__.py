"""What a run found, written for people and for programs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence

import msgspec

from dllint.finding import Finding
from dllint.fix import Fix
from dllint.source import Source

Findings = Sequence[tuple[Finding, Fix | None]]


class Context(msgspec.Struct, frozen=True):
    """What reporters need besides the findings. `names` maps codes to rule names."""

    root: str
    cwd: str
    names: Mapping[str, str]
    source: Callable[[str], Source]

    def absolute(self, path: str) -> str:
        """Where a file of the project lies."""
        return os.path.normpath(os.path.join(self.root, path))

    def relative(self, path: str) -> str:
        """The file as seen from the working directory, with forward slashes."""
        place = self.absolute(path)
        with contextlib.suppress(ValueError):  # another drive
            place = os.path.relpath(place, self.cwd)
        return place.replace(os.sep, "/")

    def location(self, path: str, offset: int) -> tuple[int, int]:
        """Row and column, both from 1."""
        return self.source(path).location(offset)
