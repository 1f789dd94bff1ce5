"""Answers that rest on the evaluator, kept once nothing that they were found with may still change.

Whoever asks while a question is being answered may be given a provisional answer (`fixpoint.py`). Found with one, an
answer is found again when it is asked for again: `Evaluator.kept` keeps answers in a dictionary so, and what stands
here does it for properties and for mappings. `cached_property` and `OnDemand` keep what the text alone decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class at_rest(Generic[Answer]):
    """A property that is worked out when it is first asked for; its object has an `evaluator`."""

    def __init__(self, find: Callable[[Any], Answer]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> at_rest[Answer]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Answer: ...

    def __get__(self, instance: Any, owner: type) -> at_rest[Answer] | Answer:
        if instance is None:
            return self
        found: Answer = instance.evaluator.kept(vars(instance), self._name, self._find, instance)
        return found  # and what is kept is found in the instance, before this


class AtRest(OnDemand[Key, Answer]):
    """A mapping whose values are worked out when they are first asked for, by `[key]` alone."""

    __slots__ = ("_evaluator",)

    def __init__(self, evaluator: Evaluator, make: Callable[[Key], Answer]) -> None:
        super().__init__(make)
        self._evaluator = evaluator

    def __missing__(self, key: Key) -> Answer:
        return self._evaluator.kept(self, key, self._make, key)
