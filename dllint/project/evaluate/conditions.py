"""Conditions: whether code under an `if` can run in an activation, three-valued."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.values import Const, Env, Ext, ExtInst, Func, Inst, Klass, Method, Seq, Value

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_TYPES = {
    "builtins.list": "list", "builtins.tuple": "tuple", "builtins.dict": "dict", "builtins.set": "set",
    "builtins.str": "str", "builtins.int": "int", "builtins.float": "float", "builtins.bool": "bool",
}  # fmt: skip
MAX_TEST_DEPTH = 4


class Conditions:
    """Answers whether a test holds."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[tuple[int, int], bool] = {}

    def may_run(self, env: Env, block: int) -> bool:
        """Whether no test around a block is surely against it."""
        key = (id(env), block)
        known = self._known.get(key)
        if known is None:
            self._known[key] = True
            known = self._known[key] = all(self._allows(env, index) for index in env.module.enclosing(block))
        return known

    def _allows(self, env: Env, index: int) -> bool:
        block = env.module.block(index)
        if block.kind == "if" and block.test is not None:
            return self.truth(block.test, env) is not False
        if block.kind == "else" and block.partner >= 0:
            test = env.module.block(block.partner).test
            return test is None or self.truth(test, env) is not True
        return True

    def truth(self, test: Expr, env: Env, depth: int = MAX_TEST_DEPTH) -> bool | None:
        """True or False when a test surely is; None when that is not known."""
        if depth == 0:
            return None
        if test.kind == "unary" and test.name == "not":
            inner = self.truth(test.args[0], env, depth - 1)
            return None if inner is None else not inner
        if test.kind == "boolop":
            return self._combined(test, [self.truth(arg, env, depth - 1) for arg in test.args])
        if test.kind == "compare" and len(test.args) == 2:
            return self._compared(test, env)
        if test.kind == "call" and test.args[0].name == "isinstance" and len(test.args) == 3:
            return self._isinstance(test, env)
        if test.kind in ("name", "attribute", "subscript", "constant"):
            return agreed([truth_of(value) for value in self.evaluator.values(test, env)])
        return None

    def _combined(self, test: Expr, parts: list[bool | None]) -> bool | None:
        decisive = test.name == "or"
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive

    def _compared(self, test: Expr, env: Env) -> bool | None:
        left, right = (self.evaluator.values(arg, env) for arg in test.args)
        if test.name in ("is", "is not"):
            if right != (Const(None, "NoneType"),):
                return None
            found = agreed([is_none(value) for value in left])
        elif test.name in ("==", "!="):
            if not left or not right or not all(isinstance(value, Const) for value in (*left, *right)):
                return None
            found = agreed([one == other for one in left for other in right])
        else:
            return None
        return found if found is None or test.name in ("is", "==") else not found

    def _isinstance(self, test: Expr, env: Env) -> bool | None:
        names = test.args[2].args if test.args[2].kind == "tuple" else (test.args[2],)
        kinds = {
            _TYPES.get(value.name)
            for name in names
            for value in self.evaluator.values(name, env)
            if isinstance(value, Ext)
        }
        if not kinds or None in kinds:
            return None
        answers = []
        for value in self.evaluator.values(test.args[1], env):
            kind = kind_of(value)
            answers.append(None if kind is None else kind in kinds)
        return agreed(answers)


def agreed(answers: list[bool | None]) -> bool | None:
    """The answer that all alternatives give; None where they differ, or there are none."""
    return answers[0] if answers and all(answer is answers[0] for answer in answers) else None


def truth_of(value: Value) -> bool | None:
    """Whether a value is true."""
    match value:
        case Const(value=constant):
            return bool(constant)
        case Func() | Klass() | Method():
            return True
    return None


def is_none(value: Value) -> bool | None:
    """Whether a value is None."""
    match value:
        case Const(value=constant):
            return constant is None
        case Func() | Klass() | Method() | Inst() | Seq():
            return False
        case ExtInst(name=name) if name.rpartition(".")[2][:1].isupper():
            return False
    return None


def kind_of(value: Value) -> str | None:
    """The builtin type of a value, or "other" for what surely has none of them."""
    match value:
        case Const(value=None):
            return "other"
        case Const(kind=kind):
            return kind
        case Seq(expr=expr):
            return expr.name if expr.kind == "comprehension" else expr.kind
        case Func() | Method() | Klass():
            return "other"
    return None
