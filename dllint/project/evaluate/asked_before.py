"""What callers ask of what they pass: `Crop(size)` below `if size is not None` runs one branch of `Crop.__init__`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env
from dllint.project.evaluate.exclusion import Known, constant_in, exclude, known_from, stated_at, subject_of
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class AskedBefore:
    """Answers what a test of a parameter says by the tests around the call that passes it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._stated: OnDemand[tuple[Module, int, int], list[tuple[int, Known]]] = OnDemand(
            lambda place: list(stated_at(*place))
        )

    def truth(self, test: Expr, env: Env) -> bool | None:
        """True or False where the caller has asked the same, or what contradicts it; None elsewhere."""
        if env.call is None or env.caller is None or env.function < 0:
            return None
        told = next(known_from(test, True), None)
        passed = self._passed(told.subject, env) if told is not None else None
        subject = subject_of(passed) if passed is not None else ""
        if told is None or passed is None or not subject:
            return None
        module, function = env.caller.module, env.caller.function
        here = [
            known._replace(subject=told.subject)
            for asked, known in self._stated[module, function, passed.start]
            if known.subject == subject and constant_in(module, function, subject, asked)
        ]
        for holds in (True, False):
            if exclude(here, known_from(test, holds)):
                return not holds
        return None

    def _passed(self, name: str, env: Env) -> Expr | None:
        """What the call of an activation passes for a parameter that keeps it."""
        parameters = env.facts.parameters
        named = (place for place, item in enumerate(parameters) if item.name == name)
        position = next((place for place in named if parameters[place].kind not in ("args", "kwargs")), None)
        if position is None or name == env.module.receiver_name(env.function):
            return None
        found = self.evaluator.arguments.passed(env, position, parameters[position])
        kept = constant_in(env.module, env.function, name)
        return found[0][0] if kept and len(found) == 1 and found[0][1] is env.caller else None
