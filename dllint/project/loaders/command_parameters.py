"""Options of commands that fill parameters: those of click decorate the function, those of typer are defaults."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Expr
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import ExtInst, Free, Value

_DECORATORS = frozenset(
    f"{package}.{kind}" for package in ("click", "rich_click", "asyncclick") for kind in ("option", "argument")
)
_DEFAULTS = frozenset({"typer.Option", "typer.Argument"})


class CommandParameters:
    """Answers what a parameter is that the command line fills, as its option declares it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def default(self, value: Value) -> list[Argument]:
        """The default of the option that fills a parameter; none where a callback of the option has the last word."""
        found = [(_default(option.call), option.env) for option in self.options(value)]
        return [(expr, env) for expr, env in found if expr is not None]

    def options(self, value: Value) -> Iterator[ExtInst]:
        """The options that fill a parameter."""
        match value:
            case ExtInst(name=name) if name in _DEFAULTS:
                yield value
            case Free():
                yield from self._filling(value)

    def _filling(self, value: Free) -> Iterator[ExtInst]:
        facts = value.module.model.functions[value.function]
        declared = [decorator for decorator in facts.decorators if decorator.kind in ("call", "name", "attribute")]
        defaults = (item.default for item in facts.parameters if item.name == value.name)
        for expr in (*declared, *(default for default in defaults if default is not None)):
            for made in self.evaluator.values(expr, self.evaluator.generic(value.module, facts.parent)):
                if isinstance(made, ExtInst) and (made.name in _DEFAULTS or _decorates(made, value.name)):
                    yield made


def _decorates(made: ExtInst, parameter: str) -> bool:
    return made.name in _DECORATORS and _parameter(made.call) == parameter


def _default(call: Expr) -> Expr | None:
    """What an option is without a command line; click's take it by its name alone, after the option's names."""
    if call.keyword("callback") is not None:
        return None
    first = call.args[1] if call.args[0].name in ("Option", "Argument") and len(call.args) > 1 else None
    return call.keyword("default") or first


def _parameter(call: Expr) -> str:
    """The parameter that an option of click fills: the name that is none of an option, or else the first long one."""
    names = [arg.value for arg in call.args[1:] if isinstance(arg.value, str)]
    given = [name for name in names if name.isidentifier()]
    if given:
        return given[0]
    first = max((name.partition("/")[0].strip() for name in names), key=_dashes, default="")
    return first.lstrip("-").replace("-", "_").lower()


def _dashes(name: str) -> int:
    return len(name) - len(name.lstrip("-"))
