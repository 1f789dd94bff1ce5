"""Mappings that calls unpack, `f(**options)`: whether one may hold more than what is seen to be put into it.

A parameter that such a mapping may fill unseen is UNKNOWN besides its default. Keys that are written down say whether
it may.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.knowledge import MAPPINGS
from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, ExtInst, Opaque, Seq, Value, stands

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


def is_of_mapping(value: Value) -> bool:
    """Whether a value is the one that a mapping may give a parameter unseen."""
    return isinstance(value, Opaque) and value.expr.kind == "star"


class OpenMappings:
    """Answers whether a `**mapping` may hold a value that isn't seen."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[tuple[int, int, str], bool] = {}
        self._unpacked: dict[Expr, Expr] = {}

    def unseen(self, call: Expr, env: Env, name: str) -> Iterator[Value]:
        """UNKNOWN for each mapping that a call unpacks, and that may hold more under a name than what is seen."""
        for key, mapping in call.keywords:
            if key == "**":
                expr, where = stands(mapping, env)
                if self._may_hold(expr, where, name):
                    yield Opaque(self._part(expr), where)

    def _part(self, mapping: Expr) -> Expr:
        """What stands for a part of a mapping: `**mapping`."""
        if mapping not in self._unpacked:
            self._unpacked[mapping] = Expr("star", mapping.start, mapping.end, args=(mapping,))
        return self._unpacked[mapping]

    def _may_hold(self, mapping: Expr, env: Env, name: str) -> bool:
        key = id(mapping), id(env), name
        return self.evaluator.ask(self._known, key, False, self._find, mapping, env, name)

    def _find(self, mapping: Expr, env: Env, name: str) -> bool:
        if self.evaluator.arguments.is_kwargs(mapping, env):
            return self._of_callers(env, name)
        values = self.evaluator.values(mapping, env)
        if not values:
            return not self.evaluator.fixpoint.is_open()
        return any(self._of_value(value, name) for value in values)

    def _of_callers(self, env: Env, name: str) -> bool:
        """Whether a function's `**kwargs` may: where no call is seen, nothing is known of them."""
        if self.evaluator.arguments.keeps_back(env, name):
            return False
        calls = list(self.evaluator.arguments.calls(env))
        if not calls:
            return not self.evaluator.fixpoint.is_open()
        return any(any(True for _ in self.unseen(call, caller, name)) for call, caller in calls)

    def _of_value(self, value: Value, name: str) -> bool:
        match value:
            case Seq(expr=Expr(kind="dict", args=parts), env=env):
                keys = [key for key in parts[::2] if key.keyword(name) is None]
                inner = [key.args[0] for key in keys if key.kind == "star"]
                computed = any(key.kind not in ("star", "constant") for key in keys)
                return computed or any(self._may_hold(expr, env, name) for expr in inner)
            case ExtInst(call=call, env=env) if value.name in MAPPINGS and call.kind == "call":
                inner = [expr for key, expr in call.keywords if key == "**"]
                return any(self._may_hold(expr, env, name) for expr in (*call.args[1:], *inner))
        return True
