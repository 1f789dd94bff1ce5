"""Lists of elements that another attribute of the same object has: `self.clips.append(self.videos[number])`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.data.behind import assigned
from dllint.project.data.growth import Growth
from dllint.project.evaluate.abstract_values import Env, Seq, Value

if TYPE_CHECKING:
    from dllint.project import Project


class References:
    """Answers which attributes have the elements of a list already: it copies none of them."""

    def __init__(self, project: Project) -> None:
        self.growth = project.analysis(Growth)

    def of(self, value: Value) -> frozenset[str]:
        """The attributes whose elements these are; none if there may be another one among them."""
        named = [_taken_from(element, env) for element, env in self._elements(value)]
        return frozenset(filter(None, named)) if all(named) else frozenset()

    def _elements(self, value: Value) -> Iterator[tuple[Expr | None, Env]]:
        if isinstance(value, Seq) and value.expr.kind == "comprehension":
            yield (value.expr.args[-1] if value.expr.name == "list" else None), value.env
        elif isinstance(value, Seq):
            yield from ((part, value.env) for part in value.expr.args)
            for filling in self.growth.fillings(value):
                what = filling.what
                added = what.kind == "call" and what.args[0].name == "append" and not filling.grouped
                yield (what.args[-1] if added else None), filling.env


def _taken_from(element: Expr | None, env: Env) -> str:
    """The attribute of its own object that an element is picked from: `videos` of `self.videos[number]`."""
    if element is not None and element.kind == "name":
        given = assigned(element, env)
        element = given[0] if len(given) == 1 else None
    if element is None or element.kind != "subscript" or element.args[1].kind == "slice":
        return ""
    kept = element.args[0]
    own = kept.kind == "attribute" and kept.args[0].kind == "name"
    return kept.name if own and kept.args[0].name == env.module.receiver_name(env.function) else ""
