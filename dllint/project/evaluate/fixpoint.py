"""Answers to questions that may lead back to themselves: least fixpoints, found on demand.

A question that is asked while it is being answered has, for the time being, the least answer: no values, no callers.
Whatever was found with it is provisional, and remembers who read it. When the first question of such a cycle has been
answered, every question is answered again that has read something that has changed since, until nothing changes any
more; only then are the answers of the whole cycle kept. So an answer doesn't depend on which of its questions came
first, as long as no answer reaches a limit, and outside of cycles nothing is found twice. What a question says where
nothing was found, it holds back until then, and never takes back.

Those that hold something back on account of each other say it together, each from the answers at rest, before any of
these changes; those that hang on them, only after them (`_ready`). So what is said depends on no order either: what
the questions hang on is at rest, whichever of them came first, and the least answers to them are the same; so are then
the questions that say something, what they say, and, as it only adds to answers, the next rest. This holds wherever
more alternatives never make an answer less. It holds, too, for questions that were answered together because one had
come too deep, or had read another one for the time being: `_ready` goes by what they have read in the end.

The cycles are the strongly connected components of the questions, told apart as by Tarjan: `_Open.head` is the earliest
question, among those being answered, that an answer depends on. A question that comes too deep is not answered where it
is asked: it counts as part of the cycle of the very first one, and is answered with that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from heapq import heappop, heappush
from typing import Any, TypeVar

from dllint.project.program.cycles import cycles

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")

MAX_DEPTH = 60
"""Questions that are being answered at a time. Each takes some twenty of Python's frames."""
MAX_CHANGES = 12
"""Answers to one question of a cycle that take back what an earlier one said, after which its values are not known.

What has no values only gets more alternatives then; twice as many answers, and it stays at the last.
"""
_ROOT = sys.maxsize
"""The number of a cycle's first question: it comes last."""
_MISSING: Any = object()
_ALTERNATIVES = (tuple, list, frozenset)


class _Open:
    """A question without a final answer."""

    __slots__ = (
        "args",
        "changes",
        "find",
        "head",
        "holds",
        "index",
        "key",
        "known",
        "least",
        "number",
        "readers",
        "said",
        "says",
        "seen",
        "value",
    )

    def __init__(self, known: dict[Any, Any], key: Any, least: Any, find: Callable[..., Any], args: Any) -> None:
        self.known = known
        self.key = key
        self.least = least
        """What it begins with: what another answer adds to that takes nothing back."""
        self.value = least
        self.find = find
        self.args = args
        self.index = -1
        """Where it stands among the questions being answered; -1: it is not being answered."""
        self.head: _Open | None = None
        self.readers: dict[_Open, None] | None = None
        """The questions that have read its provisional value."""
        self.seen: list[_Open] = []
        """Those whose provisional values it has read, when it was last asked."""
        self.changes = 0
        self.number = 0
        """Its place among all that got a provisional answer: behind most of those that it has read."""
        self.holds = 0
        """How many it had read where it held something back, as its cycle hadn't come to rest; 0: it held nothing."""
        self.says: tuple[set[_Open], set[_Open]] | None = None
        """The questions on which what it may say now hangs; None: it holds back what hangs on any."""
        self.said = _MISSING
        """What it said when it no longer held anything back, which it never takes back."""

    def keep(self) -> None:
        """Keeps the answer, and lets go of the other questions: nobody may collect the garbage of a cycle."""
        self.known[self.key] = self.value
        self.head = self.readers = None
        self.seen = []

    def joined(self, one: Any, found: Any) -> Any:
        """An answer that says what an earlier one and a new one say; True and False make None, which is not known."""
        if one is self.least:
            return found
        if found == self.least:
            return one
        if not isinstance(found, bool) and not isinstance(one, bool):
            return _joined(one, found)
        if isinstance(self.least, bool):
            return one or found
        return found if found is one else None


