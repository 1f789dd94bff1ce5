"""Numbers in the code that say how long a container gets: a slice or a `break` at one, loops that count that far."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from dllint.model.facts import Block, Expr
from dllint.project.data.behind import assigned
from dllint.project.data.element_files import is_length
from dllint.project.data.growth import Container, Filling, Growth
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Seq, Value
from dllint.project.program.flow import LOOPS

if TYPE_CHECKING:
    from dllint.project import Project

_REACHED = frozenset({">=", ">", "=="})


class Limits:
    """Answers how many elements containers have, as far as numbers say it."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.growth = project.analysis(Growth)
        self._long: dict[Value, bool] = {}
        self._lengths: dict[Value, int | None] = {}

    def is_long(self, value: Value) -> bool:
        """Whether a number says that a container is long: `[name(number) for number in range(300_000)]`."""
        return self.evaluator.ask(self._long, value, False, self._is_long, value)

    def _is_long(self, value: Value) -> bool:
        if isinstance(value, Seq) and value.expr.kind == "comprehension":
            return any(self.growth.is_vast(part, value.env) for key, part in value.expr.keywords if key == "in")
        return any(map(self.is_long, self.growth.copied(value))) or any(
            map(self._fills_long, self.growth.fillings(value))
        )

    def _fills_long(self, filling: Filling) -> bool:
        module = filling.env.module
        loops = (module.block(index) for index in module.enclosing(filling.event.block))
        tests = (loop.test for loop in loops if loop.kind == "for" and loop.test is not None)
        return any(self.growth.is_vast(test, filling.env) for test in tests)

    def is_repeated(self, value: Value) -> bool:
        """Whether a container has an element for each of a list that is repeated as often as needed.

        `names = names * count`, then `rows.append({"name": name})` for each of them. The repeated list has no more
        objects than the one that it was made of.
        """
        return any(self._repeats(iterable, env) for iterable, env in self._gone_over(value))

    def _gone_over(self, value: Value) -> Iterator[tuple[Expr, Env]]:
        """What is gone over to make new elements of a container."""
        if isinstance(value, Seq) and value.expr.kind == "comprehension" and value.expr.args[-1].kind != "name":
            yield from ((iterable, value.env) for key, iterable in value.expr.keywords if key == "in")
        for filling in self.growth.fillings(value):
            given = filling.what.args[-1] if filling.what.kind == "call" else filling.event.value
            module = filling.env.module
            for loop in map(module.block, module.enclosing(filling.event.block)):
                if given is not None and given.kind != "name" and loop.kind == "for" and loop.test is not None:
                    yield loop.test, filling.env

    def _repeats(self, iterable: Expr, env: Env) -> bool:
        """Whether what is gone over is a list that is repeated so often as no number in the code says."""
        return any(
            (made.kind, made.name) == ("binop", "*")
            and any(map(self.growth.grows, self.evaluator.values(made, env)))
            and all(self.number(part, env) is None for part in made.args)
            for made in (iterable, *_set_to(iterable, env))
        )

    def of(self, value: Value) -> int | None:
        """How many elements a container has at most, as numbers in the code say; None where none does."""
        match value:
            case ExtInst(call=call, env=env) if call.kind == "subscript" and call.args[1].kind == "slice":
                start, *stops = call.args[1].args[:2]
                return self.number(stops[0], env) if start.kind == "none" and stops else None
            case Seq(expr=expr) if expr.kind in ("list", "dict", "set"):
                found = [self._of(filling) for filling in self.growth.fillings(value) if not _sets_anew(filling)]
                known = [number for number in found if number is not None]
                return len(expr.args) + sum(known) if found and len(known) == len(found) else None
        return None

    def _of(self, filling: Filling) -> int | None:
        """How often a place fills a container: until a loop ends that has filled enough, or as far as loops count."""
        env, module = filling.env, filling.env.module
        what = filling.what
        adds_one = filling.event.kind == "expr" and what.kind == "call" and what.args[0].name == "append"
        loops = [index for index in module.enclosing(filling.event.block) if module.block(index).kind in LOOPS]
        once = env.function < 0 or env.facts.name == "__init__" or _is_made_in(filling.container, env)
        if not adds_one or not once or filling.grouped or not loops:
            return None
        ends = self._ends(loops[-1], filling)
        if ends is not None:
            return ends
        counts = [self._rounds(index, env) for index in loops]
        known = [count for count in counts if count is not None]
        return prod(known) if len(known) == len(counts) else None

    def _ends(self, outer: int, filling: Filling) -> int | None:
        """The number of elements at which a loop breaks: `if len(rows) >= size: break`."""
        filled = filling.what.args[0].args[0].dotted
        for reached, number in _breaks(filling.env, outer) if filled else ():
            if is_length(reached) and reached.args[1].dotted == filled:
                return self.number(number, filling.env)
        return None

    def _rounds(self, index: int, env: Env) -> int | None:
        """How often a loop runs: until its counter is at a number, over what is written out, or a range of one."""
        loop = env.module.block(index)
        if loop.kind != "for" or loop.test is None:
            return None
        counter = _counter(env, loop)
        for reached, number in _breaks(env, index) if counter else ():
            last = self.number(number, env) if reached.dotted == counter else None
            if last is not None:
                return last + 1
        counts = [self._length(value) for value in self.evaluator.values(loop.test, env)]
        known = [count for count in counts if count is not None]
        return max(known) if known and len(known) == len(counts) else None

    def _length(self, value: Value) -> int | None:
        """How many elements a container has; None where that isn't known, as of one that takes elements from itself."""
        return self.evaluator.ask(self._lengths, value, None, self._find_length, value)

    def _find_length(self, value: Value) -> int | None:
        match value:
            case Seq(expr=expr) if expr.kind in ("list", "tuple", "set"):
                written = expr.args and not any(part.kind == "star" for part in expr.args)
                return len(expr.args) if written and not any(True for _ in self.growth.fillings(value)) else None
            case ExtInst(name="builtins.range", call=call, env=env):
                return self.number(call.args[min(len(call.args), 3) - 1], env)
        copied = list(self.growth.copied(value))
        counts = [self._length(part) for part in copied]
        known = [count for count in counts if count is not None]
        return max(known) if known and len(known) == len(counts) else None

    def number(self, expr: Expr, env: Env) -> int | None:
        """The largest number that an expression may be, if it is always one."""
        values = self.evaluator.values(expr, env)
        numbers = [value.value for value in values if isinstance(value, Const) and type(value.value) is int]
        return max(numbers) if numbers and len(numbers) == len(values) and min(numbers) >= 0 else None


