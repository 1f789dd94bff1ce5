"""When the code of a generator function runs: where its result is gone over, not where it is called."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Value
from dllint.project.evaluate.shapes import GENERATOR
from dllint.project.program.events import WRAPPERS, iterated_by
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand


class Generators:
    """Follows generators that are kept under a name: `batches = cycle(loader)`, and later `next(batches)`.

    Of a name that is handed on, to a function or under another name, the code counts as run where it is called.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._asked = OnDemand(self._going_over)

    def is_kept(self, event: Event, call: Expr, called: Env) -> bool:
        """Whether a call only creates a generator, which the event keeps."""
        if called.function < 0 or not called.facts.is_generator or called.facts.decorators:
            return False
        if event.kind != "assign" or event.value is not call or event.target is None:
            return False
        return event.target.name in self.evaluator.index.kept_generators

    def resumed(self, env: Env) -> Iterator[tuple[Event, Expr, ExtInst]]:
        """The kept generators that code goes over, or takes an item of: where, by which expression."""
        for event, exprs in self._asked[env.module, env.function] if self.evaluator.index.kept_generators else ():
            if self.evaluator.conditions.may_run(env, event.start):
                for expr in exprs:
                    for value in self.evaluator.values(expr, env):
                        yield from ((event, expr, made) for made in self._generators_in(value))

    def _going_over(self, scope: tuple[Module, int]) -> list[tuple[Event, list[Expr]]]:
        """The events of a function that go over something with such a name: the same in every activation."""
        module, function = scope
        found = ((event, list(filter(self._names_one, iterated_by(event)))) for event in module.events(function))
        return [(event, exprs) for event, exprs in found if exprs]

    def _names_one(self, expr: Expr) -> bool:
        kept = self.evaluator.index.kept_generators
        return any(part.name in kept for part in expr.walk() if part.kind in ("name", "attribute"))

    def _generators_in(self, value: Value, depth: int = 3) -> Iterator[ExtInst]:
        if not isinstance(value, ExtInst) or value.call.kind != "call":
            return
        if value.name == GENERATOR:
            yield value
        elif depth and value.name.rpartition(".")[2] in WRAPPERS:
            for arg in value.call.args[1:]:
                for inner in self.evaluator.values(arg, value.env):
                    yield from self._generators_in(inner, depth - 1)
