"""What a loader's own activation of a function doesn't make: `task == "test"` there, a loader for other tasks only.

Where few calls in a row are told apart, the function that makes a loader and its data is an activation of which nothing
is known, once the data is asked for behind another call. The loader says which activation it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Value
from dllint.project.loaders.boundaries import Loader


def is_made_for_others(evaluator: Evaluator, value: Value, loader: Loader) -> bool:
    """Whether a value is made by calls that don't run in the activation that leads to a loader."""
    if not isinstance(value, (Inst, ExtInst)) or value.env is None or value.call is None:
        return False
    *_, first = _callers(value.env)
    own = next((env for env in _callers(loader.env) if _is_same(env, first)), None)
    if own is None or first.call is not None:
        return False
    made = _begun_by(evaluator, value.env, own)
    places = zip(_callers(made), (value.call, *(env.call for env in _callers(made))), strict=False)
    return any(call is not None and not evaluator.conditions.may_run(env, call.start) for env, call in places)


def _callers(env: Env) -> Iterator[Env]:
    """An activation and those that lead to it."""
    where: Env | None = env
    while where is not None:
        yield where
        where = where.caller


def _is_same(env: Env, first: Env) -> bool:
    """Whether an activation that is known is one of the function of which nothing is known."""
    return env.call is not None and env.function >= 0 and (env.module, env.function) == (first.module, first.function)


def _begun_by(evaluator: Evaluator, env: Env, own: Env) -> Env:
    """An activation that `own` leads to, in place of one of the same function of which nothing is known."""
    if env.caller is None:
        return own
    caller = _begun_by(evaluator, env.caller, own)
    return evaluator.env(env.module, env.function, env.call, caller, env.receiver, env.outer, env.skip)
