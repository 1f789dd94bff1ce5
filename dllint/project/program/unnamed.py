"""What no code of a project names: an application runs without it. What a library has is for its users."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cached_property

from dllint.model.facts import Class, Expr
from dllint.project.program.events import event_names
from dllint.project.program.index import Index
from dllint.project.program.module import Module

_STARTS = frozenset({"main", "cli", "run", "app"})
"""Names of functions that something outside of the code calls."""


class Unnamed:
    """Answers which functions and classes no code names, neither to call nor to import them, nor in a string."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._mentioned: dict[str, frozenset[str]] = {}

    def is_class(self, module: Module, facts: Class) -> bool:
        """Whether a class of a module's top level is one that neither its file nor one that imports this names."""
        if facts.parent >= 0 or facts.decorators or module.is_test or module.notebook or self._offers(module):
            return False
        statements = self.index.import_statements.get(module.path, ())
        if any(imported.attribute == "*" for _, imported in statements):
            return facts.name not in self._named
        users = (module, *(importer for importer, _ in statements))
        return facts.name not in self._texts and not any(facts.name in self.names(user) for user in users)

    def is_function(self, module: Module, function: int) -> bool:
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
        return self._texts.union(*(self.names(module) for module in self.index))

    @cached_property
    def _texts(self) -> frozenset[str]:
        """The words of every string, each of which may choose a class or a function."""
        return frozenset(
            word
            for module in self.index
            for part in mentioned(module)
            if isinstance(part.value, str)
            for word in part.value.replace(":", ".").split(".")
        )

    def names(self, module: Module) -> frozenset[str]:
        """Every name and attribute that the code of a module mentions or imports."""
        known = self._mentioned.get(module.path)
        if known is None:
            names = {part.name for part in mentioned(module) if part.kind in ("name", "attribute")}
            names.update(imported.attribute for imported in module.model.imports)
            known = self._mentioned[module.path] = frozenset(names)
        return known


def mentioned(module: Module) -> Iterator[Expr]:
    """Every expression in the code of a module: decorators, defaults and bases among them."""
    for _, _, events in module.scopes:
        for event in events:
            yield from event.walk()
    for function in module.model.functions:
        for expr in (*function.decorators, *(parameter.default for parameter in function.parameters)):
            yield from expr.walk() if expr is not None else ()
    for klass in module.model.classes:
        for expr in (*klass.bases, *(value for _, value in klass.keywords)):
            yield from expr.walk()
