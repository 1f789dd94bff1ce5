"""Tests that exclude each other: `method == "thread"` where a value is made, `method == "process"` where it is used.

Two places of one way cannot both run when what is known of a subject at the one contradicts what is known of it at the
other. A subject is a name or a chain of attributes, in one activation or of one object, or what a call that changes
nothing or a key gives of it: `len(x)`, `x.isdigit()`, `x["key"]`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dllint.model.facts import Constant, Expr
from dllint.project.program.events import event_names
from dllint.project.program.flow import clauses_before, decided
from dllint.project.program.module import Module

_TESTS = frozenset({"==", "!=", "is", "is not", "in", "not in"})
_SAME = frozenset({"==", "is", "in"})
_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OTHERWISE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OF_TEXT = frozenset({
    "isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "islower", "isupper", "startswith", "endswith", "lower",
    "upper", "strip",
})  # fmt: skip
"""Methods of texts, which never change."""
_OF_THINGS = frozenset({"len", "callable", "isinstance", "hasattr"})


class Known(NamedTuple):
    """What a test states about a subject: it is one of some constants, or none of them; without any, it is true.

    Or it is less or greater than a number.
    """

    subject: str
    holds: bool
    constants: frozenset[Constant] = frozenset()
    order: tuple[str, float] | None = None

    def excludes(self, other: Known) -> bool:
        """Whether both cannot be so."""
        if self.subject != other.subject:
            return False
        if self.order or other.order:
            return _is_beyond(self, other) or _is_beyond(other, self)
        if not self.constants and not other.constants:
            return self.holds is not other.holds
        if not self.constants:
            return other.excludes(self)
        if not other.constants:
            return self.holds and all(bool(value) is not other.holds for value in self.constants)
        if self.holds and other.holds:
            return self.constants.isdisjoint(other.constants)
        if self.holds:
            return self.constants <= other.constants
        return other.holds and other.constants <= self.constants


class Told(NamedTuple):
    """What a test states about an expression, as `Known` does of a subject."""

    about: Expr
    holds: bool
    constants: frozenset[Constant] = frozenset()
    order: tuple[str, float] | None = None


def _is_beyond(one: Known, other: Known) -> bool:
    """Whether a number that is less or greater than another one can't be what else is known of it."""
    if one.order is None:
        return False
    name, limit = _positive(one.order, one.holds)
    if other.order is None:
        values = other.constants or frozenset({0})
        wanted = bool(other.constants) is other.holds  # one of them, or not true
        return wanted and not any(isinstance(item, (int, float)) and _ORDERS[name](item, limit) for item in values)
    against, end = _positive(other.order, other.holds)
    if name[0] == against[0]:
        return False
    (lower, least), (upper, most) = sorted(((name, limit), (against, end)), key=lambda pair: pair[0][0] == "<")
    return least > most or (least == most and "=" not in (set(lower) & set(upper)))


def _positive(order: tuple[str, float], holds: bool) -> tuple[str, float]:
    """`x > 1` for `not x <= 1`."""
    return (order[0] if holds else _OTHERWISE[order[0]], order[1])


def told_by(test: Expr, holds: bool) -> Iterator[Told]:
    """What follows from the outcome of a test about the expressions that it compares with constants, or asks for."""
    if test.kind == "unary" and test.name == "not":
        yield from told_by(test.args[0], not holds)
    elif test.kind == "boolop" and (test.name == "and") is holds:
        for part in test.args:
            yield from told_by(part, holds)
    else:
        yield _told(test, holds)


def _told(test: Expr, holds: bool) -> Told:
    """What a single test states; that it holds, where that says nothing of a constant."""
    if test.kind == "compare" and len(test.args) == 2:
        name, (about, other) = test.name, test.args
        among = name in ("in", "not in")  # of a display: in a text it asks for a part
        items = other.args if other.kind in ("tuple", "list", "set") else (other,)
        constant = items and among is (items is other.args) and all(item.kind == "constant" for item in items)
        if name in _TESTS and constant:
            return Told(about, (name in _SAME) is holds, frozenset(item.value for item in items))
        if about.kind == "constant":
            about, other, name = other, about, _MIRRORED.get(name, "")
        if name in _ORDERS and other.kind == "constant" and isinstance(other.value, (int, float)):
            return Told(about, holds, order=(name, other.value))
    return Told(test, holds)


