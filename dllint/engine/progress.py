"""The progress of a run, for observers; there are none unless `observed` adds one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Observer = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and of how many."""

_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observed(observer: Observer | None) -> Iterator[None]:
    """Tell an observer how far the runs inside have come."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def began(what: str) -> None:
    """Report a step of unknown length."""
    observer = _observer.get()
    if observer is not None:
        observer(what, 0, 0)


def track(what: str, items: Collection[Item]) -> Iterator[Item]:
    """The items, one after the other, as they are worked on."""
    return steps(what, items, len(items))


def steps(what: str, items: Iterable[Item], total: int) -> Iterator[Item]:
    """Items whose number is known though they are not there yet."""
    observer = _observer.get()
    if observer is not None:
        observer(what, 0, total)
    for done, item in enumerate(items, start=1):
        yield item
        if observer is not None:
            observer(what, done, total)
