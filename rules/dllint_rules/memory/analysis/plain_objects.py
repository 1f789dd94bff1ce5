"""Objects of the project's classes that only keep data, so that others made from their pickle are as good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Ext, Func, Inst, Klass
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project import Project

_BASES = frozenset({"builtins.object", "abc.ABC", "typing.NamedTuple"})
_OF_CLASSES = frozenset({"dataclasses.dataclass"})
_OF_METHODS = frozenset({"builtins.property", "builtins.staticmethod", "builtins.classmethod"})
"""Decorators of methods that keep nothing."""
_SPECIAL = frozenset({
    *("__new__", "__del__", "__copy__", "__deepcopy__", "__getattr__", "__getattribute__", "__setattr__"),
    *("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__"),
    *("__enter__", "__exit__", "__hash__"),
})  # fmt: skip
_MAKING = frozenset({"__init__", "__post_init__"})
_CHANGING = frozenset({
    *("append", "extend", "insert", "remove", "clear", "sort", "reverse", "update", "add", "discard"),
    *("pop", "popitem", "setdefault"),
})  # fmt: skip
_FINDING = frozenset({"index", "count", "remove"})
"""Methods of a list that compare its entries with one."""


class PlainObjects:
    """Answers whether objects of a class are nothing but what they are made with.

    No code changes them once they are made, and none asks whether two are the same, unless they compare by what they
    have.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.classes = project.evaluator.classes
        self._known: dict[tuple[str, int], bool] = {}

    def are_of(self, made: Inst) -> bool:
        """Whether an object is of such a class."""
        klass = made.klass
        key = klass.module.path, klass.index
        return self.project.evaluator.ask(self._known, key, False, self._is_plain, klass)

    def parts(self, made: Inst) -> Iterator[tuple[Expr, Module, int]]:
        """What an object is seen to keep, each with the function whose code it is."""
        for klass in self.classes.mro(made.klass):
            for writes in klass.module.self_writes.get(klass.index, {}).values():
                for write in writes:
                    if write.event.value is not None:
                        yield write.event.value, klass.module, write.function

    def _is_plain(self, klass: Klass) -> bool:
        mro = self.classes.mro(klass)
        return (
            self.classes.plain(klass)
            and _BASES.issuperset(self.classes.external_bases(klass))
            and not self.classes.is_rebuilt(klass)
            and all(map(self._only_keeps, mro))
            and not any(map(self._is_set_outside, self._names(klass)))
            and (self._compares_by_value(klass) or not self._is_compared(klass))
        )

    def _only_keeps(self, klass: Klass) -> bool:
        """Whether a class is found by its name, and its methods change nothing once an object is made."""
        facts, module = klass.facts, klass.module
        on_top = facts.parent == facts.owner == facts.block == -1 and not facts.keywords
        same = [item for item in module.model.classes if item.name == facts.name and item.parent == item.owner == -1]
        return (
            on_top
            and len(same) == 1
            and _SPECIAL.isdisjoint(facts.methods)
            and self._are_known(facts.decorators, module, _OF_CLASSES)
            and all(self._only_reads(module, index) for index in self._methods(klass))
        )

    def _methods(self, klass: Klass) -> Iterator[int]:
        """All functions of the body: a property has several of one name."""
        functions = klass.module.model.functions
        return (item.index for item in functions if item.owner == klass.index and item.name not in _MAKING)

    def _only_reads(self, module: Module, method: int) -> bool:
        facts, own = module.model.functions[method], module.receiver_name(method)
        return self._are_known(facts.decorators, module, _OF_METHODS) and not (
            any(event.target is not None and _is_part(event.target, own) for event in module.events(method))
            or any(_changes(part, own) for event in module.events(method) for part in event.walk())
        )

    def _are_known(self, decorators: tuple[Expr, ...], module: Module, known: frozenset[str]) -> bool:
        env = self.project.evaluator.generic(module, -1)
        named = (one.args[0] if one.kind == "call" else one for one in decorators)
        found = [self.project.values(one, env) for one in named]
        return all(values and all(isinstance(one, Ext) and one.name in known for one in values) for values in found)

    def _names(self, klass: Klass) -> set[str]:
        """The attributes of the objects."""
        found = set(self.classes.dataclass_fields(klass))
        return found.union(*(item.module.self_writes.get(item.index, {}) for item in self.classes.mro(klass)))

    def _is_set_outside(self, name: str) -> bool:
        """Whether other code may set an attribute of this name on one of the objects."""
        for module, write in self.project.index.outside_writes.get(name, ()):
            env = self.project.evaluator.generic(module, write.function)
            values = self.project.values(write.target.args[0], env)
            if not values or not all(isinstance(value, Ext | Func) for value in values):
                return True
        return False

    def _compares_by_value(self, klass: Klass) -> bool:
        is_data = bool(klass.facts.decorators) and not any(one.keyword("eq") for one in klass.facts.decorators)
        tuples = "typing.NamedTuple" in self.classes.external_bases(klass)
        return is_data or tuples or self.classes.method(klass, "__eq__") is not None

    def _is_compared(self, klass: Klass) -> bool:
        """Whether code that may have the objects compares one, or looks it up: for each it is another one then."""
        path, index = klass.module.path, self.project.index
        modules = [module for module in index if module.path == path or path in index.imports(module.path)]
        return any(
            self._has_object(part, module, function, klass)
            for module in modules
            for function, _, events in module.scopes
            for event in events
            for parts in map(_compared, event.walk())
            for part in parts
        )

    def _has_object(self, part: Expr, module: Module, function: int, klass: Klass) -> bool:
        values = self.project.values(part, self.project.evaluator.generic(module, function))
        return any(isinstance(value, Inst) and self.classes.derives(value.klass, klass) for value in values)


def _is_part(expr: Expr, own: str) -> bool:
    """Whether an expression is an attribute of a method's object, or a part of one."""
    while expr.kind in ("attribute", "subscript"):
        expr = expr.args[0]
        if expr.kind == "name" and expr.name == own != "":
            return True
    return expr.kind in ("tuple", "list") and any(_is_part(one, own) for one in expr.args)


def _changes(part: Expr, own: str) -> bool:
    """Whether an expression is a call that changes what a method's object keeps, or may set any attribute of it."""
    if part.kind == "attribute" and part.name == "__dict__":
        return True
    if part.kind != "call":
        return False
    called = part.args[0]
    if called.kind == "name" and called.name in ("setattr", "delattr", "vars"):
        return True
    return called.kind == "attribute" and called.name in _CHANGING and _is_part(called.args[0], own)


def _compared(part: Expr) -> tuple[Expr, ...]:
    """What an expression compares, other than with None."""
    if part.kind == "compare":
        is_none = any(one.kind == "constant" and one.value is None for one in part.args)
        return () if is_none else part.args
    called = part.args[0] if part.kind == "call" else None
    return part.args[1:] if called is not None and called.kind == "attribute" and called.name in _FINDING else ()
