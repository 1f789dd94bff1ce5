"""Random draws with few outcomes, such as the flip of a coin: an epoch without new ones still has all outcomes."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.execution.call_graph import Running

FEW = 8
_WHOLE = frozenset({"randint", "randrange", "integers"})
_PICKS = frozenset({"choice", "choices"})


def has_few_outcomes(running: Running, event: Event, call: Expr) -> bool:
    """Whether a draw only decides: it is compared, or it picks one of a few that are written there."""
    if _is_small(call) or _compared(event, call):
        return True
    target = event.target
    if event.kind != "assign" or event.value is not call or target is None or target.kind != "name":
        return False
    uses = [
        (other, part)
        for other in running.env.facts.events
        for part in other.walk()
        if part.kind == "name" and part.name == target.name and part is not target
    ]
    return bool(uses) and all(_compared(other, part) for other, part in uses)


def _is_small(call: Expr) -> bool:
    """`randint(0, 3)`, `choice(("left", "right"))`."""
    name, given = call.args[0].name, call.args[1:]
    if name in _PICKS and given and given[0].kind in ("list", "tuple"):
        return len(given[0].args) <= FEW
    bounds = [part.value for part in given]
    if name not in _WHOLE or call.keywords or not 1 <= len(bounds) <= 2:
        return False
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    return len(numbers) == len(bounds) and abs(numbers[-1] - (numbers[0] if len(numbers) > 1 else 0)) <= FEW


def _compared(event: Event, wanted: Expr) -> bool:
    """Whether an expression is a side of a comparison, itself or in arithmetic."""
    whole = (expr for expr in (event.value, event.target) if expr is not None)
    comparisons = (part for expr in whole for part in expr.walk() if part.kind == "compare")
    return any(any(part is wanted for part in _sides(comparison)) for comparison in comparisons)


def _sides(expr: Expr) -> Iterator[Expr]:
    for part in expr.args:
        yield part
        if part.kind in ("binop", "unary"):
            yield from _sides(part)
