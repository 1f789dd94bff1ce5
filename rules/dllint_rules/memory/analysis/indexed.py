"""Attributes that code reads by a number: what comes from JSON is a list then, as a dictionary has strings as keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator

from dllint.model.facts import Event, Expr
from dllint.project.program.module import Module

COUNTING = ("+", "-", "*", "//", "%")
"""What makes an integer of integers."""
_DRAWN = ("randint", "randrange")
_NUMBERS = frozenset({"int", "len", "round"})


class Indexed:
    """Answers for the attributes of a module's classes whether code selects an entry by a number.

    `__getitem__` gets one, and hands it on to methods of its object.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._numbers: dict[int, set[str]] = defaultdict(set)
        functions = module.model.functions
        for facts in functions:
            if facts.name == "__getitem__" and facts.owner >= 0:
                self._numbers[facts.index] |= {parameter.name for parameter in facts.parameters}
        waiting = [facts.index for facts in functions]
        while waiting:
            function = waiting.pop()
            self._set(function)
            for called, name in self._handed_on(function):
                if name not in self._numbers[called]:
                    self._numbers[called].add(name)
                    waiting.append(called)

    def is_indexed(self, attribute: str, owners: Container[int]) -> bool:
        """Whether methods of some classes read an attribute of their object by a number, or take a slice of it."""
        return any(
            part.kind == "subscript" and is_called(part.args[0], attribute) and self._selects(part.args[1], function)
            for function, _, events in self.module.scopes
            if self.module.method_owner(function) in owners
            for event in events
            for part in event.walk()
        )

    def _selects(self, index: Expr, function: int) -> bool:
        return index.kind == "slice" or self._is_number(index, function)

    def _set(self, function: int) -> None:
        """Add the variables of a function that are set to numbers."""
        names, events = self._numbers[function], self.module.events(function)
        for event in events:
            target = event.target
            if target is not None and target.kind == "name" and self._gives_number(event, function):
                names.add(target.name)

    def _gives_number(self, event: Event, function: int) -> bool:
        value = event.value
        if value is None:
            return False
        if event.kind == "for":
            return value.kind == "call" and value.args[0].name == "range"
        return event.kind == "assign" and self._is_number(value, function)

    def _is_number(self, expr: Expr, function: int) -> bool:
        match expr.kind:
            case "name":
                return expr.name in self._numbers[function]
            case "constant":
                return isinstance(expr.value, int)
            case "unary":
                return all(self._is_number(one, function) for one in expr.args)
            case "binop":
                return expr.name in COUNTING and all(self._is_number(one, function) for one in expr.args)
            case "call":
                return expr.args[0].name in (_NUMBERS if expr.args[0].kind == "name" else _DRAWN)
        return False

    def _handed_on(self, function: int) -> Iterator[tuple[int, str]]:
        """The parameters of methods that get a number from a method of the same object."""
        owner, own = self.module.method_owner(function), self.module.receiver_name(function)
        methods = self.module.model.classes[owner].methods if owner >= 0 else {}
        calls = (part for event in self.module.events(function) for part in event.walk() if part.kind == "call")
        for call in calls if own else ():
            called = call.args[0]
            index = methods.get(called.name) if called.kind == "attribute" and called.args[0].name == own else None
            if index is not None:
                names = [parameter.name for parameter in self.module.model.functions[index].parameters][1:]
                given = [*zip(names, call.args[1:], strict=False), *call.keywords]
                yield from ((index, name) for name, one in given if self._is_number(one, function))


def is_called(expr: Expr, name: str) -> bool:
    """Whether an expression is an attribute of this name."""
    return expr.kind == "attribute" and expr.name == name
