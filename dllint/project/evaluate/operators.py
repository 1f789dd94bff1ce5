"""Operators: what `a + b` and its like give, of constants, lists, datasets and objects with methods for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dllint.knowledge import DATASETS
from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import TOP, Const, Env, ExtInst, Inst, Opaque, Seq, Value, Values
from dllint.project.evaluate.hierarchy import Answer
from dllint.project.evaluate.shapes import fold

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_LISTED = frozenset({"glob", "listdir", "sorted", "list", "readlines", "splitlines", "natsorted", "tolist"})
_SPECIAL = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul",
            "|": "or", "&": "and", "^": "xor", "<<": "lshift", ">>": "rshift", "**": "pow"}  # fmt: skip
"""The operators whose methods a class may define, and what these are called."""
OPERATOR_METHODS = frozenset(f"__{reflected}{name}__" for name in _SPECIAL.values() for reflected in ("", "r"))
"""The methods that operators call."""
_STREAMS = frozenset({"torch.utils.data.IterableDataset"})


class Operators:
    """Evaluates binary operators."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._calls: dict[tuple[int, str], Expr] = {}

    def expression(self, expr: Expr, env: Env) -> Iterable[Value]:
        """The values of an operator: a method of an operand returns them, or one of Python's own types."""
        left, right = self.evaluator.values(expr.args[0], env), self.evaluator.values(expr.args[1], env)
        special = [value for one in left for value in self._special(one, expr, env, False)]
        special += [value for one in right for value in self._special(one, expr, env, True)] if not special else ()
        return special or self._concatenated((*left, *right), expr, env) or self._built_in(left, right, expr, env)

    def _special(self, operand: Value, expr: Expr, env: Env, reflected: bool) -> Values:
        """The values that the operand's own `__add__` or `__radd__` returns for the other operand."""
        name = f"__{'r' * reflected}{_SPECIAL[expr.name]}__" if expr.name in _SPECIAL else ""
        method = self.evaluator.classes.method(operand, name) if name and isinstance(operand, Inst) else None
        if method is None:
            return ()
        own, other = reversed(expr.args) if reflected else expr.args
        call = self._call(expr, name, (own, other))
        return self.evaluator.calls.returned(method.func, call, env, operand)

    def _concatenated(self, operands: Values, expr: Expr, env: Env) -> Values:
        """`Dataset.__add__`: what torch makes of datasets that are added."""
        kinds = [name for value in operands for name in (self._dataset(value),) if name]
        if expr.name != "+" or not kinds:
            return ()
        listed = Expr("list", expr.start, expr.end, args=expr.args)
        return (ExtInst(kinds[0], self._call(expr, kinds[0], (expr, listed)), env),)

    def _dataset(self, value: Value) -> str:
        """The class of the sum of this dataset and another one; "" for anything else."""
        if isinstance(value, Inst):
            if self.evaluator.classes.is_a(value.klass, _STREAMS) is Answer.YES:
                return "torch.utils.data.ChainDataset"
            known = self.evaluator.classes.is_a(value.klass, DATASETS) is Answer.YES
        else:
            known = isinstance(value, ExtInst) and value.name in DATASETS
        return "torch.utils.data.ConcatDataset" if known else ""

    def _call(self, expr: Expr, what: str, args: tuple[Expr, ...]) -> Expr:
        """The call that an operator stands for: one and the same however often it is asked for."""
        return self._calls.setdefault((id(expr), what), Expr("call", expr.start, expr.end, args=args))

    def _built_in(self, left: Values, right: Values, expr: Expr, env: Env) -> Iterable[Value]:
        joins = expr.name in "+|"
        kept = [value for value in (*left, *right) if _is_list(value) or (joins and isinstance(value, Seq))]
        if kept and (joins or expr.name == "*"):
            one, other = (tuple(value for value in values if value not in kept) for values in (left, right))
            computed = self._computed(one, other, expr, env) if one and other else ()
            return (*((*left, *right) if joins else kept), *computed)
        return self._computed(left, right, expr, env)

    def _computed(self, left: Values, right: Values, expr: Expr, env: Env) -> Values:
        if len(left) == len(right) == 1 and isinstance(left[0], Const) and isinstance(right[0], Const):
            folded = fold(expr.name, left[0].value, right[0].value)
            if folded is not None:
                return (Const(folded, type(folded).__name__),)
        if TOP in left or TOP in right:
            return (TOP,)
        return (Opaque(expr, env),) if left and right else self.evaluator.unless_open(Opaque(expr, env))


def _is_list(value: Value) -> bool:
    """Whether a value surely is a list: `glob(a) + glob(b)` has the elements of both, `names * count` those of one."""
    if isinstance(value, Seq):
        return value.kind in ("list", "tuple")
    return isinstance(value, ExtInst) and value.call.kind == "call" and value.name.rpartition(".")[2] in _LISTED
