"""Arguments that ask for the loader's own number of workers: `persistent_workers=workers > 0`."""

from __future__ import annotations

from dllint.model.facts import Constant, Expr
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import Env, ExtInst, ExtMethod, Free, Opaque, Value

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_TESTS: dict[tuple[str, Constant], bool] = {
    (">", 0): True, (">=", 1): True, ("!=", 0): True, ("<=", 0): False, ("<", 1): False, ("==", 0): False,
}  # fmt: skip
"""What comparisons of a number of workers say where there are some."""


class OwnNumber:
    """Answers what tests of a loader's number of workers say."""

    def __init__(self, evaluator: Evaluator, numbers: list[Argument], has_workers: bool) -> None:
        self.evaluator = evaluator
        self.numbers = numbers
        """What the call passes for the number."""
        self.has_workers = has_workers

    def truth(self, test: Expr, env: Env) -> bool | None:
        """Whether a test holds that asks whether the loader has workers; None for any other one."""
        if test.kind == "unary" and test.name == "not":
            inner = self.truth(test.args[0], env)
            return None if inner is None else not inner
        about, holds = _asked(test)
        return None if holds is None or not self._is_number(about, env) else holds is self.has_workers

    def of_value(self, value: Value) -> bool | None:
        """The same for what such a test has become elsewhere: a variable, an attribute."""
        match value:
            case Opaque(expr=expr, env=env):
                return self.truth(expr, env)
            case ExtInst(name="builtins.bool", call=expr, env=env):
                return self.truth(expr, env)
        return None

    def _is_number(self, about: Expr, env: Env) -> bool:
        """Whether an expression is what the call passes for the number, whatever else it may pass."""
        return bool(self.numbers) and all(self._are_one(about, env, *number) for number in self.numbers)

    def _are_one(self, one: Expr, env: Env, other: Expr, where: Env) -> bool:
        """Whether two expressions are one number: they read the same, or have the same value, which isn't known."""
        if one is other:
            return True
        if one.dotted and one.dotted == other.dotted and env is where:
            first, second = sorted((one, other), key=lambda expr: expr.start)
            return not self.evaluator.conditions.changed(second, env, first.end)
        values = self.evaluator.values(one, env)
        symbolic = len(values) == 1 and isinstance(values[0], ExtInst | ExtMethod | Free | Opaque)
        return symbolic and values == self.evaluator.values(other, where)


def _asked(test: Expr) -> tuple[Expr, bool | None]:
    """The expression that a test asks for, and what the test says if that is a number above 0."""
    if test.kind == "call" and test.args[0].dotted == "bool" and len(test.args) == 2:
        return test.args[1], True
    if test.kind != "compare" or len(test.args) != 2 or test.name not in _MIRRORED:
        return test, True
    left, right = test.args
    if left.kind == "constant":
        return right, _said(_MIRRORED[test.name], left)
    return left, _said(test.name, right)


def _said(name: str, number: Expr) -> bool | None:
    return _TESTS.get((name, number.value)) if number.kind == "constant" else None
