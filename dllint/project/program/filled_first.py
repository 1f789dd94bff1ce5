"""What a method does for items that are missing, of a table that `__init__` fills with it for all of them."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.program.flow import decided
from dllint.project.program.module import Module

_ALL = frozenset({"len", "enumerate"})


def only_while_filling(module: Module, function: int, event: Event) -> bool:
    """Whether a place is reached only for what is missing in a table that is complete once the object is made.

    `if key in self.table: return self.table[key]` before it, and `self.table[key] = self.load(index)` in a loop of
    `__init__` over all items.
    """
    if function < 0 or module.model.functions[function].owner < 0:
        return False
    tables = set(_filled_with(module, function))
    return bool(tables) and any(
        _is_missing(test, holds, tables, module.receiver_name(function))
        for test, holds, _ in decided(module, function, event.start)
    )


def _filled_with(module: Module, function: int) -> Iterator[str]:
    """The attributes that `__init__` fills with what a method gives, and that no other method sets."""
    method = module.model.functions[function]
    made = module.model.classes[method.owner].methods.get("__init__")
    if made is None or made == function:
        return
    itself = module.receiver_name(made)
    for call in module.calls.get(method.name, ()):
        target = call.event.target
        if call.function != made or call.event.kind != "assign" or call.event.value is not call.expr or target is None:
            continue
        if target.kind != "subscript" or not _is_own(target.args[0], itself) or not _is_own(call.expr.args[0], itself):
            continue
        table = target.args[0].name
        writes = module.writers.get((method.owner, table), {})
        if set(writes) == {made} and _for_all(module, made, call.event, table):
            yield table


def _for_all(module: Module, made: int, event: Event, table: str) -> bool:
    """Whether a loop over all items surely runs an event, or the whole table is loaded in its place."""
    loop, *around = (module.block(index) for index in module.enclosing(event.block)) if event.block >= 0 else (None,)
    if loop is None or loop.kind != "for" or loop.test is None:
        return False
    if not any(part.kind == "call" and part.args[0].name in _ALL for part in loop.test.walk()):
        return False
    return all(
        block.kind == "else" and block.partner >= 0 and _is_loaded(module, made, block.partner, table)
        for block in around
    )


def _is_loaded(module: Module, made: int, block: int, table: str) -> bool:
    """Whether a branch sets the table to what a call gives."""
    return any(
        event.block == block and event.kind == "assign" and event.value is not None and event.value.kind == "call"
        for event in module.events(made)
        if event.target is not None and _is_own(event.target, module.receiver_name(made)) and event.target.name == table
    )


def _is_missing(test: Expr, holds: bool, tables: set[str], itself: str) -> bool:
    """Whether a test that holds, or doesn't, says that a key isn't in one of the tables."""
    if test.kind != "compare" or test.name != ("not in" if holds else "in"):
        return False
    table = test.args[1]
    if table.kind == "call" and table.args[0].name == "keys" and table.args[0].args:
        table = table.args[0].args[0]
    return _is_own(table, itself) and table.name in tables


def _is_own(expr: Expr, itself: str) -> bool:
    return expr.kind == "attribute" and bool(itself) and expr.args[0].dotted == itself
