"""What a loader's own activation of a function doesn't make: `task == "test"` there, a loader for other tasks only.

Nor does an object have what it gets only where a method of it makes no loader: both ask the same of its attributes.

Where few calls in a row are told apart, the function that makes a loader and its data is an activation of which nothing
is known, once the data is asked for behind another call. The loader says which activation it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from dllint.finding import Note
from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Value
from dllint.project.evaluate.at_rest import AtRest, at_rest
from dllint.project.evaluate.exclusion import Known
from dllint.project.evaluate.reached import ALWAYS, Beginnings
from dllint.project.program.module import Module


class LoadersWay:
    """The activations that lead to a loader, or to what else starts processes, and what they don't make."""

    def __init__(self, evaluator: Evaluator, env: Env, call: Expr) -> None:
        self.evaluator = evaluator
        self._env = env
        self._call = call
        self._known_of = AtRest(evaluator, self._find_known_of)
        self._known: dict[tuple[Module, int], Env] = {}
        """Those whose call is known, by their functions; of more than one, the nearest to the loader."""
        for way in _callers(env):
            if way.call is not None and way.function >= 0:
                self._known.setdefault((way.module, way.function), way)

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

    def lacks(self, owner: Inst, attribute: str, written: Note) -> bool:
        """Whether an object gets nothing at a place if one of its methods leads here, by the tests around both.

        `if self.threads:` there, `if not self.threads:` here, and it is always the same.
        """
        known = self._known_of[owner]
        module = self.evaluator.index.modules[written.path]
        write = module.write_at(attribute, written.span) if known else None
        return write is not None and self.evaluator.attributes.own_tests.excludes(known, owner, module, write)

    def _find_known_of(self, owner: Inst) -> list[Known]:
        """What the tests in an object's methods state about it where these lead here."""
        at = self.evaluator.attributes.own_tests.at
        places = zip(_callers(self._env), (self._call, *(env.call for env in _callers(self._env))), strict=False)
        return [
            known
            for env, call in places
            if call is not None and env.receiver == owner
            for known in at(owner, env.module, env.function, call.start)
        ]

    def begins(self, beginnings: Beginnings) -> bool:
        """Whether one of the functions that nothing is seen to call leads here: others may never run."""
        return ALWAYS in beginnings or not self._leading.isdisjoint(beginnings)

    @at_rest
    def _leading(self) -> frozenset[tuple[str, int]]:
        """The functions that lead here."""
        found: dict[tuple[str, int], None] = {}
        waiting = [(env.module, env.function) for env in _callers(self._env)]
        while waiting:
            module, function = waiting.pop()
            if function >= 0 and (module.path, function) not in found:
                found[module.path, function] = None
                waiting.append((module, module.model.functions[function].parent))
                calls = self.evaluator.call_sites.callers(module, function)
                waiting += [(site.module, site.function) for site, _ in calls]
        return frozenset(found)


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
