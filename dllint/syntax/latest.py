"""Questions that each fix of a file asks again, and whose answers need a walk over the whole file."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

About = TypeVar("About")
Answer = TypeVar("Answer")


def latest(ask: Callable[[About], Answer]) -> Callable[[About], Answer]:
    """The function, which remembers its answer about the latest object (the very one, and not an equal one).

    Who is answered must not change the answer.
    """
    known: list[tuple[About, Answer]] = []

    @wraps(ask)
    def asked(about: About) -> Answer:
        kept = known[:]
        if not kept or kept[0][0] is not about:
            kept = known[:] = [(about, ask(about))]
        return kept[0][1]

    return asked
