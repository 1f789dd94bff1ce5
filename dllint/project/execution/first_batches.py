"""Loaders of which only the first batch is taken: their workers read a few items, however long the lists are."""

from __future__ import annotations

from dllint.model.facts import Event, Expr
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.events import leaves
from dllint.project.program.module import Module


def only_first_batch(loader: Loader) -> bool:
    """Whether the code that makes a loader leaves each loop over it with the first batch, and does nothing else."""
    made = loader.instance if loader.instance is not None else loader
    if made.call is None or made.env is None:
        return False
    module, function = made.env.module, made.env.function
    scopes = [function] if function >= 0 else [scope for scope, _, _ in module.scopes]
    events = [event for scope in scopes for event in module.events(scope)]
    target = next((event.target for event in events if event.value is made.call and event.kind == "assign"), None)
    if target is None or target.kind != "name":
        return False
    uses = [event for event in events if event.value is not made.call and _mentions(event, target.name)]
    return bool(uses) and all(_takes_first(module, event, events, target.name) for event in uses)


def _mentions(event: Event, name: str) -> bool:
    return any(part.kind == "name" and part.name == name for part in event.walk())


def _takes_first(module: Module, event: Event, events: list[Event], name: str) -> bool:
    """Whether an event is a loop that ends with its first step, or `next(iter(loader))`."""
    if event.kind != "for":
        calls = (part for part in event.walk() if part.kind == "call" and part.args[0].dotted == "next")
        return any(_is_iter(part, name) for call in calls for part in call.args[1:2])
    return any(_ends(module, event, other, events) for other in events)


def _is_iter(expr: Expr, name: str) -> bool:
    return expr.kind == "call" and expr.args[0].dotted == "iter" and [part.name for part in expr.args[1:]] == [name]


def _ends(module: Module, loop: Event, event: Event, events: list[Event]) -> bool:
    """Whether an event leaves a loop in any case, and nothing begins its next step before."""
    if event.kind != "break" and not leaves(event):
        return False
    for block in map(module.block, module.enclosing(event.block)):
        if block.test is loop.value and block.kind == "for":
            begun = (other for other in events if block.start <= other.start < event.start)
            return not any(other.kind == "continue" for other in begun)
        if block.kind != "with":
            return False
    return False
