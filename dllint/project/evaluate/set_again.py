"""Attributes that a base sets again: `self.x = x`, then `super().__init__()`, which says `self.x = True`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env
from dllint.project.program.module import JUMPS, Write

_LEAVING = JUMPS | {"return"}


def set_again(write: Write, inits: Sequence[Env], methods: Collection[str]) -> bool:
    """Whether a write in `__init__` is always replaced by one in the `__init__` of a base, before anything reads it.

    `inits`: the activations of the `__init__`s that call one another, from that of the write on; `methods`: the names
    of what the object has for methods.
    """
    name, start, block = write.target.name, write.event.end, write.event.block
    for here, base in pairwise(inits):
        call = base.call
        if call is None or not _comes_to(here, start, block, call.start, name, methods):
            return False
        if _reads((*call.args[1 + base.skip :], *(value for _, value in call.keywords)), here, name, methods):
            return False
        if any(_replaces(other, base, methods) for other in _writes(base, name)):
            return True
        start, block = 0, -1
    return False


def _writes(env: Env, name: str) -> list[Write]:
    """What a method gives an attribute of its object."""
    return env.module.writers.get((env.facts.owner, name), {}).get(env.function, [])


def _replaces(write: Write, env: Env, methods: Collection[str]) -> bool:
    """Whether a write always runs, before anything that may read what the attribute had."""
    event = write.event
    if event.kind != "assign" or event.target is not write.target or event.value is None:
        return False
    reads = _reads((event.value,), env, write.target.name, methods)
    return not reads and _comes_to(env, 0, -1, event.start, write.target.name, methods)


def _comes_to(env: Env, start: int, block: int, end: int, name: str, methods: Collection[str]) -> bool:
    """Whether a method surely goes on from one place to another, and nothing between may read the attribute."""
    module = env.module
    last = module.block_at(env.function, end)
    if end < start or (last >= 0 and (last not in module.enclosing(block) or module.block(last).kind == "try")):
        return False
    between = [event for event in module.events(env.function) if start <= event.start < end]
    return not any(
        event.kind in _LEAVING or _reads((event.target, event.value), env, name, methods) for event in between
    )


def _reads(exprs: Iterable[Expr | None], env: Env, name: str, methods: Collection[str]) -> bool:
    """Whether expressions may read an attribute of a method's own object, or hand the object to what may."""
    own = env.module.receiver_name(env.function)
    parts = [part for expr in exprs if expr is not None for part in expr.walk()]
    others = {
        id(part.args[0])
        for part in parts
        if part.kind == "attribute" and part.name != name and part.name not in methods
    }
    return any(part.kind == "name" and part.name == own and id(part) not in others for part in parts)
