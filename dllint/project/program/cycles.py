"""What leads to itself and back, in any graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def cycles(starts: Iterable[Node], leads_to: Callable[[Node], Iterable[Node]]) -> list[list[Node]]:
    """What leads to itself and back, each with all that it does so with; what is led to first (Tarjan, 1972)."""
    found: list[list[Node]] = []
    numbers: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    waiting: list[Node] = []
    open_: set[Node] = set()
    for start in starts:
        way = [] if start in numbers else [(start, iter(leads_to(start)))]
        while way:
            node, targets = way[-1]
            if node not in numbers:
                numbers[node] = lowest[node] = len(numbers)
                waiting.append(node)
                open_.add(node)
            target = next((item for item in targets if item not in numbers or item in open_), None)
            if target is None:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[node])
                if lowest[node] == numbers[node]:
                    first = len(waiting) - 1
                    while waiting[first] != node:
                        first -= 1
                    cycle = waiting[first:]
                    del waiting[first:]
                    open_.difference_update(cycle)
                    found.append(cycle)
            elif target in numbers:
                lowest[node] = min(lowest[node], numbers[target])
            else:
                way.append((target, iter(leads_to(target))))
    return found
