"""What a loader's own activation of a function doesn't make: `task == "test"` there, a loader for other tasks only.

Where few calls in a row are told apart, the function that makes a loader and its data is an activation of which nothing
is known, once the data is asked for behind another call. The loader says which activation it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Value
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Module


class LoadersWay:
    """The activations that lead to a loader, and what they don't make."""

    def __init__(self, evaluator: Evaluator, loader: Loader) -> None:
        self.evaluator = evaluator
        self._known: dict[tuple[Module, int], Env] = {}
        """Those whose call is known, by their functions; of more than one, the nearest to the loader."""
        for env in _callers(loader.env):
            if env.call is not None and env.function >= 0:
                self._known.setdefault((env.module, env.function), env)

    def leaves_out(self, value: Value) -> bool:
        """Whether a value is made by calls that don't run in the activation that leads to the loader."""
        if not self._known or not isinstance(value, (Inst, ExtInst)) or value.env is None or value.call is None:
            return False
        *_, first = _callers(value.env)
        own = self._known.get((first.module, first.function))
        if own is None or first.call is not None:
            return False
        made = _begun_by(self.evaluator, value.env, own)
        places = zip(_callers(made), (value.call, *(env.call for env in _callers(made))), strict=False)
        may_run = self.evaluator.conditions.may_run
        return any(call is not None and not may_run(env, call.start) for env, call in places)


def _callers(env: Env) -> Iterator[Env]:
    """An activation and those that lead to it."""
    where: Env | None = env
    while where is not None:
        yield where
        where = where.caller


def _begun_by(evaluator: Evaluator, env: Env, own: Env) -> Env:
    """An activation that `own` leads to, in place of one of the same function of which nothing is known."""
    if env.caller is None:
        return own
    caller = _begun_by(evaluator, env.caller, own)
    return evaluator.env(env.module, env.function, env.call, caller, env.receiver, env.outer, env.skip)
