"""Lists that functions return and keep as well, so that other code may change what is to become bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint import Expr, Ext, Func, Inst, Method, Module, Place, Project, Span, Value, name_uses
from dllint_rules.memory.readers import Readers, arguments
from dllint_rules.memory.saved import SAVERS

_OF_ITS_OWN = frozenset({
    "read", "returned", "tested", "sliced", "whole", "joined", "foreign", "filled", "set", "write",
})  # fmt: skip
"""The uses of a variable that give what it has to nothing else."""
_PLAIN = frozenset({
    *(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property")),
    *(f"torch.{name}" for name in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled")),
    *("typing.override", "typing_extensions.override", "abc.abstractmethod"),
})  # fmt: skip
"""Decorators, or what makes them, that keep nothing of what a function returns."""
_SAVING = {*SAVERS.values(), "json.dump", "numpy.save", "yaml.dump"}
_PARTS = {"ifexp", "boolop", "tuple"}


class Keeper(NamedTuple):
    """What keeps a list, or may."""

    module: Module
    span: Span


class KeptElsewhere:
    """Answers what keeps a list besides the attribute that gets it from a call."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.readers = project.analysis(Readers)
        self._known: dict[tuple[Expr, str, int], Keeper | None] = {}

    def of(self, expr: Expr, module: Module, function: int) -> Keeper | None:
        """The first place that keeps what an expression gets, in one of the functions that return it."""
        key = expr, module.path, function
        return self.project.evaluator.ask(self._known, key, None, self._first, expr, module, function)

    def _first(self, expr: Expr, module: Module, function: int) -> Keeper | None:
        return next(self._keepers(_whole(expr), module, function), None)

    def _keepers(self, expr: Expr, module: Module, function: int) -> Iterator[Keeper]:
        if expr.kind == "call":
            for called in self.project.values(expr.args[0], self.project.evaluator.generic(module, function)):
                func = called.func if isinstance(called, Method) else called
                for run in (func, *self._overriding(called)) if isinstance(func, Func) else ():
                    yield from self._returned(run)
                    for given in arguments(expr) if _returns_parameter(run) else ():
                        yield from self._next(given, module, function)
        elif expr.kind == "name" and function >= 0:
            for value in _bound(expr.name, module, function):
                yield from self._next(value, module, function)

    def _overriding(self, called: Value) -> Iterator[Func]:
        """The methods of the classes that derive from an object's, which run in place of its own."""
        if isinstance(called, Method) and isinstance(called.owner, Inst):
            for klass in self.project.evaluator.classes.subclasses(called.owner.klass):
                index = klass.facts.methods.get(called.func.facts.name)
                if index is not None:
                    yield Func(klass.module, index, klass.outer)

    def _next(self, expr: Expr, module: Module, function: int) -> Iterator[Keeper]:
        keeper = self.of(expr, module, function)
        yield from (keeper,) if keeper is not None else ()

    def _returned(self, func: Func) -> Iterator[Keeper]:
        yield from (Keeper(func.module, one.span) for one in func.facts.decorators if not self._is_plain(one, func))
        for parts in _returns(func.module, func.index):
            for expr in map(_whole, parts):
                yield from self._held(expr, func)
                yield from self._next(expr, func.module, func.index)

    def _is_plain(self, decorator: Expr, func: Func) -> bool:
        """Whether a decorator is known to keep nothing of what a function returns."""
        named = decorator.args[0] if decorator.kind == "call" else decorator
        values = self.project.values(named, self.project.evaluator.generic(func.module, -1))
        return bool(values) and all(isinstance(one, Ext) and one.name in _PLAIN for one in values)

    def _held(self, expr: Expr, func: Func) -> Iterator[Keeper]:
        """What a function keeps of what it returns: an attribute, a global name, what it stores elsewhere as well."""
        module = func.module
        if expr.kind == "attribute":
            yield Keeper(module, expr.span)
        if expr.kind != "name":
            return
        uses = name_uses(self.project.source(module.path), expr.name, func.facts.span)
        if uses is None or not (_is_parameter(expr, func) or _is_local(expr.name, module, func.index)):
            yield Keeper(module, expr.span)
        for place in (Place(module, func.index, use) for use in uses or ()):
            if not (place.use.kind in _OF_ITS_OWN or self._is_returned_once(place) or self._is_only_read(place)):
                yield Keeper(module, place.use.span)

    def _is_returned_once(self, place: Place) -> bool:
        """Whether a use is one of several things that a function returns, and no other one of them is the same."""
        for parts in _returns(place.module, place.function):
            own = [part.name for part in parts if part.span == place.use.span]
            if own:
                return [part.name for part in parts].count(own[0]) == 1
        return False

    def _is_only_read(self, place: Place) -> bool:
        if place.use.kind != "given":
            return False
        call = self.readers.call(place)
        env = self.project.evaluator.generic(place.module, place.function)
        called = self.project.values(call.args[0], env) if call is not None else ()
        saves = bool(called) and all(isinstance(one, Ext) and one.name in _SAVING for one in called)
        return saves or self.readers.only_read(place)


def _whole(expr: Expr) -> Expr:
    """What an expression takes a part of."""
    while expr.kind == "subscript":
        expr = expr.args[0]
    return expr


def _returns(module: Module, function: int) -> list[list[Expr]]:
    return [_parts(event.value) for event in module.events(function) if event.kind == "return" and event.value]


def _parts(expr: Expr) -> list[Expr]:
    """What a returned expression may be, and each of several things that are returned together."""
    found = expr.args[1:] if expr.kind == "ifexp" else expr.args
    return [part for arg in found for part in _parts(arg)] if expr.kind in _PARTS else [expr]


def _returns_parameter(func: Func) -> bool:
    found = (_whole(part) for parts in _returns(func.module, func.index) for part in parts)
    return any(_is_parameter(expr, func) for expr in found)


def _is_parameter(expr: Expr, func: Func) -> bool:
    return expr.kind == "name" and any(parameter.name == expr.name for parameter in func.facts.parameters)


def _is_local(name: str, module: Module, function: int) -> bool:
    outer = (event for event in module.events(function) if event.kind in ("global", "nonlocal"))
    return bool(_bound(name, module, function)) and not any(name in event.names for event in outer)


def _bound(name: str, module: Module, function: int) -> list[Expr]:
    """What a function sets a variable to."""
    events = ((event.target, event.value) for event in module.events(function) if event.kind != "augment")
    pairs = [(target, value) for target, value in events if target is not None and value is not None]
    return [value for target, value in pairs if any(part.name == name for part in _targets(target))]


def _targets(target: Expr) -> list[Expr]:
    return [part for part in target.walk() if part.kind == "name"]
