"""Lists of names whose length depends on data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.project.data.contents import Content, Contents, Kind
from dllint.project.data.counted import Counted
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Value

if TYPE_CHECKING:
    from dllint.project import Project

__all__ = ["Kind", "Listings"]


class Listings:
    """Answers which values are lists of names."""

    def __init__(self, project: Project) -> None:
        self.contents = project.analysis(Contents)
        self.counted = project.analysis(Counted)

    def of(self, value: Value) -> Kind | None:
        """The contents of a list of names of data-dependent length; None if it isn't known to be one."""
        return _kind(self.contents.of(value))

    def kept(self, held: Held) -> Kind | None:
        """The same of what a dataset keeps, which may be known by its length."""
        return _kind(self.counted.of(held))


def _kind(found: Content | None) -> Kind | None:
    return found.kind if found is not None and found.kind is not Kind.ROW else None
