"""Answers that are worked out when they are first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class OnDemand(dict[Key, Answer]):
    """A mapping whose values are made when they are first asked for, by `[key]` alone."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[Key], Answer]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Key) -> Answer:
        made = self[key] = self._make(key)
        return made
