"""What a loader ships where it has workers: `collate = f if debug else g` there, `workers = 0 if debug else 4` here."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Expr
from dllint.project.escape.copied_loaders import CopiedLoader
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Values
from dllint.project.evaluate.exclusion import Known, constant_in, exclude, known_at, known_from
from dllint.project.evaluate.shapes import Tests, unique
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.module import Binding

_Way = tuple[Expr, list[Known]]
"""An expression that gives a value, and what the tests state where it does."""


class WithWorkers:
    """The arguments of a loader, without those that it only has where it starts no workers."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries, loader: Loader) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.loader = loader
        self.env = loader.env
        self.known = self._where_some(boundaries, loader)
        """What the tests state where there are workers."""
        self.copied = CopiedLoader(evaluator, boundaries, loader)

    def values(self, expr: Expr, env: Env) -> Values:
        """The values of an argument where there are workers: those of a loader that never has any are all there."""
        found = self._by_tests(expr, env)
        if self.loader.workers is Workers.NONE:
            return found
        return tuple(
            value
            for value in found
            if not (isinstance(value, ExtInst | Inst) and self.boundaries.has_none_for(self.loader, value))
        )

    def without(self, expr: Expr, env: Env) -> Values:
        """The values that an argument only has where there are no workers."""
        left = self.values(expr, env)
        return tuple(value for value in self.evaluator.values(expr, env) if value not in left)

    def _by_tests(self, expr: Expr, env: Env) -> Values:
        taken_over = self.copied.values(expr, env)
        if taken_over:
            return taken_over
        ways = list(self._ways(expr, env)) if self.known and env is self.env else []
        left = [given for given, known in ways if not exclude(self.known, known)]
        if not left or len(left) == len(ways):
            return self.evaluator.values(expr, env)
        return unique(value for given in left for value in self.evaluator.values(given, env))

    def _where_some(self, boundaries: Boundaries, loader: Loader) -> list[Known]:
        number = loader.boundary.workers
        found, surely = boundaries.argument(loader, number) if number else ([], False)
        if (
            len(found) != 1
            or not surely
            or found[0][1] is not self.env
            or self.evaluator.index.outside_writes.get(number)
        ):
            return []
        ways = list(self._ways(*found[0]))
        some = [known for given, known in ways if boundaries.counts.of_expression(given, self.env) is not Workers.NONE]
        if len(some) != 1 or len(ways) < 2:
            return []
        return [known for known in some[0] if constant_in(self.env.module, self.env.function, known.subject)]

    def _ways(self, expr: Expr, env: Env) -> Iterator[_Way]:
        """The expressions one of which gives an argument; none where that isn't told by tests of the same function."""
        if expr.kind == "ifexp":
            test, *arms = expr.args
            yield from ((arm, list(known_from(test, holds))) for arm, holds in zip(arms, (True, False), strict=True))
        elif expr.kind == "name" and env.function >= 0 and expr.name in env.facts.bound:
            bindings = self.evaluator.names.seen(expr.name, env, expr.start)
            found = [list(self._of_binding(binding, tests, env)) for binding, tests in bindings]
            yield from (way for ways in found if all(found) for way in ways)

    def _of_binding(self, binding: Binding, tests: Tests, env: Env) -> Iterator[_Way]:
        event = binding.event
        if event is None or event.value is None or event.target is None or event.target.kind != "name":
            return
        if event.kind in ("assign", "annotate"):
            known = known_at(env.module, env.function, binding.start)
            known += [item for test, holds in tests for item in known_from(test, not holds)]
            inner = list(self._ways(event.value, env)) if event.value.kind == "ifexp" else []
            yield from ((given, [*known, *more]) for given, more in inner or [(event.value, [])])
