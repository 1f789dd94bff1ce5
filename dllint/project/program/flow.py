"""Which bindings of a name can be seen at a place, and which tests decided the way to it.

Straight-line order, branches and loops, nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dllint.model.facts import Expr
from dllint.project.program.module import Binding, Module

LOOPS = frozenset({"for", "while"})


def reaching(module: Module, function: int, bindings: Sequence[Binding], offset: int | None) -> list[Binding]:
    """The bindings that may be the last one executed before `offset` (None: when the scope ends), newest first."""
    if len(bindings) < 2:
        return list(bindings)
    here = set(module.enclosing(module.block_at(function, offset))) if offset is not None else set()
    before = [binding for binding in bindings if offset is None or binding.start < offset]
    found = _last_definite(module, before, here)
    if offset is not None:
        around = [module.block(index) for index in here if module.block(index).kind in LOOPS]
        if around:
            start, end = min(block.start for block in around), max(block.end for block in around)
            found += [item for item in bindings if item.start >= offset and start <= item.start <= end]
    return found or list(bindings)


def _last_definite(module: Module, before: list[Binding], here: set[int]) -> list[Binding]:
    found: list[Binding] = []
    excluded: set[int] = set()
    for binding in reversed(before):
        chain = list(module.enclosing(binding.block))
        if excluded.intersection(chain):
            continue
        if binding.kind in ("annotate", "global"):
            continue
        found.append(binding)
        if binding.kind == "augment":
            continue
        if all(block in here for block in chain):
            break
        excluded.update(_branches_overwritten(module, chain, here))
    return found


def _branches_overwritten(module: Module, chain: list[int], here: set[int]) -> set[int]:
    """Inside one branch, an earlier binding of the same branch is dead once this one has run."""
    inner = chain[0] if chain else -1
    return {inner} if inner >= 0 and module.block(inner).kind not in LOOPS and inner not in here else set()


class Decided(NamedTuple):
    """A test whose outcome is known at a place, from offset `start` on."""

    test: Expr
    holds: bool
    start: int


def decided(module: Module, function: int, offset: int) -> Iterator[Decided]:
    """The tests of the branches around a place, and of those that leave the function before it."""
    innermost = module.block_at(function, offset)
    for index in module.enclosing(innermost):
        block = module.block(index)
        if block.kind in ("if", "case") and block.test is not None:
            yield Decided(block.test, True, block.start)
        elif block.kind == "else" and block.partner >= 0:
            test = module.block(block.partner).test
            if test is not None:
                yield Decided(test, False, block.start)
    yield from left_before(module, function, offset, innermost)
    yield from chosen_in(module, function, offset)


def left_before(module: Module, function: int, offset: int, innermost: int) -> Iterator[Decided]:
    """The tests whose outcome is known, or the function would have been left: `if test: return`."""
    for index in module.leaving[function]:
        block = module.block(index)
        test = block.test if block.kind == "if" else module.block(block.partner).test
        if block.end <= offset and test is not None:
            if block.parent < 0 or block.parent in module.enclosing(innermost):
                yield Decided(test, block.kind == "else", block.end)


def chosen_in(module: Module, function: int, offset: int) -> Iterator[Decided]:
    """The tests inside an expression that decide over the part of it at a place: `f() if test else None`."""
    for choice in module.choices.get(function, ()):
        if choice.start <= offset < choice.end:
            test, *arms = choice.args
            outcomes = (True, False) if choice.kind == "ifexp" else (choice.name == "and",)
            for arm, holds in zip(arms, outcomes, strict=True):
                if arm.start <= offset < arm.end:
                    yield Decided(test, holds, arm.start)


def is_below_end(module: Module, function: int, offset: int, innermost: int) -> bool:
    """Whether a place is below a `return`, `raise` or `exit()` that every way to it meets."""
    ended = module.ended[function]
    return bool(ended) and any(ended.get(index, offset) < offset for index in (-1, *module.enclosing(innermost)))


def replacing(
    module: Module, function: int, binding: Binding, others: Sequence[Binding], offset: int | None
) -> Iterator[tuple[Expr, bool]]:
    """The tests under which a later binding has replaced one on every way to a place, and whether they held."""
    innermost = module.block_at(function, offset) if offset is not None else -1
    for other in others:
        if other.block < 0 or other.start <= binding.start:
            continue
        block = module.block(other.block)
        tested = block if block.kind == "if" else module.block(block.partner) if block.partner >= 0 else None
        if tested is None or tested.test is None or block.kind not in ("if", "else"):
            continue
        if tested.test.start < binding.start:
            continue  # it asks for the value before, even where it chose between the two
        left = offset is None or block.end <= offset
        if left and (block.parent < 0 or block.parent in module.enclosing(innermost)):
            yield tested.test, block.kind == "if"