class Fixpoint:
    """Keeps answers, each once it is final; until then, the question stands where its answer will be kept."""

    def __init__(
        self,
        top: Any = _MISSING,
        unsettled: Callable[[Any], Any] = lambda answer: answer,
        limited: Callable[[Any], Any] = lambda answer: answer,
    ) -> None:
        self._top = top
        """The answer that says that nothing is told apart: it stays, whatever the cycle finds after it."""
        self._unsettled = unsettled
        """What is said instead of an answer that does not come to rest."""
        self._limited = limited
        """What is said instead of an answer that says what two say: they may be too much together."""
        self._stack: list[_Open] = []
        self._provisional: list[_Open] = []
        """Those with a provisional answer, in the order in which these were found."""
        self._again: list[_Open] = []
        """Those that have read what has changed since, and those that came too deep."""
        self._numbers = 0
        """How many questions have had a provisional answer."""
        self._reads = 0
        """How often a provisional value was read."""
        self.given_up = 0
        """How many questions have an answer that did not come to rest by itself."""

    def ask(self, known: dict[Key, Found], key: Key, least: Found, find: Callable[..., Found], *args: Any) -> Found:
        """The answer that `known` keeps under a key, or the one that `find` gives; `least`: what it begins with."""
        answer: Any = known.get(key, _MISSING)
        if answer is _MISSING:
            question = known[key] = _Open(known, key, least, find, args)  # type: ignore[assignment]
            if len(self._stack) < MAX_DEPTH:
                return self._answered(question)  # type: ignore[no-any-return]
            question.head = self._stack[0]
            self._wait(question)
            self._again.append(question)
        elif type(answer) is _Open:
            question = answer
        else:
            return answer  # type: ignore[no-any-return]
        self._read(question)
        return question.value  # type: ignore[no-any-return]

    def kept(self, known: dict[Key, Found], key: Key, find: Callable[..., Found], *args: Any) -> Found:
        """Like `ask`, for what never leads back to itself but through other questions."""
        answer: Found = known.get(key, _MISSING)
        if answer is not _MISSING:
            return answer
        reads = self._reads
        found = find(*args)
        if self._reads == reads:
            known[key] = found
        return found

    def is_open(self) -> bool:
        """Whether the question being answered has read something that may still change; it is asked again then."""
        top = self._stack[-1] if self._stack else None
        if top is None or not top.seen:
            return False
        if top.says is not None and all(any(read in known for known in top.says) for read in top.seen):
            return False
        top.holds = top.holds or len(top.seen)
        return True

    def _wait(self, question: _Open) -> None:
        """Keep a provisional answer until those that it depends on have come to rest."""
        self._numbers += 1
        question.number = self._numbers
        self._provisional.append(question)

    def _read(self, question: _Open) -> None:
        """Record that the current answer depends on a provisional one."""
        self._reads += 1
        top = self._stack[-1]
        if question.readers is None:
            question.readers = {}
        question.readers[top] = None
        top.seen.append(question)
        self._hang(top, question if question.index >= 0 else _earliest(question))

    def _hang(self, question: _Open, head: _Open) -> None:
        if head.index < question.index and (question.head is None or head.index < question.head.index):
            question.head = head

    def _answered(self, question: _Open) -> Any:
        stack, provisional, mark, again = self._stack, self._provisional, len(self._provisional), len(self._again)
        reads = self._reads
        question.index = len(stack)
        stack.append(question)
        try:
            self._answer(question)
            while question.head is None and len(self._again) > again:
                self._ask_again(question, again)
            if question.head is None and (question.holds or len(provisional) > mark):
                self._release(question, mark, again)
        except BaseException:
            self._forget(question, mark, again)
            raise
        finally:
            stack.pop()
            question.index = -1
        if question.head is None:
            if len(provisional) > mark:
                self._keep(mark)
            question.keep()
            self._reads = reads
        else:
            self._wait(question)
            above = stack[-1]
            self._hang(above, question.head)
            if question.readers is None:
                question.readers = {}
            question.readers[above] = None
            above.seen.append(question)
            self._reads += 1
        return question.value

    def _answer(self, question: _Open) -> None:
        self._change(question, self._find(question))

    def _find(self, question: _Open) -> Any:
        question.seen, question.holds = [], 0
        return question.value if question.value == self._top else question.find(*question.args)

    def _change(self, question: _Open, found: Any) -> None:
        """Gives a question the answer that was found; those who have read another one are to be asked again."""
        if found is question.value:
            return
        if question.said is not _MISSING:
            found = self._limited(question.joined(question.said, found))
        if question.value is not question.least and not _says(found, question.value):
            question.changes += 1
            self.given_up += question.changes == MAX_CHANGES + 1
        if question.changes > MAX_CHANGES:
            more = question.changes < 2 * MAX_CHANGES
            found = self._unsettled(question.joined(question.value, found)) if more else question.value
        if question.readers and not _same(found, question.value):
            self._again += question.readers
        question.value = found

    def _ask_again(self, root: _Open, mark: int) -> None:
        """Asks those again that have read what has changed, as long as the cycle ends with its root.

        What others have read is asked before them: one that has read several changed answers is asked once for all.
        """
        waiting: dict[int, _Open] = {}
        numbers: list[int] = []
        while root.head is None:
            for question in self._again[mark:]:
                number = _ROOT if question is root else question.number
                if number not in waiting:
                    waiting[number] = question
                    heappush(numbers, number)
            del self._again[mark:]
            if not numbers:
                return
            question = waiting.pop(heappop(numbers))
            self._change(question, self._find_above(root, question))
        self._again += waiting.values()

    def _find_above(self, root: _Open, question: _Open) -> Any:
        """What a question of a root's cycle finds now."""
        if question is root:
            return self._find(root)
        question.index = len(self._stack)
        question.head = root
        self._stack.append(question)
        try:
            return self._find(question)
        finally:
            self._stack.pop()
            question.index = -1
            self._hang(root, question.head)

    def _release(self, root: _Open, mark: int, again: int) -> None:
        """Has questions say what they hold back, until none holds anything: no values are to come for them."""
        settled: set[_Open] = set()
        while root.head is None:
            cycle = [*self._provisional[mark:], root]
            if not any(question.holds for question in cycle):
                return
            ready = list(_ready(cycle, settled))
            said = [(question, self._find_said(root, question, settled, part)) for question, part in ready]
            for question, found in said:  # only now: none of them has read what another one says
                question.said = self._limited(question.joined(question.value, found))
                self._change(question, found)
            while root.head is None and len(self._again) > again:
                self._ask_again(root, again)

    def _find_said(self, root: _Open, question: _Open, settled: set[_Open], part: set[_Open]) -> Any:
        """What a question finds that says what it holds back, as far as that hangs on its part of a cycle alone."""
        held, question.says = question.holds, (settled, part)
        try:
            found = self._find_above(root, question)
        finally:
            question.says = None
        if question.holds <= held:
            question.holds = 0  # it has said all that it can
        return found

    def _keep(self, mark: int) -> None:
        for question in self._provisional[mark:]:
            question.keep()
        del self._provisional[mark:]

    def _forget(self, question: _Open, mark: int, again: int) -> None:
        for other in (*self._provisional[mark:], question):
            other.known.pop(other.key, None)
        del self._provisional[mark:]
        del self._again[again:]


