"""When the code of a generator function runs: where its result is gone over, not where it is called."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Value
from dllint.project.evaluate.shapes import GENERATOR
from dllint.project.program.events import CONSUMERS, WRAPPERS, iterated_by

_READERS = frozenset({"attribute", "subscript", "comprehension", "compare", "yieldfrom"})
"""Expressions that read or go over a part, and hand it to nothing."""


class Generators:
    """Follows generators that are kept under a name: `batches = cycle(loader)`, and later `next(batches)`.

    Of a name that is handed on, to a function or under another name, the code counts as run where it is called.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def is_kept(self, event: Event, call: Expr, called: Env) -> bool:
        """Whether a call only creates a generator, which the event keeps."""
        if called.function < 0 or not called.facts.is_generator or called.facts.decorators:
            return False
        return _keeps(event, call) and event.target is not None and event.target.name in self._kept

    def resumed(self, event: Event, env: Env) -> Iterator[tuple[Expr, ExtInst]]:
        """The kept generators that an event goes over, or takes an item of, each with the expression that names it."""
        for expr in iterated_by(event) if self._kept else ():
            if any(part.name in self._kept for part in expr.walk() if part.kind in ("name", "attribute")):
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
    def _kept(self) -> frozenset[str]:
        """The names and attributes that keep what a generator function returns, and are handed on nowhere."""
        index = self.evaluator.index
        functions = (function for module in index for function in module.model.functions)
        names = frozenset(function.name for function in functions if function.is_generator)
        kept = {site.event.target.name for site in index.calls_named(names)
                if site.event.target is not None and _keeps(site.event, site.expr)}  # fmt: skip
        events = (event for module in index if kept for _, _, scope in module.scopes for event in scope)
        return frozenset(kept.difference(*(_handed_on(event) for event in events)))


def _keeps(event: Event, call: Expr) -> bool:
    """Whether an event gives a name to what a call returns."""
    return event.kind == "assign" and event.value is call


def _handed_on(event: Event) -> Iterator[str]:
    """The names of what an event passes to a call, returns, puts into something or gives another name."""
    if event.kind in ("return", "assign") and event.value is not None:
        yield event.value.name
    for expr in event.walk():
        takers = CONSUMERS if event.kind == "assign" else CONSUMERS | WRAPPERS  # a wrapper that is kept is handed on
        taken = expr.kind == "call" and expr.args[0].name in takers
        if expr.kind not in _READERS and not taken:
            parts = expr.args[1:] if expr.kind == "call" else expr.args
            yield from (part.name for part in (*parts, *(value for _, value in expr.keywords)))
