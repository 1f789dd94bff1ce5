"""Names that are others each time code runs: files and folders that are named after the second, or by chance."""

from __future__ import annotations

from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Opaque, Value

_NEW = frozenset({
    "time.time", "time.time_ns", "time.ctime", "time.asctime", "uuid.uuid1", "uuid.uuid4", "os.getpid",
})  # fmt: skip
_NOW = frozenset(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today"))
_CLOCKS = frozenset({"time.localtime", "time.gmtime"})
_KEEPING = frozenset({
    "builtins.str", "builtins.int", "builtins.round", "str.format", "str.join", "os.path.join", "os.path.abspath",
    "os.path.expanduser", "os.path.realpath", "os.fspath", "pathlib.Path", "pathlib.Path().joinpath",
})  # fmt: skip
"""What makes another text or path of another argument."""
_KEEPING_METHODS = frozenset({"replace", "strip", "resolve", "absolute", "expanduser", "joinpath"})
_OPERATORS = frozenset({"+", "%", "/"})
_SECONDS = ("%S", "%s", "%f", "%c", "%X", "%T")


class NewNames:
    """Answers whether a text or path is another one each time its code runs."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[tuple[Expr, int], bool] = {}

    def is_new(self, expr: Expr, env: Env) -> bool:
        """Whether all that an expression may be is made of the time, a random number or that of a process.

        Not of the day or the hour: workers may start in the same one.
        """
        return self.evaluator.ask(self._known, (expr, id(env)), False, self._is_new, expr, env)

    def _is_new(self, expr: Expr, env: Env) -> bool:
        values = self.evaluator.values(expr, env)
        return bool(values) and all(map(self._is_new_value, values))

    def _is_new_value(self, value: Value) -> bool:
        match value:
            case ExtInst(name=name) if name in _NEW:
                return True
            case ExtInst(name=name, call=call, env=env, base=base):
                given = (*call.args[1:], *(part for _, part in call.keywords))
                if name in _KEEPING and any(self._has_new(part, env) for part in given):
                    return True
                if name == "builtins.str":
                    return any(self._is_now(part, env) for part in given)
                if name == "time.strftime" or (isinstance(base, ExtInst) and base.name in _NOW):
                    return self._is_written(name.rpartition(".")[2], call, env)
                method = name.rpartition(".")[2]
                return base is not None and method in _KEEPING_METHODS and self._is_new_value(base)
            case Opaque(expr=expr, env=env) if expr.kind == "fstring" or expr.name in _OPERATORS:
                return any(self._has_new(part, env) for part in expr.args)
        return False

    def _has_new(self, part: Expr, env: Env) -> bool:
        """Whether an argument is new, or one of several in a display."""
        several = part.kind in ("list", "tuple")
        return any(self.is_new(inner, env) for inner in part.args) if several else self.is_new(part, env)

    def _is_now(self, expr: Expr, env: Env) -> bool:
        values = self.evaluator.values(expr, env)
        return bool(values) and all(isinstance(value, ExtInst) and value.name in _NOW for value in values)

    def _is_written(self, method: str, call: Expr, env: Env) -> bool:
        """Whether the moment is written with its seconds: `time.strftime("%H%M%S")`, `datetime.now().isoformat()`."""
        if method == "strftime" and len(call.args) > 1:
            texts = self.evaluator.values(call.args[1], env)
            clocks = [value for part in call.args[2:] for value in self.evaluator.values(part, env)]
            return all(map(_has_seconds, texts)) and all(map(self._is_clock, clocks))
        return method in ("isoformat", "timestamp")

    def _is_clock(self, value: Value) -> bool:
        """Whether a value is the time as the clock says it."""
        if not isinstance(value, ExtInst) or value.name not in _CLOCKS:
            return False
        return all(self.is_new(part, value.env) for part in value.call.args[1:])


def _has_seconds(text: Value) -> bool:
    return isinstance(text, Const) and isinstance(text.value, str) and any(part in text.value for part in _SECONDS)
