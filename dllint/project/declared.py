"""Defaults that a project declares away from where they are read: command line options and settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from dllint.model.facts import Expr
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.index import Index
from dllint.project.module import Module

_OPTION_CALLS = ("add_argument", "add_option", "option", "add_arg")


class Declared:
    """Finds the default of an option or setting by its name."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.index: Index = evaluator.index

    def option(self, name: str) -> list[Argument]:
        """The defaults of the command line options that fill an attribute."""
        return self._options.get(name, [])

    def number(self, name: str) -> list[Argument]:
        """The whole numbers stored under a name on configuration objects."""
        return self._numbers.get(name, [])

    @cached_property
    def _options(self) -> dict[str, list[Argument]]:
        found: dict[str, list[Argument]] = defaultdict(list)
        for site in self.index.calls_named(_OPTION_CALLS):
            default = site.expr.keyword("default")
            if default is None:
                continue
            env = self.evaluator.generic(site.module, site.function)
            for name in _destinations(site.expr):
                found[name].append((default, env))
        return found

    @cached_property
    def _numbers(self) -> dict[str, list[Argument]]:
        """`_C.NUM_WORKERS = 4`, class fields, dictionary entries."""
        found: dict[str, list[Argument]] = defaultdict(list)
        for module in self.index:
            env = self.evaluator.env(module, -1)
            for name, expr in _stored_numbers(module):
                found[name].append((expr, env))
        return found


def _destinations(call: Expr) -> Iterator[str]:
    """The attributes that an option fills: `dest`, or its long names with underscores."""
    destination = call.keyword("dest")
    if destination is not None and isinstance(destination.value, str):
        yield destination.value
        return
    for arg in call.args[1:]:
        if isinstance(arg.value, str) and (arg.value.startswith("--") or not arg.value.startswith("-")):
            yield arg.value.lstrip("-").replace("-", "_")


def _stored_numbers(module: Module) -> Iterator[tuple[str, Expr]]:
    for name, writes in module.attribute_writes.items():
        for write in writes:
            if write.event.value is not None and _is_number(write.event.value):
                yield name, write.event.value
    for item in module.model.classes:
        for event in item.events:
            if event.target is not None and event.value is not None and _is_number(event.value):
                yield event.target.name, event.value
    for _, _, events in module.scopes:
        for event in events:
            for part in event.value.walk() if event.value is not None else ():
                if part.kind == "dict":
                    for key, value in zip(part.args[::2], part.args[1::2], strict=True):
                        if isinstance(key.value, str) and _is_number(value):
                            yield key.value, value


def _is_number(expr: Expr) -> bool:
    return expr.kind == "constant" and type(expr.value) is int
