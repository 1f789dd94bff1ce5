"""Which bindings of a name can be seen at a place, and which tests decided the way to it.

Straight-line order, branches and loops, nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.program.module import JUMPS, Binding, Module

LOOPS = frozenset({"for", "while"})
_ASKING = frozenset({"compare", "call", "unary", "boolop"})


def reaching(module: Module, function: int, bindings: Sequence[Binding], offset: int | None) -> list[Binding]:
    """The bindings that may be the last one executed before `offset` (None: when the scope ends), newest first."""
    if len(bindings) < 2:
        return list(bindings)
    here = set(module.enclosing(module.block_at(function, offset))) if offset is not None else set()
    before = [binding for binding in bindings if offset is None or binding.start < offset]
    found = _last_definite(module, function, before, here)
    if offset is not None:
        around = [module.block(index) for index in here if module.block(index).kind in LOOPS]
        if around:
            start, end = min(block.start for block in around), max(block.end for block in around)
            found += [item for item in bindings if item.start >= offset and start <= item.start <= end]
    return found or list(bindings)


def _last_definite(module: Module, function: int, before: list[Binding], here: set[int]) -> list[Binding]:
    found: list[Binding] = []
    excluded: set[int] = set()
    binding_branches: set[int] = set()
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
        if _is_bound_either_way(module, function, chain, here, binding_branches):
            break
        excluded.update(_branches_overwritten(module, chain, here))
    return found


def _branches_overwritten(module: Module, chain: list[int], here: set[int]) -> set[int]:
    """Inside one branch, an earlier binding of the same branch is dead once this one has run."""
    inner = chain[0] if chain else -1
    return {inner} if inner >= 0 and module.block(inner).kind not in LOOPS and inner not in here else set()


def _is_bound_either_way(
    module: Module, function: int, chain: list[int], here: set[int], binding_branches: set[int]
) -> bool:
    """Whether both branches of an `if` above a place bind a name, or one does and the other one leaves.

    `binding_branches`: those of the later bindings, to which it adds the branches around this one.
    """
    for block in chain:
        binding_branches.add(block)
        other = module.other_branches.get(block)
        if other is None or not here.isdisjoint((block, other)):
            return False
        if other not in binding_branches and other not in module.leaving[function]:
            return False
        parent = module.block(block).parent
        if parent < 0 or parent in here:
            return True
    return False


class Decided(NamedTuple):
    """A test whose outcome is known at a place, from offset `start` on."""

    test: Expr
    holds: bool
    start: int


def decided(module: Module, function: int, offset: int) -> Iterator[Decided]:
    """The tests of the branches around a place, and of those that leave the function or the iteration before it."""
    innermost = module.block_at(function, offset)
    for index in module.enclosing(innermost):
        test = module.test_of(index)
        if test is not None:
            yield Decided(*test, module.block(index).start)
    yield from left_before(module, function, offset, innermost)
    yield from chosen_in(module, function, offset)


def with_asked_above(module: Module, function: int, known: Decided) -> Iterator[Decided]:
    """A test, and what its names were asked above it: `is_list = isinstance(rows, list)`, then `if is_list:`."""
    yield known
    if known.test.kind != "compare":
        for name, holds in _names_of(known.test, known.holds):
            asked = asked_above(module, function, name)
            if asked is not None and asked.value is not None:
                yield Decided(asked.value, holds, asked.start)


def _names_of(test: Expr, holds: bool) -> Iterator[tuple[Expr, bool]]:
    """The names of which a test says whether they are true."""
    if test.kind == "name":
        yield test, holds
    elif test.kind == "unary" and test.name == "not":
        yield from _names_of(test.args[0], not holds)
    elif test.kind == "boolop" and (test.name == "and") is holds:
        for part in test.args:
            yield from _names_of(part, holds)


def asked_above(module: Module, function: int, name: Expr) -> Event | None:
    """The only assignment of a name that is tested, if it is one of a test, and no loop asks again without it."""
    bindings = module.bindings[function, -1].get(name.name, ())
    event = bindings[0].event if len(bindings) == 1 else None
    if event is None or event.kind != "assign" or event.value is None or event.end > name.start:
        return None
    if event.value.kind not in _ASKING or event.target is None or event.target.kind != "name":
        return None
    if name.name in module.writers_of_globals or (function, name.name) in module.nonlocal_writers:
        return None
    around = set(module.enclosing(event.block))
    inside = (index for index in module.enclosing(module.block_at(function, name.start)) if index not in around)
    return None if any(module.block(index).kind in LOOPS for index in inside) else event


def left_before(module: Module, function: int, offset: int, innermost: int) -> Iterator[Decided]:
    """The tests whose outcome is known, or the place would not be reached: `if test: return`, `if test: continue`."""
    for index in module.leaving[function]:
        block = module.block(index)
        test = block.test if block.kind == "if" else module.block(block.partner).test
        if block.end <= offset and test is not None:
            if block.parent < 0 or block.parent in module.enclosing(innermost):
                yield Decided(test, block.kind == "else", block.end)


def chosen_in(module: Module, function: int, offset: int) -> Iterator[Decided]:
    """The tests inside an expression that decide over the part of it at a place: `f() if test else None`."""
    for choice in module.choices.get(function, ()):
        if not choice.start <= offset < choice.end:
            continue
        if choice.kind == "comprehension":
            start = next((part.start for part in choice.args if part.start <= offset < part.end), offset)
            yield from (Decided(part, True, start) for key, part in clauses_before(choice, offset) if key == "if")
            continue
        test, *arms = choice.args
        outcomes = (True, False) if choice.kind == "ifexp" else (choice.name == "and",)
        for arm, holds in zip(arms, outcomes, strict=True):
            if arm.start <= offset < arm.end:
                yield Decided(test, holds, arm.start)


def clauses_before(comprehension: Expr, offset: int) -> tuple[tuple[str, Expr], ...]:
    """The clauses of a comprehension that run before the part of it at a place: for its element, all."""
    clauses = comprehension.keywords
    inside = (number for number, (_, part) in enumerate(clauses) if part.start <= offset < part.end)
    return clauses[: next(inside, len(clauses))]


def ends_before(
    module: Module, function: int, offset: int, ending: Iterable[Event]
) -> Iterator[tuple[Event, list[tuple[Expr, bool]]]]:
    """The statements above a place that may end the way to it, with the tests under which they run and it does not.

    What a handler ends doesn't count, as little as that a `try` may fail; a `finally` runs whatever is above it.
    """
    around = {-1, *module.enclosing(module.block_at(function, offset))}
    ended = {module.block(index).partner for index in around if index >= 0 and module.block(index).kind == "finally"}
    for event in ending:
        if event.end > offset:
            continue
        inside = list(takewhile(lambda index: index not in around, module.enclosing(event.block)))
        blocks = [module.block(index) for index in inside]
        kinds = {block.kind for block in blocks}
        if "except" in kinds or (event.kind in JUMPS and kinds & LOOPS):
            continue
        if ended.isdisjoint(inside) and ended.isdisjoint(block.partner for block in blocks):
            yield event, [test for test in map(module.test_of, inside) if test is not None]


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