def _ready(cycle: list[_Open], settled: set[_Open]) -> Iterator[tuple[_Open, set[_Open]]]:
    """The questions of a cycle at rest that may say now what they hold back, each with the part of it that it is in.

    What hangs on nothing held back joins `settled`.

    What a question says hangs on the answers that it had read before; its answer, on all that it has read and on what
    it says. A question may say something if, in this sense, it hangs on nothing held back but what hangs on it as well.
    """
    left = set(cycle) - settled

    def hangs_on(node: Any) -> list[Any]:
        if type(node) is tuple:  # what a question says
            return [read for read in node[0].seen[: node[0].holds] if read in left]
        return [read for read in node.seen if read in left] + ([(node,)] if node.holds else [])

    later: set[Any] = set()
    saying: list[Any] = [(question,) for question in cycle if question.holds]
    for part in cycles(saying, hangs_on):
        says = [node[0] for node in part if type(node) is tuple]
        waits = not later.isdisjoint(other for node in part for other in hangs_on(node))
        if not waits:
            together = set(part)
            yield from ((question, together) for question in says)
        if says or waits:
            later.update(part)
        else:
            settled.update(part)


def _earliest(question: _Open) -> _Open:
    """The earliest unanswered question that a provisional answer depends on."""
    head = question.head
    assert head is not None
    while head.index < 0:
        assert head.head is not None
        head = head.head
    question.head = head
    return head


def _same(one: Any, other: Any) -> bool:
    """Whether two answers say the same; the order of alternatives says nothing."""
    return bool(one == other) or (_says(one, other) and _says(other, one))


def _says(other: Any, one: Any) -> bool:
    """Whether an answer says all that another one says: alternatives have been added, and what is under keys."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return all(key in other and _says(other[key], value) for key, value in one.items())
    if type(one) in _ALTERNATIVES:
        return len(other) >= len(one) and set(other).issuperset(one)
    if isinstance(one, tuple):  # with names
        return all(map(_says, other, one))
    return bool(one == other)


def _joined(one: Any, other: Any) -> Any:
    """An answer that says what both say; of what can't be joined, the later one."""
    if type(one) is not type(other):
        return other
    if isinstance(one, dict):
        return one | {key: _joined(one[key], value) if key in one else value for key, value in other.items()}
    if type(one) in _ALTERNATIVES:
        return type(one)(dict.fromkeys((*one, *other)))
    return type(one)(*map(_joined, one, other)) if isinstance(one, tuple) else other
