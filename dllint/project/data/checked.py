"""How long a list may be that code checks once it has filled it: `assert len(self.paths) == 1`."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.data.element_files import is_length
from dllint.project.data.limits import Limits
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Klass
from dllint.project.program.events import flat_targets, leaves
from dllint.project.program.module import Module, Write

if TYPE_CHECKING:
    from dllint.project import Project

_BOUNDS = frozenset({"==", "<=", "<"})
_TURNED = {">": "<", ">=": "<=", "==": "=="}
_DENIED = {">": "<=", ">=": "<", "!=": "==", "<": ">=", "<=": ">"}

_Method = tuple[Module, int]


class _Check(NamedTuple):
    """A test that has an outcome where code goes on, and the block in which it stands."""

    test: Expr
    holds: bool
    block: int


class Checked:
    """Answers how many elements a class keeps under an attribute at most, as its own code checks.

    The list itself may be longer elsewhere: another class may keep it unchecked.
    """

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.limits = project.analysis(Limits)

    def of(self, held: Held) -> int | None:
        """The number that every class checks that keeps something there; None where one doesn't."""
        module = self.evaluator.index.modules[held.route[0].path]
        write = module.write_at(held.holder.name, held.route[0].span)
        if write is None or module.method_owner(write.function) < 0:
            return None
        keepers = self.evaluator.classes.keepers(held.holder.owner, module.path)
        limits = [self._of(klass, module, write) for klass in keepers]
        known = [limit for limit in limits if limit is not None]
        return max(known) if known and len(known) == len(limits) else None

    def _of(self, klass: Klass, module: Module, write: Write) -> int | None:
        limits = (*self._by_setter(klass, module, write), *self._by_derived(klass, module, write))
        return min(limits, default=None)

    def _by_setter(self, klass: Klass, module: Module, write: Write) -> Iterator[int]:
        """What the method checks that sets the attribute, of it or of the name that it is set to."""
        name, value, own = write.target.dotted, write.event.value, (module, write.function)
        if self._is_changed_by_others(klass, write.target.name, {own}):
            return
        given = value.name if value is not None and value.kind == "name" else ""
        changes = [event for subject in (name, given) for event in _changes(*own, subject)]
        last = max((event.end for event in changes if event is not write.event), default=-1)
        around = {-1, *module.enclosing(write.event.block)}
        for check in _checks(*own):
            if check.block in around and check.test.start > last:
                after = check.test.start > write.event.end
                yield from self._limits(check, {given, name} if after else {given}, own)

    def _by_derived(self, klass: Klass, module: Module, write: Write) -> Iterator[int]:
        """What the `__init__` of a class that derives from the one that sets the attribute checks in the end."""
        order = self.evaluator.classes.mro(klass)
        made = [(base.module, base.facts.methods.get("__init__", -1)) for base in order]
        if (module, write.function) not in made:
            return
        for position, own in enumerate(made[: made.index((module, write.function))]):
            name = f"{own[0].receiver_name(own[1])}.{write.target.name}"
            if own[1] < 0 or self._is_changed_by_others(klass, write.target.name, set(made[position:])):
                continue
            last = max((event.end for event in (*_changes(*own, name), *_calls_base(*own))), default=-1)
            for check in _checks(*own):
                if check.block < 0 and check.test.start > last:
                    yield from self._limits(check, {name}, own)

    def _is_changed_by_others(self, klass: Klass, attribute: str, own: Set[_Method]) -> bool:
        """Whether other methods of a class and its bases fill an attribute or cut it."""
        bases = self.evaluator.classes.mro(klass)
        methods = ((base.module, item) for base in bases for item in base.facts.methods.values())
        return any(
            receiver.dotted == f"{module.receiver_name(function)}.{attribute}"
            for module, function in methods
            if (module, function) not in own
            for _, receiver, _ in module.mutations[function]
        )

    def _limits(self, check: _Check, names: Set[str], method: _Method) -> Iterator[int]:
        env = self.evaluator.generic(*method)
        for counted, number in _bounds(check.test, check.holds):
            named = bool(counted.dotted) and counted.dotted in names  # what a call returns has no name
            limit = self.limits.number(number, env) if named else None
            if limit is not None:
                yield limit


def _checks(module: Module, function: int) -> Iterator[_Check]:
    """What a function tests before it goes on: `assert test`, `if test: raise`."""
    events = module.events(function)
    for event in events:
        if event.kind == "assert" and event.value is not None:
            yield _Check(event.value, True, event.block)
    fails = {event.block for event in events if leaves(event) and event.kind != "return"}
    for index in module.leaving[function]:
        block = module.block(index)
        if index in fails and block.kind == "if" and block.test is not None:
            yield _Check(block.test, False, block.parent)


def _changes(module: Module, function: int, name: str) -> Iterator[Event]:
    """What gives a name or an attribute another value in a function, or changes its value."""
    for event in module.events(function) if name else ():
        if event.target is not None and any(part.dotted == name for part in flat_targets(event.target)):
            yield event
    for event, receiver, _ in module.mutations[function] if name else ():
        if receiver.dotted == name:
            yield event


def _calls_base(module: Module, function: int) -> Iterator[Event]:
    """Where an `__init__` runs another one, which may set what the object has."""
    for event in module.events(function):
        if any(part.kind == "call" and part.args[0].name == "__init__" for part in event.walk()):
            yield event


def _bounds(test: Expr, holds: bool) -> Iterator[tuple[Expr, Expr]]:
    """What has at most how many elements if a test has an outcome: `rows` and `3` of `0 < len(rows) <= 3`."""
    if test.kind == "unary" and test.name == "not":
        yield from _bounds(test.args[0], not holds)
    elif test.kind == "boolop" and (test.name == "and") == holds:
        for part in test.args:
            yield from _bounds(part, holds)
    elif test.kind == "compare" and (holds or len(test.args) == 2):
        for operator, left, right in zip(test.name.split(","), test.args, test.args[1:], strict=False):
            found = operator if holds else _DENIED.get(operator, "")
            if is_length(left) and found in _BOUNDS:
                yield left.args[1], right
            elif is_length(right) and _TURNED.get(found) in _BOUNDS:
                yield right.args[1], left
