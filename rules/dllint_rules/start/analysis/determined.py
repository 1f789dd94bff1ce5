"""What is the same whenever a script's own code runs: made of its command line and of files that it only reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dllint.model.facts import Event, Expr
from dllint.project.data.growth import chain
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst, ExtMethod, Opaque, Seq, Value
from dllint.project.execution.call_graph import Running

_PARSED = frozenset({"argparse.ArgumentParser().parse_args", "argparse.ArgumentParser().parse_known_args"})
_PURE = frozenset({
    *(f"builtins.{name}" for name in (
        "bool", "dict", "enumerate", "float", "getattr", "int", "len", "list", "max", "min", "range", "repr",
        "reversed", "round", "sorted", "str", "sum", "tuple", "vars", "zip",
    )),
    *(f"os.path.{name}" for name in (
        "abspath", "basename", "dirname", "expanduser", "join", "normpath", "realpath", "splitext",
    )),
    "collections.OrderedDict", "copy.copy", "copy.deepcopy", "json.dumps", "json.load", "json.loads", "os.fspath",
    "pprint.pformat", "shlex.join", "textwrap.dedent", "yaml.dump", "yaml.load", "yaml.safe_dump", "yaml.safe_load",
})  # fmt: skip
"""What gives the same for the same."""
_COMPUTED = frozenset({"binop", "boolop", "compare", "fstring", "ifexp", "slice", "star", "unary"})
_CONTAINERS = frozenset({"dict", "generator", "list", "tuple"})
"""What is determined where its parts are. In a set, texts have another order in each process."""
_CHANGING = frozenset({"append", "extend", "insert", "setdefault", "update"})

Step = tuple[Running, Event]
"""An event of running code."""


class Determined:
    """Answers what is the same in each process that runs some code: what a script does on import.

    Time, chance, the process's number and the environment aren't, nor is what cannot be followed.
    """

    def __init__(self, evaluator: Evaluator, code: Iterable[Step], is_written: Callable[[Expr, Env], bool]) -> None:
        self.evaluator = evaluator
        self.is_written = is_written
        """Whether the program also writes the file that a call opens."""
        self._known: dict[tuple[Expr, int], bool] = {}
        self._changes: list[tuple[Expr, tuple[Expr, ...], Env]] = []
        """What is changed, and what is put into it."""
        self._options: list[tuple[Expr, Env]] = []
        """The defaults of options."""
        for running, event in code:
            self._note(event, running.env)

    def _note(self, event: Event, env: Env) -> None:
        """Remembers what an event changes, and the defaults that it gives to options."""
        if event.target is not None and event.value is not None and event.target.kind in ("attribute", "subscript"):
            self._changes.append((event.target.args[0], (event.value, *event.target.args[1:]), env))
        for call in event.walk():
            callee = call.args[0] if call.kind == "call" else None
            if callee is None:
                continue
            given = (*call.args[1:], *(value for _, value in call.keywords))
            if callee.name == "setattr" and len(call.args) > 1:
                self._changes.append((call.args[1], given[1:], env))
            elif callee.kind == "attribute" and callee.name in _CHANGING:
                self._changes.append((callee.args[0], given, env))
            elif callee.name == "add_argument":
                self._options += [(value, env) for key, value in call.keywords if key == "default"]
            elif callee.name == "set_defaults":
                self._options += [(value, env) for value in given]

    def is_determined(self, expr: Expr, env: Env) -> bool:
        """Whether an expression gives the same in each of the processes."""
        return self.evaluator.ask(self._known, (expr, id(env)), True, self._expression, expr, env)

    def _expression(self, expr: Expr, env: Env) -> bool:
        if expr.kind in _COMPUTED:
            return all(self.is_determined(part, env) for part in expr.args)
        if expr.kind in ("none", "bytes"):
            return True
        values = self.evaluator.values(expr, env)
        return bool(values) and all(map(self._value, values))

    def _value(self, value: Value) -> bool:
        match value:
            case Const():
                return True
            case Ext(name=name):
                return name == "sys.argv" or name.endswith(".__version__")
            case ExtMethod(base=base):
                return self._value(base)
            case Seq(expr=display, env=env) if value.kind in _CONTAINERS:
                clauses = (part for key, part in display.keywords if key != "for")
                parts = all(self.is_determined(part, env) for part in (*display.args, *clauses))
                return parts and self._changes_alike(value)
            case Opaque(expr=computed, env=env) if computed.kind in _COMPUTED:
                return self.is_determined(computed, env)
            case ExtInst():
                return self._made(value) and self._changes_alike(value)
        return False

    def _made(self, value: ExtInst) -> bool:
        """Whether a library makes the same."""
        call, env = value.call, value.env
        if value.name in _PARSED:
            return all(self.is_determined(*option) for option in self._options)
        if value.name == "builtins.open":
            modes = self.evaluator.arguments.argument(call, env, 1, "mode")[0]
            told = [mode for pair in modes for mode in self.evaluator.values(*pair)]
            reads = all(isinstance(mode, Const) and mode.value in ("r", "rb", "rt") for mode in told)
            return reads and not self.is_written(call, env)
        known = value.name in _PURE if value.base is None else self._value(value.base)
        given = (*call.args[1:], *(part for _, part in call.keywords))
        return known and all(self.is_determined(part, env) for part in given)

    def _changes_alike(self, value: Value) -> bool:
        """Whether all that is put into an object is determined, too."""
        return all(
            all(self.is_determined(part, env) for part in given)
            for changed, given, env in self._changes
            if any(value in chain(part) for part in self.evaluator.values(_viewed(changed), env))
        )


def _viewed(changed: Expr) -> Expr:
    """The object of which a mapping shows the attributes: `args` of `args.__dict__`."""
    return changed.args[0] if changed.kind == "attribute" and changed.name == "__dict__" else changed
