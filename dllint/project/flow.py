"""Which bindings of a name can be seen at a place: straight-line order, branches and loops, nothing more."""

from __future__ import annotations

from collections.abc import Sequence

from dllint.project.index import Binding, Module

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
