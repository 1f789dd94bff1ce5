"""Small questions about values, targets and functions that only need the facts at hand.

A chain of origins of something external has each call once, so a loop over its own result adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dllint.knowledge import CONFIGURABLE, MAPPINGS
from dllint.model.facts import Expr, Function
from dllint.project.evaluate.abstract_values import (
    MANY_RESULTS,
    TOP,
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Func,
    Seq,
    Super,
    Value,
    Values,
)
from dllint.project.program.events import holds_from, leaves
from dllint.project.program.flow import reaching, replacing
from dllint.project.program.module import Binding, Module, Write

MAX_VALUES = 100
"""More alternatives than this are not told apart: a registry of everything proves nothing."""
MAX_DERIVATIONS = 8
"""Steps from an external result back to what it comes from."""
MAX_PARTS = 2
"""How often a part of a part, taken in one place, is told apart from the part."""
MAX_TEXT = 10_000
MAX_NUMBER = 1 << 64
"""So long a text and so large a number are worked out."""
MAX_DERIVED = 16
"""External results of external results, of which more alternatives than this are not told apart."""
Tests = tuple[tuple[Expr, bool], ...]
"""Tests, each with its outcome."""
Argument = tuple[Expr, Env]
"""An expression and its activation."""


class Under(NamedTuple):
    """The values passed or stored under a name, and whether there always is one."""

    found: tuple[Argument, ...]
    surely: bool


def each_once(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Arguments in order, those that are the same expression in the same activation once."""
    return tuple(dict.fromkeys(arguments))


def display_of(value: Value) -> Expr | None:
    """Where a dictionary is written down: as a display, or as a call that makes one."""
    if isinstance(value, Seq) and value.expr.kind == "dict":
        return value.expr
    return value.call if isinstance(value, ExtInst) and value.name in MAPPINGS else None


GENERATOR = "types.generator"
"""The name of what calling a generator function gives."""


def unique(values: Iterable[Value]) -> Values:
    """The values, each once, in order; `TOP` for more than MAX_VALUES, and where it is one of them."""
    found = values if isinstance(values, (tuple, list)) else tuple(values)
    if len(found) > 1:
        found = tuple(dict.fromkeys(found))
        if len(found) > MAX_VALUES or TOP in found:
            return (TOP,)
    return tuple(found)


def unsettled(answer: Any) -> Any:
    """What is known where the values of a cycle come and go without end: nothing, also of what has them under keys."""
    if isinstance(answer, dict):
        return {key: unsettled(found) for key, found in answer.items()}
    return (TOP,) if type(answer) is tuple and _has_values(answer) else answer


def limited(answer: Any) -> Any:
    """An answer that was put together of two, within the limits of values."""
    return bounded(unique(answer)) if type(answer) is tuple and _has_values(answer) else answer


def _has_values(answer: tuple[Any, ...]) -> bool:
    return any(isinstance(item, Value) for item in answer)


def bounded(values: Values) -> Values:
    """The values of an expression; what comes from something external in too many ways is not known.

    All that comes from these ways is not known either, or a cycle would find fewer of them, tell them apart, and so on.
    """
    if len(values) > MAX_DERIVED or (len(values) > 1 and MANY_RESULTS in values):
        left = tuple(value for value in values if not isinstance(value, (ExtInst, ExtMethod)) or value.base is None)
        if len(values) - len(left) > MAX_DERIVED or MANY_RESULTS in left:
            return tuple(dict.fromkeys((*left, MANY_RESULTS)))
    return values


def derived(made: ExtInst | ExtMethod) -> Value:
    """Something external that comes from something else, or what it comes from, where that would have no end.

    What a loop makes of its own result stays what it is: a result has each call once among what it comes from (of a
    loop's items and their parts, three), and no more than MAX_DERIVATIONS in all.
    """
    assert made.base is not None
    base: Value | None = made.base
    depth = again = 0
    while isinstance(base, (ExtInst, ExtMethod)):
        if isinstance(made, ExtInst) and isinstance(base, ExtInst) and base.base is not None:
            if base.call is made.call and base.env is made.env:
                again += 1
                if again > (MAX_PARTS if made.call.kind != "subscript" and made.name.endswith("[]") else 0):
                    return base
        base, depth = base.base, depth + 1
    return made if depth <= MAX_DERIVATIONS else made.base


def describe(value: Value) -> str:
    """The name under which results of a value's methods are known: `h5py.File()`, `?` for the unknown."""
    match value:
        case ExtInst(name=name):
            return name if name.endswith("]") else f"{name}()"
        case ExtMethod(base=base, attribute=attribute):
            return f"{describe(base)}.{attribute}"
        case Ext(name=name):
            return name
        case Const(kind=kind):
            return kind
        case Seq():
            return value.kind
        case Super():
            return "super()"
    return "?"


def fold(operator: str, left: Any, right: Any) -> Any:
    """Arithmetic on constants; None where it is not defined, or gives too much: `text = text + text`, line by line."""
    try:
        found = _calculated(operator, left, right)
    except (ArithmeticError, TypeError):
        return None
    too_much = len(found) > MAX_TEXT if isinstance(found, str) else found is not None and abs(found) > MAX_NUMBER
    return None if too_much else found


