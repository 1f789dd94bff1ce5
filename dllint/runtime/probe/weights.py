"""Which attribute holds the objects: how many Python objects each holds, estimated from samples of large ones."""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from dllint.runtime.probe.contents import Step, attributes, direct, kind, short
from dllint.runtime.probe.messages import Part

ENOUGH = 10_000
"""Objects from which on a holder is worth a word."""
SAMPLE = 200
DEEPEST = 6


class Weight(NamedTuple):
    """Objects that are counted by reference, each of which a reader writes to, and the bytes that they take."""

    objects: float
    bytes: float

    def times(self, factor: float) -> Weight:
        return Weight(self.objects * factor, self.bytes * factor)

    def plus(self, other: Weight) -> Weight:
        return Weight(self.objects + other.objects, self.bytes + other.bytes)


NOTHING = Weight(0, 0)


def holders(value: object, path: str) -> list[Part]:
    """The attributes that hold many objects, the largest first."""
    found = [_part(step, weight) for step, weight in _holders(Step(path, value, None, ""), 0, set())]
    return sorted(found, key=lambda part: -part.objects)


def _holders(step: Step, depth: int, seen: set[int]) -> Iterator[tuple[Step, Weight]]:
    """An instance is taken apart into its attributes; a container is a holder as a whole."""
    if id(step.value) in seen or depth > DEEPEST:
        return
    seen.add(id(step.value))
    if _is_container(step.value) and len(_sized(step.value)) > SAMPLE:
        if (weight := weigh(step.value)).objects >= ENOUGH:
            yield step, weight
        return
    for part in direct(step, SAMPLE):
        yield from _holders(part, depth + 1, seen)


def _is_container(value: object) -> bool:
    return isinstance(value, list | tuple | dict | set | frozenset | collections.deque) or _is_object_array(value)


def _is_object_array(value: object) -> bool:
    described: Any = value
    return kind(value) == "numpy.ndarray" and described.dtype == object and described.ndim > 0


def _sized(value: Any) -> Any:
    """A container that has a length and can be iterated."""
    return value.reshape(-1) if _is_object_array(value) else value


def weigh(value: object, depth: int = 0) -> Weight:
    """How many objects, and how large."""
    if value is None or isinstance(value, bool | type) or (isinstance(value, int) and -6 < value < 257):
        return NOTHING  # there is one of each in a process
    own = Weight(1, _size(value))
    if isinstance(value, str | bytes | int | float | complex) or depth > DEEPEST:
        return own
    if not _is_container(value):
        held = attributes(value) if type(value).__module__.partition(".")[0] not in ("numpy", "torch") else {}
        return own.plus(_total(list(held.values()), depth))
    if isinstance(value, dict):
        own = own.plus(_sampled(value.keys(), len(value), depth))
        return own.plus(_sampled(value.values(), len(value), depth))
    sized = _sized(value)
    return own.plus(_sampled(sized, len(sized), depth))


def _size(value: object) -> int:
    try:
        return sys.getsizeof(value)
    except Exception:  # a `__sizeof__` of its own
        return 0


def _sampled(elements: Any, count: int, depth: int) -> Weight:
    """The weight of so many elements, judged by some from all over; the same object twice weighs once."""
    if not count:
        return NOTHING
    chosen = list(islice(iter(elements), 0, None, max(1, count // SAMPLE)))[: SAMPLE + 1]
    different = {id(element): element for element in chosen}
    if len(different) == 1 and count > 1:
        return _total(list(different.values()), depth)
    return _total(list(different.values()), depth).times(count / len(chosen))


def _total(values: list[object], depth: int) -> Weight:
    found = NOTHING
    for value in values:
        found = found.plus(weigh(value, depth + 1))
    return found


def _part(step: Step, weight: Weight) -> Part:
    return Part(
        step.path,
        _described(step.value),
        step.stored(),
        rule=_rule(step.value),
        objects=round(weight.objects),
        bytes=round(weight.bytes),
    )


def _described(value: object) -> str:
    first = _first(value)
    inside = f" of {short(first)}" if first is not None else ""
    name = "array of objects," if _is_object_array(value) else short(value)
    return f"{name} {len(_sized(value)):,}{inside}".replace(" 1 of", " one of")


def _first(value: Any) -> object:
    elements = value.values() if isinstance(value, dict) else _sized(value)
    return next(iter(elements), None)


def _rule(value: object) -> str:
    """The static rule that tells of such an attribute."""
    if _is_object_array(value):
        return "DLL203"
    first = _first(value)
    names = isinstance(value, list | tuple) and isinstance(first, str)
    return "DLL201" if names and any(mark in str(first) for mark in ("/", "\\", ".")) else "DLL202"
