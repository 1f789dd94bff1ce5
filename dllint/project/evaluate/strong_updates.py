"""Attributes and keys that are read back: after `self.queue = Queue()`, other writes of the class do not matter.

A key that a scope stores in a dictionary of its own, before it hands that on, replaces the earlier value, too.
"""

from __future__ import annotations

from collections.abc import Callable

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.exclusion import constant_in
from dllint.project.evaluate.shapes import reaching_writes
from dllint.project.program.events import event_names
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module, Write

_UNKNOWN = Expr("none", 0, 0)
Elsewhere = Callable[[], frozenset[str]]


def just_written(module: Module, function: int, read: Expr, elsewhere: Elsewhere) -> Write | None:
    """The write of the same method that surely gave `self.name` its value where it is read; None for any other.

    `elsewhere` names the other methods of the object that set the attribute, or that call one that does.
    """
    owner, receiver = module.method_owner(function), module.receiver_name(function)
    if owner < 0 or read.args[0].kind != "name" or read.args[0].name != receiver:
        return None
    own = module.writers.get((owner, read.name), {}).get(function, [])
    before = [write for write in own if write.event.kind == "assign" and write.event.end <= read.start]
    if not before:
        return None
    last = max(before, key=lambda write: write.event.start)
    others = elsewhere()
    if len(own) < 2 and not others and (last.event.value is None or last.event.value.kind != "ifexp"):
        return None  # the attribute has no other value anyway
    around = set(module.enclosing(module.block_at(function, read.start)))
    if last.event.block >= 0 and last.event.block not in around:
        return None
    repeated = [module.block(index) for index in around if module.block(index).kind in LOOPS]
    for write in own:
        if write.event.start <= read.start < write.event.end and not repeated:
            continue  # `self.x = f(self.x)` reads what was there before
        comes_back = any(block.start <= write.event.start < block.end for block in repeated)
        if write.event.start > last.event.start and (write.event.start < read.start or comes_back):
            return None
    if any(_calls(event, others, last, read) for event in module.events(function)):
        return None
    return last


def puts_back(module: Module, write: Write) -> bool:
    """Whether an attribute gets what it had until the function set it: `old = a.b`, `a.b = None`, `a.b = old`."""
    value, target, function = write.event.value, write.target, write.function
    if write.event.kind != "assign" or write.event.target is not target or value is None or value.kind != "name":
        return False
    read = [binding.event for binding in module.bindings[function, -1].get(value.name, ())]
    if not read or not all(event is not None and _keeps(event, target.dotted) for event in read):
        return False
    first = min(event.start for event in module.events(function) if _sets(event, target.dotted))
    if any(event is None or event.start > first for event in read):
        return False
    base = target.args[0]
    while base.kind == "attribute" and constant_in(module, function, base.dotted):
        base = base.args[0]
    return base.kind == "name" and constant_in(module, function, base.name)


def _keeps(event: Event, attribute: str) -> bool:
    """Whether a name gets what an attribute has, and nothing else."""
    target, value = event.target, event.value
    named = event.kind == "assign" and target is not None and target.kind == "name"
    return named and value is not None and value.dotted == attribute != ""


def _sets(event: Event, attribute: str) -> bool:
    return event.target is not None and any(part.dotted == attribute for part in event.target.walk())


def just_stored(module: Module, function: int, mapping: Expr, key: str) -> Expr | None:
    """What the same code surely gave a key of the dictionary of a name, last before a place: `options["key"] = 2`."""
    if mapping.kind != "name":
        return None
    changes = [change for change in module.mutations[function] if change.receiver.dotted == mapping.name]
    around = set(module.enclosing(module.block_at(function, mapping.start)))
    found: tuple[Event, Expr] | None = None
    for event, _, what in changes:
        given = _given(event, what, key) if event.end <= mapping.start else None
        if given is not None:
            surely = event.block < 0 or event.block in around
            found = (event, given) if surely and given is not _UNKNOWN else None
    if found is None or _binds_between(module, function, mapping, found[0]):
        return None
    return found[1]


def has_by_then(module: Module, function: int, mapping: Expr, key: str) -> bool:
    """Whether code above a place surely gives a key of the dictionary of a name something, where it has nothing yet.

    `options.setdefault("key", 2)`, or `if "key" not in options: options["key"] = 2`.
    """
    if mapping.kind != "name":
        return False
    around = {-1, *module.enclosing(module.block_at(function, mapping.start))}
    has = None
    for event, receiver, what in module.mutations[function]:
        if receiver.dotted != mapping.name or event.end > mapping.start:
            continue
        given = _given(event, what, key)
        if event.block in around and _is_default(what, key):
            has = event
        elif given is _UNKNOWN:
            has = None  # it may have been taken out
        elif given is not None and event.block >= 0:
            branch = module.block(event.block)
            fills = branch.kind == "if" and branch.test is not None and _lacks(branch.test, mapping.name, key)
            has = event if fills and branch.parent in around else has
    return has is not None and not _binds_between(module, function, mapping, has)


def _is_default(what: Expr, key: str) -> bool:
    """Whether a call is `mapping.setdefault("key", value)`."""
    setting = what.kind == "call" and what.args[0].name == "setdefault" and len(what.args) > 2
    return setting and what.args[1].value == key


def _lacks(test: Expr, mapping: str, key: str) -> bool:
    """Whether a test asks if a dictionary has nothing under a key: `"key" not in d`, `d.get("key") is None`."""
    if test.kind != "compare":
        return False
    first, second = test.args[:2]
    if test.name == "not in":
        return first.value == key and second.dotted == mapping
    asked = first.kind == "call" and len(first.args) == 2 and first.args[0].dotted == f"{mapping}.get"
    is_none = test.name == "is" and second.kind == "constant" and second.value is None
    return is_none and asked and first.args[1].value == key


def _binds_between(module: Module, function: int, name: Expr, after: Event) -> bool:
    """Whether an event after another one, and before a place, gives a name another value."""
    between = (event for event in module.events(function) if after.end <= event.start < name.start)
    return any(name.name in event_names(event) for event in between)


def _given(event: Event, what: Expr, key: str) -> Expr | None:
    """What a change of a dictionary gives a key; "none" where it isn't known, None where it gives it nothing."""
    if what.kind == "subscript" and event.kind == "assign":
        known = what.args[1].kind == "constant"
        return (event.value if what.args[1].value == key else None) if known else _UNKNOWN
    if what.kind == "call" and what.args[0].name == "update":
        return what.keyword(key) or (_UNKNOWN if len(what.args) > 1 or what.keyword("**") else None)
    return _UNKNOWN


def overwritten_later(module: Module, function: int, name: str, place: int) -> list[Write]:
    """The writes of a method that `self.name` may have its value from at a place in it, but not at its end.

    `self.table = read(path)`, then perhaps `self.table = self.table.dropna()`, then always `self.table = self.table.T`:
    the second write reads what the first wrote, the third what either wrote.
    """
    own = module.writers.get((module.method_owner(function), name), {}).get(function, [])
    if len(own) < 2 or not any(write.event.end <= place for write in own):
        return []
    at_end = reaching_writes(module, function, own, None)
    here = reaching_writes(module, function, own, place)
    return [write for write in here if write not in at_end and write.event.end <= place]


def _calls(event: Event, names: frozenset[str], written: Write, read: Expr) -> bool:
    """Whether an event between the write and the read calls something by one of these names."""
    return written.event.end <= event.start <= read.start and any(
        part.kind == "call" and part.args[0].name in names for part in event.walk()
    )
