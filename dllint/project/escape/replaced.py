"""Attributes that are set again while an object is made: what was there before doesn't go to workers, or may not.

`__init__` sets one at its end: what a method that it calls has put there never goes. Neither does what `__init__` has
put there, if the code that makes the object sets the attribute before anything else gets the object.
"""

from __future__ import annotations

import sys

from dllint.model.facts import Event, Expr
from dllint.project.escape.handles import Handles
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Func, Inst, Klass
from dllint.project.evaluate.attributes import Stored
from dllint.project.evaluate.exclusion import Known, exclude, known_at, told_by
from dllint.project.evaluate.set_after import follows
from dllint.project.program.flow import decided
from dllint.project.program.module import Module, Write

_PLAIN = frozenset({"if", "else", "with"})
"""Blocks that run once where the tests around them hold."""


class Replaced:
    """Answers which writes of a method never outlive the construction of the object.

    `self.load()`, then `self.size = len(self.rows)`, then `self.rows = []`: each worker loads rows of its own.
    """

    def __init__(self, evaluator: Evaluator, handles: Handles) -> None:
        self.evaluator = evaluator
        self.handles = handles
        self._known: dict[tuple[Klass, Env, int], bool] = {}
        self._later: dict[tuple[Klass, int, int], bool] = {}
        self._led: dict[tuple[Klass, Module, int, Module, int], list[int]] = {}

    def by_init(self, klass: Klass, write: Write, env: Env) -> bool:
        """Whether `__init__` replaces what a write leaves, each time that making an object leads to the write."""
        key = klass, env, write.event.start
        return self.evaluator.kept(self._known, key, self._by_init, klass, write, env)

    def by_maker(self, inst: Inst, name: str, stored: Stored) -> bool:
        """Whether the code that makes an object replaces a value at once: `rows = Rows(f)`, then `rows.clean = len`."""
        last, (write, _, env) = self._set_by_maker(inst, name), stored
        if last is None or write is last:
            return False
        if write is None or env in self.evaluator.activations.init_envs(inst).values():
            return True
        return env is inst.env and write.event.start < last.event.start

    def _set_by_maker(self, inst: Inst, name: str) -> Write | None:
        """The last write to what a name of the code that makes an object has before anything else gets that."""
        if inst.env is None:
            return None
        module, function = inst.env.module, inst.env.function
        for write in reversed(module.attribute_writes.get(name, ())):
            if write.function == function and follows(module, write):
                made = module.bindings[function, -1][write.target.args[0].name][0].event
                if made is not None and made.value is inst.call and not _may_be_seen(module, write, made):
                    return write
        return None

    def may_be(self, klass: Klass, stored: Stored, other: Stored) -> bool:
        """Whether making an object may give an attribute a value after it has given it this one."""
        (write, _, env), (later, _, around) = stored, other
        if write is None or later is None or write is later:
            return False
        key = klass, id(write), id(later)
        return self.evaluator.kept(self._later, key, self._may_be, klass, write, env, later, around)

    def _may_be(self, klass: Klass, write: Write, env: Env, later: Write, around: Env) -> bool:
        same = (env.module, env.function) == (around.module, around.function)
        if not same and any(where.module.method_owner(where.function) < 0 for where in (env, around)):
            return False  # set outside the class
        own = around.module.receiver_name(around.function)
        if later.event.kind == "augment" or _reads(later, f"{own}.{later.target.name}"):
            return False  # made of it
        if same:
            return later.event.start > write.event.start
        modules = self.evaluator.index.modules
        return any(
            max(self._leading(klass, later, around, modules[path], index), default=-1)
            > min(self._leading(klass, write, env, modules[path], index), default=sys.maxsize)
            for path, index in self.handles.set_up(klass)
        )

    def _leading(self, klass: Klass, write: Write, env: Env, module: Module, function: int) -> list[int]:
        """Where a method of the set-up writes this, or uses a method of its object that leads there."""
        if (env.module, env.function) == (module, function):
            return [write.event.start]
        key = klass, env.module, env.function, module, function
        return self.evaluator.kept(self._led, key, self._find_leading, klass, env, module, function)

    def _find_leading(self, klass: Klass, env: Env, module: Module, function: int) -> list[int]:
        leading, own = self.handles.leading_to(env, klass), module.receiver_name(function)
        parts = (part for event in module.events(function) for part in event.walk() if part.kind == "attribute")
        return [part.start for part in parts if part.name in leading and _is_own(part.args[0], own)]

    def _by_init(self, klass: Klass, write: Write, env: Env) -> bool:
        init = self.evaluator.classes.method(klass, "__init__")
        if init is None or (init.func.module, init.func.index) == (env.module, env.function):
            return False
        module, function = init.func.module, init.func.index
        own, name = module.receiver_name(function), write.target.name
        writes = module.writers.get((module.method_owner(function), name), {}).get(function, ())
        plain = [other for other in writes if other.event.kind == "assign" and not _reads(other, f"{own}.{name}")]
        if not plain:
            return False
        leading = self.handles.leading_to(env, klass)
        parts = (part for event in module.events(function) for part in event.walk() if part.kind == "attribute")
        uses = [part.start for part in parts if part.args[0].name == own and part.name in leading]
        if not uses:
            return False
        later = (other for other in plain if other.event.start > max(uses))
        replaced = any(self._follows(klass, init.func, other, write, env, min(uses)) for other in later)
        return replaced and self.handles.leads_only(env, klass, (module, function))

    def _follows(self, klass: Klass, init: Func, last: Write, write: Write, env: Env, used: int) -> bool:
        """Whether the last write always runs where the first one has: under no test, or under those that it passed."""
        module, function = init.module, init.index
        if any(module.block(index).kind not in _PLAIN for index in module.enclosing(last.event.block)):
            return False
        known = known_at(env.module, env.function, write.event.start)
        same = module.receiver_name(function) == env.module.receiver_name(env.function)
        for test in decided(module, function, last.event.start):
            for told in told_by(test.test, test.holds):
                otherwise = Known(told.about.dotted, not told.holds, told.constants, told.order)
                if not same or not self._set_once(klass, init, told.about, used) or not exclude(known, (otherwise,)):
                    return False
        return True

    def _set_once(self, klass: Klass, init: Func, subject: Expr, used: int) -> bool:
        """Whether only `__init__` sets an attribute of the object, once, whatever the tests, and before a place."""
        if subject.kind != "attribute" or subject.args[0].dotted != init.module.receiver_name(init.index):
            return False
        chain = self.evaluator.classes.mro(klass)
        every = (item.module.self_writes.get(item.index, {}).get(subject.name, ()) for item in chain)
        writes = [write for found in every for write in found]
        if self.evaluator.attributes.outside_writes(klass, subject.name) or len(writes) != 1:
            return False
        event = writes[0].event
        return (writes[0].function, event.block) == (init.index, -1) and event.start < used


def _may_be_seen(module: Module, write: Write, made: Event) -> bool:
    """Whether something that is called before a write may get the object by its name, as one of a module or around."""
    name = write.target.args[0].name
    around = module.model.functions[write.function].span if write.function >= 0 else None
    if around is not None and not any(
        name in item.loads and around.start < item.span.start and item.span.end <= around.end
        for item in module.model.functions
    ):
        return False
    since = (event for event in module.events(write.function) if made.end <= event.start <= write.event.start)
    return any(part.kind == "call" for event in since for part in event.walk())


def _is_own(base: Expr, receiver: str) -> bool:
    """Whether an expression is a method's own object, or `super()`."""
    return base.name == receiver or (base.kind == "call" and base.args[0].name == "super")


def _reads(write: Write, attribute: str) -> bool:
    """Whether an attribute is set to what is made of it."""
    value = write.event.value
    return value is None or any(part.dotted == attribute for part in value.walk())
