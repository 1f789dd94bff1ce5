"""Arrays and tensors: of how many dimensions a value surely is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Seq, Value

if TYPE_CHECKING:
    from dllint.project import Project

_TENSORS = frozenset({
    "torch.arange", "torch.randperm", "torch.tensor", "torch.as_tensor", "torch.zeros", "torch.ones", "torch.rand",
    "torch.randn", "torch.randint", "torch.from_numpy", "torch.stack", "torch.cat", "torch.linspace", "torch.full",
    "torch.LongTensor", "torch.FloatTensor", "torch.empty", "torch.Tensor", "torch.nonzero", "torch.DoubleTensor",
    "torch.IntTensor", "torch.ShortTensor", "torch.ByteTensor", "torch.CharTensor", "torch.BoolTensor",
    "torch.HalfTensor", "torch.logspace", "torch.eye", "torch.full_like", "torch.zeros_like", "torch.ones_like",
})  # fmt: skip
_TWO = frozenset({
    "numpy.vstack", "numpy.column_stack", "numpy.argwhere", "numpy.eye", "numpy.row_stack", "numpy.atleast_2d",
})  # fmt: skip
"""What these return has two dimensions or more."""
_MADE = frozenset({"numpy.array", "numpy.asarray", "numpy.stack"})
_SHAPED = frozenset({"numpy.zeros", "numpy.ones", "numpy.empty", "numpy.full"})
_PAIRS = frozenset({"builtins.zip", "builtins.enumerate", "itertools.product", "itertools.combinations"})
_LISTS = frozenset({"builtins.list", "builtins.sorted", "builtins.tuple"})
_SAME = frozenset({"copy", "astype", "clone", "contiguous", "long", "int", "float", "cpu", "detach"})
_SEVERAL = frozenset({"torch.sort", "torch.topk", "torch.unique", "torch.split", "torch.chunk", "torch.unbind"})
"""What these return has tensors only, whether it is one or a tuple of them."""
MAX_DEPTH = 5


class Arrays:
    """Answers for arrays."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator

    def is_tensor(self, expr: Expr, env: Env) -> bool:
        """Whether an expression surely is a tensor of torch."""
        values = self.evaluator.values(expr, env)
        return bool(values) and all(self._tensor(value) for value in values)

    def has_rows(self, expr: Expr, env: Env) -> bool:
        """Whether an expression surely is a NumPy array of two dimensions or more."""
        values = self.evaluator.values(expr, env)
        return bool(values) and all(self._rows(value, MAX_DEPTH) for value in values)

    def _tensor(self, value: Value) -> bool:
        if not isinstance(value, ExtInst):
            return False
        if _is_slice(value):
            return value.base is not None and self._tensor(value.base)
        if value.name.endswith("[]"):
            return value.name.removesuffix("[]").removesuffix("()") in _SEVERAL
        if value.call.kind != "call":
            return False
        method = value.name.rpartition(".")[2]
        return value.name in _TENSORS or (value.base is not None and method in _SAME and self._tensor(value.base))

    def _rows(self, value: Value, depth: int) -> bool:
        if not isinstance(value, ExtInst) or depth == 0:
            return False
        if _is_slice(value):
            return value.base is not None and self._rows(value.base, depth - 1)
        if value.call.kind != "call":
            return False
        given = value.call.args[1:]
        if value.name in _TWO or value.name.endswith((").values", ").to_numpy")):
            return value.name in _TWO or value.name.startswith("pandas.read_")
        if value.name in _MADE:
            return bool(given) and self._of_rows(given[0], value.env, depth - 1)
        if value.name in _SHAPED:
            return bool(given) and given[0].kind in ("tuple", "list") and len(given[0].args) > 1
        if value.base is None:
            return False
        method = value.name.rpartition(".")[2]
        if method == "reshape":
            sizes = given[0].args if len(given) == 1 and given[0].kind in ("tuple", "list") else given
            return len(sizes) > 1
        return method in _SAME and self._rows(value.base, depth - 1)

    def _of_rows(self, expr: Expr, env: Env, depth: int) -> bool:
        """Whether the elements of a list are tuples or lists."""
        values = self.evaluator.values(expr, env)
        return bool(values) and all(self._holds_rows(value, depth) for value in values)

    def _holds_rows(self, value: Value, depth: int) -> bool:
        match value:
            case Seq(expr=expr, env=env) if expr.kind in ("list", "tuple", "comprehension") and depth:
                items = list(self.evaluator.containers.items(value))
                return bool(items) and all(self._is_row(item, where) for item, where in items)
            case ExtInst(name=name, call=call, env=env) if name in _LISTS and len(call.args) > 1:
                inner = self.evaluator.values(call.args[1], env)
                return bool(inner) and all(isinstance(item, ExtInst) and item.name in _PAIRS for item in inner)
        return False

    def _is_row(self, item: Expr, env: Env) -> bool:
        values = self.evaluator.values(item, env)
        return bool(values) and all(
            isinstance(value, Seq) and value.expr.kind in ("list", "tuple") and not isinstance(value, Const)
            for value in values
        )


def _is_slice(value: ExtInst) -> bool:
    """Whether a value is `x[a:b]`: as many dimensions as x, and a view of it."""
    return value.call.kind == "subscript" and value.call.args[1].kind == "slice"
