"""Tests that exclude each other: `method == "thread"` where a value is made, `method == "process"` where it is used.

Two places of one way cannot both run when what is known of a subject at the one contradicts what is known of it at the
other. A subject is a name or a chain of attributes, in one activation or of one object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dllint.model.facts import Constant, Expr
from dllint.project.program.events import event_names
from dllint.project.program.flow import decided
from dllint.project.program.module import Module

_TESTS = frozenset({"==", "!=", "is", "is not", "in", "not in"})
_SAME = frozenset({"==", "is", "in"})


class Known(NamedTuple):
    """What a test states about a subject: it is one of some constants, or none of them; without any, it is true."""

    subject: str
    holds: bool
    constants: frozenset[Constant] = frozenset()

    def excludes(self, other: Known) -> bool:
        """Whether both cannot be so."""
        if self.subject != other.subject:
            return False
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


def told_by(test: Expr, holds: bool) -> Iterator[Told]:
    """What follows from the outcome of a test about the expressions that it compares with constants, or asks for."""
    if test.kind == "unary" and test.name == "not":
        yield from told_by(test.args[0], not holds)
    elif test.kind == "boolop" and (test.name == "and") is holds:
        for part in test.args:
            yield from told_by(part, holds)
    elif test.kind == "compare" and len(test.args) == 2 and test.name in _TESTS:
        about, other = test.args
        among = test.name in ("in", "not in")  # of a display: in a text it asks for a part
        items = other.args if other.kind in ("tuple", "list", "set") else (other,)
        if items and among is (items is other.args) and all(item.kind == "constant" for item in items):
            yield Told(about, (test.name in _SAME) is holds, frozenset(item.value for item in items))
    else:
        yield Told(test, holds)


def known_from(test: Expr, holds: bool) -> Iterator[Known]:
    """The facts about the subjects of a test that follow from its outcome."""
    for told in told_by(test, holds):
        if told.about.dotted:
            yield Known(told.about.dotted, told.holds, told.constants)


def known_at(module: Module, function: int, offset: int) -> list[Known]:
    """The facts about names and attributes that follow from the tests on the way to a place in a function."""
    return [known for test in decided(module, function, offset) for known in known_from(test.test, test.holds)]


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


def constant_in(module: Module, function: int, subject: str) -> bool:
    """Whether nothing in a function rebinds a subject's name, or sets its attribute; parameters are bound before."""
    root, _, attribute = subject.partition(".")
    for event in module.events(function):
        if root in event_names(event):
            return False
        target = event.target
        if attribute and target is not None and target.kind == "attribute" and target.dotted == subject:
            return False
    return True
