"""When the code of a generator function runs: where its result is gone over, not where it is called."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Value
from dllint.project.evaluate.shapes import GENERATOR
from dllint.project.program.events import WRAPPERS, iterated_by


class Generators:
    """Follows generators that are kept under a name: `batches = cycle(loader)`, and later `next(batches)`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def is_kept(self, event: Event, call: Expr, called: Env) -> bool:
        """Whether a call only creates a generator, which the event keeps."""
        if called.function < 0 or not called.facts.is_generator or called.facts.decorators:
            return False
        return event.kind == "assign" and event.value is call

    def resumed(self, event: Event, env: Env) -> Iterator[tuple[Expr, ExtInst]]:
        """The kept generators that an event goes over, or takes an item of, each with the expression that names it."""
        for expr in iterated_by(event) if self._keeps_any else ():
            if not (expr.kind == "call" and expr.args[0].name in self._names):  # where it is called, its code runs
                for value in self.evaluator.values(expr, env):
                    yield from ((expr, made) for made in self._generators_in(value))

    def _generators_in(self, value: Value, depth: int = 3) -> Iterator[ExtInst]:
        if not isinstance(value, ExtInst) or value.call.kind != "call":
            return
        if value.name == GENERATOR:
            yield value
        elif depth and value.name.rpartition(".")[2] in WRAPPERS:
            for arg in value.call.args[1:]:
                for inner in self.evaluator.values(arg, value.env):
                    yield from self._generators_in(inner, depth - 1)

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of all generator functions of the project."""
        functions = (function for module in self.evaluator.index for function in module.model.functions)
        return frozenset(function.name for function in functions if function.is_generator)

    @cached_property
    def _keeps_any(self) -> bool:
        """Whether code anywhere keeps what a generator function returns."""
        return any(site.event.value is site.expr for site in self.evaluator.index.calls_named(self._names))
