"""Iterators that come to an end: what they go through is a list, a file, the items of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Seq, Value
from dllint.project.evaluate.shapes import GENERATOR

if TYPE_CHECKING:
    from dllint.project import Project

_END = frozenset({
    "builtins.open", "gzip.open", "csv.reader", "csv.DictReader", "builtins.range", "os.walk", "os.scandir",
    "builtins.reversed", "builtins.list", "builtins.sorted", "builtins.tuple", "glob.glob", "glob.iglob", "os.listdir",
})  # fmt: skip
_THROUGH = {"builtins.iter": 1, "builtins.zip": 1, "builtins.enumerate": 1, "builtins.map": 2, "builtins.filter": 2}
"""Iterators over what they are given, from this position on: they end with the first of it that ends."""


class Endings:
    """Answers whether iterators end."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.reach = project.main_code.reach
        self._known: dict[Value, bool] = {}

    def ends(self, iterator: Expr, env: Env) -> bool:
        """Whether everything that an expression may be comes to an end."""
        values = self.evaluator.values(iterator, env)
        return bool(values) and all(map(self._value_ends, values))

    def _value_ends(self, value: Value) -> bool:
        return self.evaluator.ask(self._known, value, False, self._ends, value)

    def _ends(self, value: Value) -> bool:
        match value:
            case Seq(expr=expr, env=env) if expr.kind == "comprehension":
                return self.ends(next(inner for key, inner in expr.keywords if key == "in"), env)
            case Seq():
                return True
            case ExtInst(name=name, call=call, env=env) if name == GENERATOR:
                made = [called for called, _ in self.reach.run_by(call, env)]
                return bool(made) and all(item.facts.is_generator and not _goes_on(item) for item in made)
            case ExtInst(name=name, call=call, env=env) if name in _THROUGH and call.kind == "call":
                return any(self.ends(arg, env) for arg in call.args[_THROUGH[name] :])
            case ExtInst(name="itertools.chain", call=call, env=env, base=None) if call.kind == "call":
                return all(self.ends(arg, env) for arg in call.args[1:])
            case ExtInst(name="itertools.repeat", call=call, base=None) if call.kind == "call":
                return len(call.args) == 3 or call.keyword("times") is not None
            case ExtInst(name=name, base=base):
                return base is None and name in _END
            case Inst():
                method = self.evaluator.classes.method
                return method(value, "__iter__") is None and method(value, "__len__") is not None
        return False


def _goes_on(env: Env) -> bool:
    """Whether a generator may go on without end."""
    blocks = (index for event in env.facts.events for index in env.module.enclosing(event.block))
    return any(env.module.block(index).kind == "while" for index in blocks)
