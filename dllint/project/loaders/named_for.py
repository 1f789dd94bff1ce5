"""What a loader is for, by the names around it: of several that meet a hazard, the one that trains is told."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env
from dllint.project.program.flow import decided
from dllint.project.program.roles import is_held_out


def for_held_out(call: Expr, env: Env) -> bool:
    """Whether code is for validation or tests: the nearest name that says so, or that it trains, decides.

    Names are those of what the result is assigned to, of a branch, a loop, a function or a file, then of those that
    lead there.
    """
    where: Env | None = env
    while where is not None:
        found = next((found for name in _names(call, where) if (found := is_held_out(name)) is not None), None)
        if found is not None:
            return found
        if where.call is None:
            return False
        call, where = where.call, where.caller
    return False


def _names(call: Expr, env: Env) -> Iterator[str]:
    module, function = env.module, env.function
    for event in module.events(function):
        if event.kind == "assign" and event.target is not None and event.start <= call.start < event.end:
            yield _words(event.target)
    for known in decided(module, function, call.start):
        if known.holds and all(part.kind != "unary" for part in known.test.walk()):
            yield _words(known.test)
    for index in module.enclosing(module.block_at(function, call.start)):
        loop = module.block(index)
        if loop.kind == "for" and loop.test is not None:
            yield _words(loop.test)
    if function >= 0:
        yield env.facts.name
    yield module.path.rpartition("/")[2]


def _words(expr: Expr) -> str:
    texts = (part.value if isinstance(part.value, str) else part.name for part in expr.walk())
    return " ".join(text for text in texts if text)