def subject_of(expr: Expr) -> str:
    """The subject that an expression asks for, as text; "" where it may be another one each time."""
    if expr.dotted:
        return expr.dotted
    if expr.kind == "subscript" and all(index.kind == "constant" for index in expr.args[1:]):
        about, how = expr.args[0], f"[{', '.join(repr(index.value) for index in expr.args[1:])}]"
    elif expr.kind == "call" and not expr.keywords:
        callee, given = expr.args[0], expr.args[1:]
        if callee.name == "is_available" and not given:
            return callee.dotted
        how = callee.name
        if callee.kind == "attribute" and how in _OF_TEXT:
            about, how = callee.args[0], f".{how}"
        elif callee.kind == "name" and how in _OF_THINGS and given:
            about, given = given[0], given[1:]
        else:
            return ""
        if not all(item.kind == "constant" or item.dotted for item in given):
            return ""
        how += f"({', '.join(item.dotted or repr(item.value) for item in given)})"
    else:
        return ""
    root = subject_of(about)
    return f"{root}|{how}" if root else ""


def known_from(test: Expr, holds: bool) -> Iterator[Known]:
    """The facts about the subjects of a test that follow from its outcome."""
    for told in told_by(test, holds):
        subject = subject_of(told.about)
        if subject:
            yield Known(subject, told.holds, told.constants, told.order)


def known_at(module: Module, function: int, offset: int) -> list[Known]:
    """The facts about names and attributes that follow from the tests on the way to a place in a function."""
    return [known for _, known in stated_at(module, function, offset)]


def stated_at(module: Module, function: int, offset: int) -> Iterator[tuple[int, Known]]:
    """The facts that follow from the tests on the way to a place, and from its loops, with where each is asked for."""
    for test in decided(module, function, offset):
        for known in known_from(test.test, test.holds):
            yield test.test.start, known
    for iterable in _iterated_around(module, function, offset):
        subject = _rounds(iterable)
        if subject:
            yield iterable.start, Known(subject, True, order=(">", 0))


def _iterated_around(module: Module, function: int, offset: int) -> Iterator[Expr]:
    """What the loops and comprehensions around a place go through."""
    for index in module.enclosing(module.block_at(function, offset)):
        block = module.block(index)
        if block.kind == "for" and block.test is not None:
            yield block.test
    for whole in {clause.comprehension: None for clause in module.comprehensions.get(function, ())}:
        if whole.start <= offset < whole.end:
            yield from (part for key, part in clauses_before(whole, offset) if key == "in")


def _rounds(iterable: Expr) -> str:
    """The number that is above 0 in a loop: `n` of `for i in range(n)`."""
    is_range = iterable.kind == "call" and iterable.args[0].dotted == "range" and len(iterable.args) == 2
    return subject_of(iterable.args[1]) if is_range else ""


def chosen_arm(choice: Expr, here: Sequence[Known]) -> Expr | None:
    """The arm of `a if test else b` that remains, by what is known at a place."""
    arms = [
        arm
        for arm, holds in zip(choice.args[1:], (True, False), strict=True)
        if not exclude(here, known_from(choice.args[0], holds))
    ]
    return arms[0] if len(arms) == 1 else None


def exclude(one: Iterable[Known], other: Iterable[Known]) -> bool:
    """Whether two places cannot both be on one way."""
    others = list(other)
    return any(known.excludes(another) for known in one for another in others)


def constant_in(module: Module, function: int, subject: str, since: int = 0) -> bool:
    """Whether nothing in a function rebinds a subject's name, or sets its attribute; parameters are bound before.

    Nor hands on what has a length or keys: others may change it. What is assigned once for all before the place `since`
    counts as little as a parameter.
    """
    subject, _, inside = subject.partition("|")
    root, _, attribute = subject.partition(".")
    key = f".{subject.rpartition('.')[2]}" if attribute else root
    if inside and inside[0] != "." and key in module.uses[function].handed:
        return False
    if any(mutation.receiver.dotted == subject for mutation in module.mutations[function]):
        return False
    for event in module.events(function):
        if event.kind == "assign" and event.end <= since and _runs_first(module, function, event.block, since):
            continue
        if root in event_names(event):
            return False
        target = event.target
        if attribute and target is not None and target.kind == "attribute" and target.dotted == subject:
            return False
    return True


def _runs_first(module: Module, function: int, block: int, since: int) -> bool:
    """Whether what is in a block, above a place, runs once and before that: `if __name__ == "__main__"` has both."""
    if block < 0:
        return True
    around = [module.block(index) for index in module.enclosing(block)]
    return not any(item.kind in ("for", "while") for item in around) and block in module.enclosing(
        module.block_at(function, since)
    )