def _breaks(env: Env, loop: int) -> Iterator[tuple[Expr, Expr]]:
    """What a loop compares in each round, and with what, to break where it is as much: `if step >= 50: break`."""
    for event in env.module.events(env.function):
        block = env.module.block(event.block) if event.kind == "break" and event.block >= 0 else None
        test = block.test if block is not None and block.kind == "if" and block.parent == loop else None
        if test is not None and test.kind == "compare" and test.name in _REACHED:
            yield test.args[0], test.args[1]


def _counter(env: Env, loop: Block) -> str:
    """The name that counts the rounds of a loop over `enumerate(...)`."""
    if loop.test is None or loop.test.kind != "call" or loop.test.args[0].name != "enumerate":
        return ""
    targets = (event.target for event in env.module.events(env.function) if event.value is loop.test)
    return next((target.args[0].dotted for target in targets if target is not None and target.args), "")


def _is_made_in(container: Container, env: Env) -> bool:
    return (container.env.module, container.env.function) == (env.module, env.function)


def _sets_anew(filling: Filling) -> bool:
    """Whether a function of the same object has set the attribute before it fills it: another list, as a base's is."""
    env = filling.env
    if _is_made_in(filling.container, env) or filling.event.kind == "augment" or filling.what.kind != "call":
        return False
    filled = filling.what.args[0].args[0]
    writes = env.module.attribute_writes.get(filled.name, ()) if filled.kind == "attribute" else ()
    return any(write.function == env.function and write.target.start < filled.start for write in writes)


def _set_to(expr: Expr, env: Env) -> list[Expr]:
    """What the same code sets a name or an attribute to."""
    if expr.kind != "attribute":
        return assigned(expr, env)
    writes = env.module.attribute_writes.get(expr.name, ())
    own = (write.event for write in writes if write.function == env.function and write.target.dotted == expr.dotted)
    return [event.value for event in own if event.value is not None]
