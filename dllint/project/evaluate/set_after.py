"""Attributes that code sets on what a function has returned, before anything else gets it: `options.workers = 0`.

What the function that makes an object sets on it counts where it may run in the call that made the object. What the
caller sets before anything else gets the object replaces it. What the function asserts of options that it makes, before
anything else gets them, holds for all who read them below: `assert options.padded`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Env, ExtInst, Inst, Value
from dllint.project.evaluate.exclusion import Told, told_by
from dllint.project.program.module import Module, Write

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

Replacing = tuple[Write, Env]


class SetAfter:
    """Answers which write replaces all that an object has under a name when the function that makes it returns it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._known: dict[tuple[Value, str], Replacing | None] = {}
        self._writes: dict[tuple[Module, str], list[Write]] = {}

    def of(self, made: Inst | ExtInst, name: str) -> Replacing | None:
        """The last such write, with its activation; None where there is none."""
        if made.env is None or name not in self.evaluator.index.outside_writes:
            return None
        return self.evaluator.ask(self._known, (made, name), None, self._find, made, name)

    def _find(self, made: Inst | ExtInst, name: str) -> Replacing | None:
        found: Replacing | None = None
        for module in dict.fromkeys(module for module, _ in self.evaluator.index.outside_writes[name]):
            for write in self._surely_run(module, name):
                if not self._makes(made, module, write):
                    env = self.evaluator.generic(module, write.function)
                    if any(_is_same(value, made) for value in self.evaluator.values(write.target.args[0], env)):
                        found = write, env
        return found or self._by_maker(made, name)

    def asserted(self, made: ExtInst, name: str, read: Expr, env: Env) -> Told | None:
        """What the code that makes an object asserts of an attribute; `read`: where that is read, maybe above it."""
        if name in self.evaluator.index.outside_writes:
            return None
        module, function = made.env.module, made.env.function
        here = env.module is module and env.function == function
        for event in module.ending[function]:
            if event.kind != "assert" or event.value is None or (here and read.start < event.end):
                continue
            for told in told_by(event.value, True):
                base = told.about.args[0] if told.about.kind == "attribute" and told.about.name == name else None
                bound = _returned(module, function, base, event) if base is not None else None
                if bound is not None and bound.value is made.call:
                    return told
        return None

    def _by_maker(self, made: Inst | ExtInst, name: str) -> Replacing | None:
        """The same in the code that makes an object of a library itself: `args = parser.parse_args()`."""
        if isinstance(made, Inst) or made.env is None:
            return None
        for write in reversed(self._surely_run(made.env.module, name)):
            bound = made.env.module.bindings[write.function, -1][write.target.args[0].name][0].event
            if self._makes(made, made.env.module, write) and bound is not None and bound.value is made.call:
                return write, made.env
        return None

    def _makes(self, made: Inst | ExtInst, module: Module, write: Write) -> bool:
        """Whether a write is in the code that makes an object."""
        return made.env is not None and (module, write.function) == (made.env.module, made.env.function)

    def _surely_run(self, module: Module, name: str) -> list[Write]:
        """The last writes of a module to what a call has returned, with nothing in between that gets it."""
        key = module, name
        if key not in self._writes:
            writes = module.attribute_writes.get(name, ())
            last = {(write.function, write.target.args[0].dotted): write for write in writes}
            self._writes[key] = [write for write in last.values() if follows(module, write)]
        return self._writes[key]


def _is_same(value: Value, made: Inst | ExtInst) -> bool:
    """Whether a value is what one call makes in an activation: of the same calls, as far as the value's are known."""
    if not isinstance(value, Inst | ExtInst) or type(value) is not type(made) or value.call is not made.call:
        return False
    one, other = value.env, made.env
    while one != other:
        if one is None or other is None or other.call is None or one.receiver != other.receiver:
            return one is None and other is not None
        if one.call is None:
            return True
        if one.call is not other.call:
            return False
        one, other = one.caller, other.caller
    return True


def follows(module: Module, write: Write) -> bool:
    """Whether a write is in the same block as the call, so that nobody gets the object without it."""
    base, event = write.target.args[0], write.event
    is_set = event.kind == "assign" and event.value is not None
    return is_set and _returned(module, write.function, base, event) is not None


def _returned(module: Module, function: int, base: Expr, event: Event) -> Event | None:
    """What gives a name the result of a call, in the block of an event and with nothing in between that gets it."""
    bindings = module.bindings[function, -1].get(base.name, ()) if base.kind == "name" else ()
    made = bindings[0].event if len(bindings) == 1 else None
    if made is None or made.kind != "assign" or made.value is None or made.value.kind != "call":
        return None
    if made.block != event.block or event.start < made.end:
        return None
    between = [one for one in module.events(function) if made.end <= one.start < event.start]
    return made if not any(_hands_on(one, base.name) for one in between) else None


def _hands_on(event: Event, name: str) -> bool:
    """Whether an event gives what has a name to anything: a call, another name, a container, a function's code."""
    if event.kind in ("def", "class", "return"):
        return True
    value = event.value
    if value is None:
        return False
    return _is(value, name) or any(_is(part, name) for whole in value.walk() for part in _given(whole))


def _given(whole: Expr) -> tuple[Expr, ...]:
    """What an expression hands on: the arguments of a call, the owner of a method, the elements of a display."""
    if whole.kind == "call":
        method = whole.args[0].args if whole.args[0].kind == "attribute" else ()
        return (*method, *whole.args[1:], *(value for _, value in whole.keywords))
    return whole.args if whole.kind in ("tuple", "list", "dict", "set", "star", "ifexp", "boolop") else ()


def _is(part: Expr, name: str) -> bool:
    return part.kind == "name" and part.name == name
