"""Facts as bytes: data only, and decoded they are the same, down to which expressions are one object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern

import msgspec
from msgspec.structs import force_setattr, replace

from dllint.model import Damaged
from dllint.model.facts import Event, Expr, ModuleModel


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """A model without the expressions that it has twice, and where they belong.

    The evaluator tells values apart by the expression that makes them, so two copies would be two values.
    """

    model: ModuleModel
    tests: tuple[tuple[int, int, int], ...]
    """(block, scope, event): the block's test is the event's value."""
    twins: tuple[tuple[int, int, int], ...]
    """(scope, event, event): `a = b = value` is two events with one value."""
    inner: tuple[int, ...]
    """Which of the outermost expressions have others inside that are somewhere else, too."""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Stored)


def encode(model: ModuleModel) -> bytes:
    """The facts of a file, whatever its path."""
    places: dict[int, tuple[int, int]] = {}
    twins = []
    for number, events in enumerate(_scopes(model)):
        for index, event in enumerate(events):
            if event.value is not None:
                first = places.setdefault(id(event.value), (number, index))
                if first != (number, index):
                    twins.append((number, first[1], index))
    tests = [(index, *places[id(block.test)]) for index, block in enumerate(model.blocks) if id(block.test) in places]
    blocks = list(model.blocks)
    for index, _, _ in tests:
        blocks[index] = replace(blocks[index], test=None)
    inner = tuple(
        index
        for index, root in enumerate(_roots(model))
        if any(expr.kind == "walrus" or _unpacks(expr) for expr in root.walk())
    )
    return _ENCODER.encode(_Stored(replace(model, path="", blocks=tuple(blocks)), tuple(tests), tuple(twins), inner))


def decode(data: bytes, path: str) -> ModuleModel:
    """The facts of the file at `path`. Raises Damaged."""
    try:
        stored = _DECODER.decode(data)
        scopes = list(_scopes(stored.model))
        for block, scope, event in stored.tests:
            force_setattr(stored.model.blocks[block], "test", scopes[scope][event].value)
        for scope, first, second in stored.twins:
            force_setattr(scopes[scope][second], "value", scopes[scope][first].value)
        _intern(stored.model)
        if stored.inner:
            _join_inner(stored.model, stored.inner)
    except (msgspec.MsgspecError, IndexError, RecursionError) as error:
        raise Damaged(str(error)) from None
    force_setattr(stored.model, "path", path)
    return stored.model


def _intern(model: ModuleModel) -> None:
    """Every name as one object, as Python's parser has them: a tenth of what facts take are names that are there."""
    for root in _roots(model):
        waiting = [root]
        while waiting:
            expr = waiting.pop()
            if expr.name:
                force_setattr(expr, "name", intern(expr.name))
            if expr.args:
                waiting += expr.args
            if expr.keywords:
                waiting += [value for _, value in expr.keywords]


def _join_inner(model: ModuleModel, inner: Sequence[int]) -> None:
    """`(name := value)` is an event with the same value; `**value` of a display is a key and a value."""
    values: dict[tuple[int, int], Expr] = {}
    roots = list(_roots(model))
    for expr in (expr for index in inner for expr in roots[index].walk()):
        if expr.kind == "walrus":
            values[expr.start, expr.args[0].end] = expr.args[0]
        elif _unpacks(expr):
            for key, value in zip(expr.args[::2], expr.args[1::2], strict=False):
                if key.kind == "star":
                    force_setattr(key, "args", (value,))
    for events in _scopes(model):
        for event in events:
            if event.kind == "assign" and (event.start, event.end) in values:
                force_setattr(event, "value", values[event.start, event.end])


def _unpacks(expr: Expr) -> bool:
    return expr.kind == "dict" and any(key.kind == "star" for key in expr.args[::2])


def _scopes(model: ModuleModel) -> Iterator[tuple[Event, ...]]:
    yield model.events
    yield from (function.events for function in model.functions)
    yield from (item.events for item in model.classes)


def _roots(model: ModuleModel) -> Iterator[Expr]:
    """Every expression that isn't part of another one."""
    found: list[Expr | None] = [block.test for block in model.blocks]
    for events in _scopes(model):
        for event in events:
            found += (event.value, event.target)
    for function in model.functions:
        found += (*function.decorators, function.returns)
        for parameter in function.parameters:
            found += (parameter.default, parameter.annotation)
    for item in model.classes:
        found += (*item.bases, *item.decorators, *(value for _, value in item.keywords))
    return (expr for expr in found if expr is not None)
