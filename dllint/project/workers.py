"""How many workers a loader gets, three-valued: none, some, or not known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cached_property

from dllint.model.facts import Expr
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.index import Index
from dllint.project.values import Const, Env, ExtInst, ExtMethod, Opaque, Value

_CPU_COUNTS = frozenset({
    "os.cpu_count", "multiprocessing.cpu_count", "os.process_cpu_count", "os.sched_getaffinity", "psutil.cpu_count",
    "builtins.len", "torch.cuda.device_count",
})  # fmt: skip
_OPTION_CALLS = ("add_argument", "add_option", "option", "add_arg")
_GETTERS = frozenset({"get", "pop", "getenv", "getint"})


class Workers(Enum):
    NONE = "none"
    SOME = "some"
    UNKNOWN = "unknown"


def join(answers: Iterable[Workers]) -> Workers:
    """Several possibilities: one that starts workers is enough; none only when every one says so."""
    found = set(answers)
    if Workers.SOME in found:
        return Workers.SOME
    return Workers.NONE if found == {Workers.NONE} else Workers.UNKNOWN


class WorkerCounts:
    """Answers for the values of `num_workers`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.index: Index = evaluator.index

    def of_arguments(self, found: list[Argument], surely: bool, open_ended: bool) -> Workers:
        """The answer for what a call passes; nothing passed means 0, unless a `**mapping` hides it."""
        answers = [self.of_expression(expr, env) for expr, env in found]
        if not surely:
            answers.append(Workers.UNKNOWN if open_ended else Workers.NONE)
        return join(answers)

    def of_expression(self, expr: Expr, env: Env) -> Workers:
        """The answer for one expression."""
        if expr.kind == "binop":
            return self._arithmetic(expr, env)
        return join(self.of_value(value) for value in self.evaluator.values(expr, env))

    def _arithmetic(self, expr: Expr, env: Env) -> Workers:
        left, right = (self.of_expression(arg, env) for arg in expr.args)
        if expr.name == "*" and Workers.NONE in (left, right):
            return Workers.NONE
        return Workers.SOME if expr.name in "*+//" and Workers.SOME in (left, right) else Workers.UNKNOWN

    def of_value(self, value: Value) -> Workers:
        """The answer for one value."""
        match value:
            case Const(value=number):
                if isinstance(number, str):
                    return self._from_text(number)
                return Workers.SOME if number else Workers.NONE
            case ExtInst(name=name) if name in _CPU_COUNTS:
                return Workers.SOME
            case ExtInst(name="builtins.int" | "builtins.round", call=call, env=env) if len(call.args) > 1:
                return self.of_expression(call.args[1], env)
            case ExtInst(name=name, call=call, env=env) if name.rpartition(".")[2] in _GETTERS and len(call.args) > 1:
                return self._looked_up(call, env)
            case ExtMethod(attribute=attribute):
                return self._named(attribute)
            case Opaque(expr=expr, env=env) if expr.kind == "binop":
                return self._arithmetic(expr, env)
            case ExtInst(call=call) if call.kind == "subscript" and isinstance(call.args[1].value, str):
                return self._named(call.args[1].value)
            case Opaque(expr=expr) if expr.kind == "subscript" and isinstance(expr.args[1].value, str):
                return self._named(expr.args[1].value)
            case Opaque(expr=expr) if expr.kind == "attribute":
                return self._named(expr.name)
        return Workers.UNKNOWN

    def _from_text(self, text: str) -> Workers:
        return (Workers.SOME if int(text) else Workers.NONE) if text.isdecimal() else Workers.UNKNOWN

    def _looked_up(self, call: Expr, env: Env) -> Workers:
        answers = []
        if isinstance(call.args[1].value, str):
            answers.append(self._named(call.args[1].value))
        if len(call.args) > 2:
            answers.append(self.of_expression(call.args[2], env))
        return Workers.SOME if Workers.SOME in answers else join(answers)

    def _named(self, name: str) -> Workers:
        """An option read from a parsed command line or a configuration object: its declared default."""
        declared = self._options.get(name) or self._settings.get(name) or []
        return join(self.of_expression(expr, env) for expr, env in declared) if declared else Workers.UNKNOWN

    @cached_property
    def _options(self) -> dict[str, list[Argument]]:
        """Defaults of command line options, by the attribute that holds them."""
        found: dict[str, list[Argument]] = defaultdict(list)
        for site in self.index.calls_named(_OPTION_CALLS):
            names = [arg.value for arg in site.expr.args[1:] if isinstance(arg.value, str)]
            destination = site.expr.keyword("dest")
            default = site.expr.keyword("default")
            if destination is not None and isinstance(destination.value, str):
                names = [destination.value]
            env = self.evaluator.generic(site.module, site.function)
            for name in names:
                if default is not None and (name.startswith("--") or not name.startswith("-")):
                    found[name.lstrip("-").replace("-", "_")].append((default, env))
        return found

    @cached_property
    def _settings(self) -> dict[str, list[Argument]]:
        """Constants stored under a name on configuration objects: `_C.NUM_WORKERS = 4`, class fields, dict entries."""
        found: dict[str, list[Argument]] = defaultdict(list)
        for name, expr, env in self._constants():
            found[name].append((expr, env))
        return found

    def _constants(self) -> Iterator[tuple[str, Expr, Env]]:
        for module in self.index:
            env = self.evaluator.env(module, -1)
            for name, writes in module.attribute_writes.items():
                for write in writes:
                    value = write.event.value
                    if value is not None and _is_number(value):
                        yield name, value, env
            for item in module.model.classes:
                for event in item.events:
                    if event.target is not None and event.value is not None and _is_number(event.value):
                        yield event.target.name, event.value, env
            for _, _, events in module.scopes:
                for event in events:
                    for part in event.value.walk() if event.value is not None else ():
                        if part.kind == "dict":
                            for key, value in zip(part.args[::2], part.args[1::2], strict=True):
                                if isinstance(key.value, str) and _is_number(value):
                                    yield key.value, value, env


def _is_number(expr: Expr) -> bool:
    return expr.kind == "constant" and type(expr.value) is int