def _calculated(operator: str, left: Any, right: Any) -> Any:
    numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
    match operator:
        case "+" if numbers or (isinstance(left, str) and isinstance(right, str)):
            return left + right
        case "-" if numbers:
            return left - right
        case "*" if numbers:
            return left * right
        case "//" if numbers:
            return left // right
        case "/" if numbers:
            return left / right
    return None


def as_int(value: Value) -> tuple[Const, ...]:
    """What `int()` makes of a constant; nothing where it raises, or where the value is no constant."""
    if not isinstance(value, Const) or value.value is None:
        return ()
    try:
        return (Const(int(value.value), "int"),)
    except (ValueError, OverflowError):
        return ()


def path_to(target: Expr, name: str) -> tuple[int, ...] | None:
    """The positions that lead to a name in a nested tuple target; None where it is not in there."""
    if target.kind == "name":
        return () if target.name == name else None
    if target.kind in ("tuple", "list"):
        for index, part in enumerate(target.args):
            path = path_to(part, name)
            if path is not None:
                return (index, *path)
    return None


def path_to_expr(target: Expr, wanted: Expr) -> tuple[int, ...] | None:
    """The positions that lead to a part of a nested tuple target."""
    if target is wanted:
        return ()
    if target.kind in ("tuple", "list"):
        for index, part in enumerate(target.args):
            path = path_to_expr(part, wanted)
            if path is not None:
                return (index, *path)
    return None


def reaching_writes(module: Module, function: int, writes: list[Write], offset: int | None) -> list[Write]:
    """The writes to one attribute that may be the last before an offset, or (None) when the function ends."""
    bindings = list(map(_as_binding, writes))
    kept = {id(binding.event) for binding in reaching(module, function, bindings, offset)}
    return [write for write in writes if id(write.event) in kept]


def surely_written(module: Module, function: int, writes: list[Write], offset: int) -> bool:
    """Whether every way to an offset comes by one of some writes."""
    before = Binding("parameter", 0, -1, None)
    return before not in reaching(module, function, [before, *map(_as_binding, writes)], offset)


def with_replacing(module: Module, function: int, writes: list[Write]) -> list[tuple[Write, Tests]]:
    """Writes to one attribute, each with the tests under which a later one replaces it, and whether they hold then."""
    bindings = [_as_binding(write) for write in writes]
    return [
        (write, tuple(replacing(module, function, binding, bindings, None)))
        for write, binding in zip(writes, bindings, strict=True)
    ]


def _as_binding(write: Write) -> Binding:
    return Binding(write.event.kind, holds_from(write.event), write.event.block, write.event)


def decorated(facts: Function, name: str) -> bool:
    """Whether a function has a decorator of this name."""
    return any(decorator.dotted == name for decorator in facts.decorators)


def is_configured(module: Module, facts: Function) -> bool:
    """Whether settings that aren't seen may replace the defaults of parameters: `@gin.configurable`."""
    made = module.model.classes[facts.owner].decorators if facts.name == "__init__" and facts.owner >= 0 else ()
    decorators = (*facts.decorators, *made)
    return any((item.args[0] if item.kind == "call" else item).dotted in CONFIGURABLE for item in decorators)


def is_property(facts: Function) -> bool:
    """Whether reading an attribute of this name runs the function."""
    return any(decorator.dotted.rpartition(".")[2] in ("property", "cached_property") for decorator in facts.decorators)


def is_accessor(facts: Function) -> bool:
    """Whether a function sets or deletes a property: the name is still that of the property."""
    return any(
        decorator.kind == "attribute" and decorator.name in ("setter", "deleter") for decorator in facts.decorators
    )


def may_end(module: Module, function: int) -> bool:
    """Whether a function may come to its end without a `return`, as far as its branches tell."""
    return not _surely_leaves(module, function, -1)


def _surely_leaves(module: Module, function: int, block: int) -> bool:
    """Whether every way through a block leaves the function: by its last statement, or by both branches of it."""
    events = module.events(function)
    inner = {
        index for event in events for index in module.enclosing(event.block) if module.block(index).parent == block
    }
    own = [event for event in events if event.block == block]
    last = max(inner, key=lambda index: module.block(index).start, default=-1)
    if any(leaves(event) for event in own):
        return True
    if last < 0 or (own and own[-1].start > module.block(last).start) or module.block(last).kind != "else":
        return False
    partner = module.block(last).partner
    return partner >= 0 and all(_surely_leaves(module, function, branch) for branch in (last, partner))


def getter(func: Func) -> Func | None:
    """The function that runs when a property is read; `func` is the last of its class that has the property's name."""
    if not is_accessor(func.facts):
        return func if is_property(func.facts) else None
    functions = func.module.model.functions
    same = (item for item in functions if item.owner == func.facts.owner and item.name == func.facts.name)
    return next((Func(func.module, item.index, func.outer) for item in same if is_property(item)), None)


def text_around(fstring: Expr) -> tuple[str, str] | None:
    """The text before and after the only part of an f-string; None of other f-strings.

    Facts have an f-string's text without its places. Where the part begins and ends tells where in the text it is.
    """
    text, parts = fstring.value, fstring.args
    if len(parts) != 1 or not isinstance(text, str):
        return None
    before, after = parts[0].start - fstring.start - len('f"{'), fstring.end - parts[0].end - len('}"')
    return (text[:before], text[before:]) if min(before, after) >= 0 and before + after == len(text) else None
