"""Lists of names whose length depends on data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.project.data.contents import Content, Contents, Kind
from dllint.project.data.counted import Counted
from dllint.project.escape.shipped import Held, Holder
from dllint.project.evaluate.abstract_values import Seq, Value
from dllint.project.evaluate.at_rest import at_rest

if TYPE_CHECKING:
    from dllint.project import Project

__all__ = ["Kind", "Listings"]


class Listings:
    """Answers which values are lists of names."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.contents = project.analysis(Contents)
        self.counted = project.analysis(Counted)

    def of(self, value: Value) -> Kind | None:
        """The contents of a list of names of data-dependent length; None if it isn't known to be one."""
        return _kind(self.contents.of(value))

    def kept(self, held: Held) -> Kind | None:
        """The same of what a dataset keeps, which may be known by its length; None for what is made into rows."""
        found = _kind(self.counted.of(held))
        return None if found is not None and (held.holder, held.value) in self._made_into_rows else found

    @at_rest
    def _made_into_rows(self) -> frozenset[tuple[Holder, Value]]:
        """Lists of lines that come to rows of their pieces under one name, before these are kept: steps on the way."""
        return frozenset(
            (held.holder, line)
            for held in self.project.in_memory
            if isinstance(held.value, Seq) and held.value.expr.kind == "comprehension" and self._has_rows(held.value)
            for line in self._gone_over(held.value)
        )

    def _has_rows(self, made: Seq) -> bool:
        found = self.contents.of(made)
        return found is not None and found.kind is Kind.ROW

    def _gone_over(self, made: Seq) -> Iterator[Value]:
        """What a comprehension goes over."""
        for key, iterable in made.expr.keywords:
            if key == "in":
                yield from self.project.values(iterable, made.env)


def _kind(found: Content | None) -> Kind | None:
    return found.kind if found is not None and found.kind is not Kind.ROW else None
