"""Of which objects an item is read where one is read of a value: of what a wrapper, or a part of a split, hands on."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.knowledge import WORKER_METHODS
from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Value
from dllint.project.execution.call_graph import Reach, Running

_PARTS = "torch.utils.data.random_split"
_WRAPPERS = frozenset({f"torch.utils.data.{name}" for name in ("Subset", "ConcatDataset", "ChainDataset")})
_STEPS = 4


class ReadThrough:
    """Follows torch's wrappers by what they are given, and the project's own by the code that they run for an item."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._reach = Reach(evaluator, items=True)

    def objects(self, value: Value, steps: int = _STEPS) -> Iterator[Inst]:
        """The objects of which an item is read, the value itself first."""
        match value:
            case Inst():
                yield value
                yield from self._inner(value)
            case ExtInst(base=ExtInst(name=name) as base) if name == _PARTS and value.name == f"{_PARTS}[]" and steps:
                yield from self._given(base.call, base.env, steps)
            case ExtInst(name=name) if name in _WRAPPERS and steps:
                yield from self._given(value.call, value.env, steps)

    def _inner(self, inst: Inst) -> Iterator[Inst]:
        methods = [self.evaluator.classes.method(inst, name) for name in WORKER_METHODS]
        envs = (
            self.evaluator.activations.method_env(inst, method.func.module, method.func.index)
            for method in methods
            if method is not None
        )
        for running in self._reach.walk([Running(env, ()) for env in envs]):
            surely = running.decided and running.env.facts.name in WORKER_METHODS
            if surely and isinstance(running.env.receiver, Inst):
                yield running.env.receiver

    def _given(self, call: Expr, env: Env, steps: int) -> Iterator[Inst]:
        """Those of the dataset, or the list of datasets, that a wrapper takes first."""
        given = call.args[1] if len(call.args) > 1 else call.keyword("dataset") or call.keyword("datasets")
        for value in self.evaluator.values(given, env) if given is not None else ():
            for item in (value, *self.evaluator.containers.elements(value)):
                yield from self.objects(item, steps - 1)
