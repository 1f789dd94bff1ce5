"""Decorators that keep every result of a function: those of `functools`, and those that a project writes itself."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, Func, Klass
from dllint.project.program.module import Module

_LETTING_GO = frozenset({"pop", "popitem", "clear", "popleft", "len"})


class Memoizers:
    """Answers which decorators keep results without bound."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def of(self, env: Env) -> Expr | None:
        """The decorator of a function that keeps all of its results."""
        return next((item for item in env.facts.decorators if self._keeps_all(item, env)), None)

    def _keeps_all(self, decorator: Expr, env: Env) -> bool:
        called = decorator.kind == "call"
        outer = self.evaluator.generic(env.module, env.facts.parent)
        for value in self.evaluator.values(decorator.args[0] if called else decorator, outer):
            if value == Ext("functools.lru_cache"):
                return self._is_unbounded(decorator, outer)
            if isinstance(value, Func | Klass) and not called and _stores_results(value):
                return True
        return False

    def _is_unbounded(self, decorator: Expr, env: Env) -> bool:
        """`functools.cache`, or `lru_cache` of no size."""
        if decorator.kind != "call":
            return decorator.name == "cache"
        size = decorator.keyword("maxsize") or (decorator.args[1] if len(decorator.args) > 1 else None)
        return size is not None and self.evaluator.values(size, env) == (Const(None, "NoneType"),)


def _stores_results(decorator: Func | Klass) -> bool:
    """Whether what a decorator makes puts results into a mapping that outlives the call, and never releases one."""
    events = [event for function in _wrappers(decorator) for event in decorator.module.events(function)]
    own = {name for function in _wrappers(decorator) for name in _made_in(decorator.module, function)}
    lets_go = any(part.kind == "call" and part.args[0].name in _LETTING_GO for event in events for part in event.walk())
    return not lets_go and any(_stores(event, own) for event in events)


def _wrappers(decorator: Func | Klass) -> Iterator[int]:
    """The functions that run when a decorated function is called."""
    if isinstance(decorator, Klass):
        yield from (index for name, index in decorator.facts.methods.items() if name == "__call__")
    else:
        functions = decorator.module.model.functions
        yield from (item.index for item in functions if item.parent == decorator.index and item.kind == "def")


def _made_in(module: Module, function: int) -> Iterator[str]:
    """The names that a function binds to something that is its own: not to an attribute that it looks up or sets."""
    events = module.events(function)
    kept = {event.value for event in events if event.kind == "assign" and _is_kept(event, events)}
    for event in events:
        if event.kind == "assign" and event.target is not None and event.target.kind == "name":
            if event.value not in kept:
                yield event.target.name


def _is_kept(event: Event, events: tuple[Event, ...]) -> bool:
    """`cache = owner.cache`, or `cache = owner.cache = {}`: one value, two targets."""
    value = event.value
    return value is not None and (
        value.kind == "attribute"
        or any(
            other.value is value and other.target is not None and other.target.kind == "attribute" for other in events
        )
    )


def _stores(event: Event, own: set[str]) -> bool:
    """`cache[key] = result`, for a mapping that the function does not make for itself."""
    target = event.target
    if event.kind != "assign" or target is None or target.kind != "subscript":
        return False
    mapping = target.args[0]
    plain = target.args[1].kind not in ("constant", "slice")
    return plain and (mapping.kind == "attribute" or (mapping.kind == "name" and mapping.name not in own))
