"""The progress of a run, for observers, and how long its steps take; nobody observes unless a caller asks for it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Observer = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and of how many."""


class Timings:
    """How long the steps of runs took."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = defaultdict(dict)
        """Seconds by what is done and by the file or rule."""
        self.given_up = 0
        """How many questions kept an answer that had not come to rest."""
        self.unasked = 0
        """How many files weren't asked for options, as there are too many."""

    def add(self, what: str, name: str, seconds: float) -> None:
        """A step took so many seconds."""
        self.seconds[what][name] = self.seconds[what].get(name, 0.0) + seconds


_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)
_timings: ContextVar[Timings | None] = ContextVar("timings", default=None)


@contextmanager
def observed(observer: Observer | None) -> Iterator[None]:
    """Tell an observer how far the runs inside have come."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


@contextmanager
def timed() -> Iterator[Timings]:
    """Measure the steps of the runs inside."""
    timings = Timings()
    token = _timings.set(timings)
    try:
        yield timings
    finally:
        _timings.reset(token)


def began(what: str) -> None:
    """Report a step of unknown length."""
    observer = _observer.get()
    if observer is not None:
        observer(what, 0, 0)


def gave_up(questions: int) -> None:
    """Report how many questions kept an answer that had not come to rest."""
    timings = _timings.get()
    if timings is not None:
        timings.given_up += questions


def left_unasked(files: int) -> None:
    """Report how many files weren't asked for options."""
    timings = _timings.get()
    if timings is not None:
        timings.unasked += files


def track(what: str, items: Collection[Item], name: Callable[[Item], str] = str) -> Iterator[Item]:
    """The items, one after the other, as they are worked on."""
    return steps(what, items, len(items), name)


def steps(what: str, items: Iterable[Item], total: int, name: Callable[[Item], str] = str) -> Iterator[Item]:
    """Items whose number is known though they are not there yet; `name` says what to call one."""
    observer, timings = _observer.get(), _timings.get()
    if observer is not None:
        observer(what, 0, total)
    begun = time.perf_counter()
    for done, item in enumerate(items, start=1):
        yield item
        if observer is not None:
            observer(what, done, total)
        if timings is not None:
            now = time.perf_counter()
            timings.add(what, name(item), now - begun)
            begun = now
