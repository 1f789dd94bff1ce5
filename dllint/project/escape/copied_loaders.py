"""Loaders that take over what another one was given: `DataLoader(other.dataset, num_workers=other.num_workers)`.

Where the other may be one of several, what those of them have that have no workers goes to none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.model.facts import Expr
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import Env, Value, Values
from dllint.project.evaluate.exclusion import constant_in
from dllint.project.evaluate.shapes import unique
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.loaders.worker_counts import Workers


class _Shown(NamedTuple):
    """An attribute of what a parameter is that nothing rebinds."""

    owner: Expr
    env: Env
    attribute: Expr

    def is_of(self, other: _Shown) -> bool:
        """Whether both are attributes of one object."""
        return self.owner.name == other.owner.name and self.env is other.env


class CopiedLoader:
    """What a loader takes over where it has workers."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries, loader: Loader) -> None:
        self.evaluator = evaluator
        self._counts = boundaries.counts
        self._number = self._number_of(boundaries, loader)
        self._with_workers = self._left()

    def values(self, expr: Expr, env: Env) -> Values:
        """The values of an argument that is taken over together with the number of workers; else none."""
        shown = self._shown(expr, env) if self._number is not None and self._with_workers else None
        if shown is None or self._number is None or not shown.is_of(self._number):
            return ()
        return unique(value for owner in self._with_workers for value in self._of(owner, shown))

    def _number_of(self, boundaries: Boundaries, loader: Loader) -> _Shown | None:
        """The attribute that is the number of workers; None where code sets such an attribute later."""
        number = loader.boundary.workers
        if not number or self.evaluator.index.outside_writes.get(number):
            return None
        found, surely = boundaries.argument(loader, number)
        return self._shown(*found[0]) if surely and len(found) == 1 else None

    def _left(self) -> Values:
        """The objects that the number may be of, without those that have no workers; none if that leaves out none."""
        if self._number is None:
            return ()
        owners = self.evaluator.values(self._number.owner, self._number.env)
        left = tuple(owner for owner in owners if not self._has_none(owner, self._number))
        return left if len(left) < len(owners) else ()

    def _has_none(self, owner: Value, number: _Shown) -> bool:
        values = self._of(owner, number)
        return bool(values) and all(self._counts.of_value(value, number.env) is Workers.NONE for value in values)

    def _of(self, owner: Value, shown: _Shown) -> Values:
        attribute = shown.attribute
        return tuple(self.evaluator.attributes.attribute(owner, attribute.name, attribute, shown.env))

    def _shown(self, expr: Expr, env: Env) -> _Shown | None:
        *_, (attribute, where) = self._passed(expr, env)
        if attribute.kind != "attribute":
            return None
        owners = [pair for pair in self._passed(attribute.args[0], where) if self._parameter(*pair) is not None]
        return _Shown(owners[-1][0], owners[-1][1], attribute) if owners else None

    def _passed(self, expr: Expr, env: Env) -> Iterator[Argument]:
        """An argument, and as long as it is a parameter, what the calls on the way pass as that."""
        yield expr, env
        position = self._parameter(expr, env)
        if position is not None and env.call is not None and env.caller is not None:
            passed = self.evaluator.arguments.passed(env, position, env.facts.parameters[position])
            if len(passed) == 1:
                yield from self._passed(*passed[0])

    def _parameter(self, expr: Expr, env: Env) -> int | None:
        """Which parameter a name is that nothing rebinds."""
        if expr.kind != "name" or env.function < 0 or not constant_in(env.module, env.function, expr.name):
            return None
        parameters = enumerate(env.facts.parameters)
        return next(
            (i for i, item in parameters if item.name == expr.name and item.kind not in ("args", "kwargs")), None
        )
