"""Answers to questions that may lead back to themselves: least fixpoints, found on demand.

A question that is asked while it is being answered has, for the time being, the least answer: no values, no callers.
Whatever was found with it is provisional, and remembers who read it. When the first question of such a cycle has been
answered, every question is answered again that has read something that has changed since, until nothing changes any
more; only then are the answers of the whole cycle kept. So an answer never depends on which of its questions came
first, and outside of cycles nothing is found twice.

The cycles are the strongly connected components of the questions, told apart as by Tarjan: `_Open.head` is the earliest
question, among those being answered, that an answer depends on. A question that comes too deep is not answered where it
is asked: it counts as part of the cycle of the very first one, and is answered with that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ParamSpec, TypeVar

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")
Given = ParamSpec("Given")

MAX_DEPTH = 60
"""Questions that are being answered at a time. Each takes some twenty of Python's frames."""
MAX_ANSWERS = 12
"""Answers to one question of a cycle after which alternatives are only added; twice as many: it stays at the last."""
_MISSING: Any = object()


class _Open:
    """A question without a final answer."""

    __slots__ = ("answers", "find", "head", "index", "key", "known", "readers", "slot", "value")

    def __init__(
        self, known: dict[Any, Any], key: Any, slot: tuple[int, Any], value: Any, find: Callable[[], Any]
    ) -> None:
        self.known = known
        self.key = key
        self.slot = slot
        self.value = value
        self.find = find
        self.index = -1
        """Where it stands among the questions being answered; -1: it is not being answered."""
        self.head: _Open | None = None
        self.readers: dict[_Open, None] = {}
        """The questions that have read its provisional value."""
        self.answers = 0


class Fixpoint:
    """Keeps answers, each once it is final."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, Any], _Open] = {}
        self._stack: list[_Open] = []
        self._provisional: list[_Open] = []
        """Those with a provisional answer, in the order in which these were found."""
        self._again: list[_Open] = []
        """Those that have read what has changed since, and those that came too deep."""
        self._reads = 0
        """How often a provisional value was read."""

    def ask(
        self,
        known: dict[Key, Found],
        key: Key,
        least: Found,
        find: Callable[Given, Found],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Found:
        """The answer that `known` keeps under a key, or the one that `find` gives; `least`: what it begins with."""
        answer: Found = known.get(key, _MISSING)
        if answer is not _MISSING:
            return answer
        slot = (id(known), key)
        question = self._open.get(slot)
        if question is not None:
            self._read(question)
            return question.value  # type: ignore[no-any-return]
        question = self._open[slot] = _Open(known, key, slot, least, lambda: find(*args, **kwargs))
        if len(self._stack) < MAX_DEPTH:
            return self._answered(question)  # type: ignore[no-any-return]
        question.head = self._stack[0]
        self._provisional.append(question)
        self._again.append(question)
        self._read(question)
        return least

    def kept(
        self,
        known: dict[Key, Found],
        key: Key,
        find: Callable[Given, Found],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Found:
        """Like `ask`, for what never leads back to itself but through other questions."""
        answer: Found = known.get(key, _MISSING)
        if answer is not _MISSING:
            return answer
        reads = self._reads
        found = find(*args, **kwargs)
        if self._reads == reads:
            known[key] = found
        return found

    def _read(self, question: _Open) -> None:
        """Notes that the answer being found hangs on a provisional one."""
        self._reads += 1
        top = self._stack[-1]
        question.readers[top] = None
        self._hang(top, question if question.index >= 0 else _earliest(question))

    def _hang(self, question: _Open, head: _Open) -> None:
        if head.index < question.index and (question.head is None or head.index < question.head.index):
            question.head = head

    def _answered(self, question: _Open) -> Any:
        stack, mark, again, reads = self._stack, len(self._provisional), len(self._again), self._reads
        question.index = len(stack)
        stack.append(question)
        try:
            self._answer(question)
            while question.head is None and len(self._again) > again:
                self._ask_again(question, again)
        except BaseException:
            self._forget(question, mark, again)
            raise
        finally:
            stack.pop()
            question.index = -1
        if question.head is None:
            self._keep(question, mark)
            self._reads = reads
        else:
            self._provisional.append(question)
            self._hang(stack[-1], question.head)
            question.readers[stack[-1]] = None
            self._reads += 1
        return question.value

    def _answer(self, question: _Open) -> None:
        """Finds an answer; those who have read another one are to be asked again."""
        found = question.find()
        question.answers += 1
        if question.answers > MAX_ANSWERS:
            found = _joined(question.value, found) if question.answers < 2 * MAX_ANSWERS else question.value
        if question.readers and not _same(found, question.value):
            self._again += question.readers
        question.value = found

    def _ask_again(self, root: _Open, mark: int) -> None:
        """Asks those again that have read what has changed, as long as the cycle ends with its root."""
        asked = list(dict.fromkeys(self._again[mark:]))
        del self._again[mark:]
        while asked and root.head is None:
            question = asked.pop(0)
            if question is root:
                self._answer(root)
                continue
            question.index = len(self._stack)
            question.head = root
            self._stack.append(question)
            try:
                self._answer(question)
            finally:
                self._stack.pop()
                question.index = -1
            self._hang(root, question.head)
        self._again += asked

    def _keep(self, root: _Open, mark: int) -> None:
        for question in (*self._provisional[mark:], root):
            question.known[question.key] = question.value
            del self._open[question.slot]
        del self._provisional[mark:]

    def _forget(self, question: _Open, mark: int, again: int) -> None:
        for other in (*self._provisional[mark:], question):
            self._open.pop(other.slot, None)
        del self._provisional[mark:]
        del self._again[again:]


def _earliest(question: _Open) -> _Open:
    """The earliest question being answered that a provisional answer hangs on."""
    head = question.head
    assert head is not None
    while head.index < 0:
        assert head.head is not None
        head = head.head
    question.head = head
    return head


def _same(one: Any, other: Any) -> bool:
    """Whether two answers say the same; the order of alternatives says nothing."""
    if one == other or type(one) is not tuple or type(other) is not tuple or len(one) != len(other):
        return bool(one == other)
    return all(item in other for item in one)


def _joined(one: Any, other: Any) -> Any:
    """An answer that both are part of; None, not known, where they are no alternatives."""
    if type(one) is tuple and type(other) is tuple:
        return tuple(dict.fromkeys((*one, *other)))
    return other if one == other or not isinstance(other, bool) else None
