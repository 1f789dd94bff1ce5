"""Lists of names whose length depends on data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.project.data.contents import Contents, Kind
from dllint.project.evaluate.abstract_values import Value

if TYPE_CHECKING:
    from dllint.project import Project

__all__ = ["Kind", "Listings"]


class Listings:
    """Answers which values are lists of names."""

    def __init__(self, project: Project) -> None:
        self.contents = project.analysis(Contents)

    def of(self, value: Value) -> Kind | None:
        """The contents of a list of names of data-dependent length; None if it isn't known to be one."""
        found = self.contents.of(value)
        return found.kind if found is not None and found.kind is not Kind.ROW else None
