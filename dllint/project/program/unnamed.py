"""Functions that no code of a project names: an application runs without them. Those of a library are for its users."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cached_property

from dllint.model.facts import Expr
from dllint.project.program.events import event_names
from dllint.project.program.index import Index
from dllint.project.program.module import Module

_STARTS = frozenset({"main", "cli", "run", "app"})
"""Names of functions that something outside of the code calls."""


class UnnamedFunctions:
    """Answers which functions no code names, neither to call nor to import them, nor in a string."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def is_unnamed(self, module: Module, function: int) -> bool:
        """Whether a function of a module's top level is one that no code of the project names."""
        facts = module.function_at(function)
        if facts is None or facts.owner >= 0 or facts.parent >= 0 or facts.decorators or module.is_test:
            return False
        if module.notebook or facts.name in _STARTS or self._offers(module):
            return False
        return facts.name not in self._named

    def _offers(self, module: Module) -> bool:
        """Whether a file is in a package that offers something: its outermost `__init__` binds names."""
        outermost, folder = None, posixpath.dirname(module.path)
        while folder and (found := self.index.modules.get(f"{folder}/__init__.py")) is not None:
            outermost, folder = found, posixpath.dirname(folder)
        return outermost is not None and any(map(event_names, outermost.model.events))

    @cached_property
    def _named(self) -> frozenset[str]:
        """Every name and string in the code of the project."""
        return frozenset(name for module in self.index for name in _names(module))


def _names(module: Module) -> Iterator[str]:
    for imported in module.model.imports:
        yield imported.attribute
    for _, _, events in module.scopes:
        for event in events:
            yield from _words(event.walk())
    for function in module.model.functions:
        for expr in function.decorators:
            yield from _words(expr.walk())
        for parameter in function.parameters:
            if parameter.default is not None:
                yield from _words(parameter.default.walk())


def _words(parts: Iterator[Expr]) -> Iterator[str]:
    for part in parts:
        if part.kind in ("name", "attribute"):
            yield part.name
        elif isinstance(part.value, str):
            yield from part.value.replace(":", ".").split(".")
