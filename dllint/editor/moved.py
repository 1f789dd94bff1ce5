"""Places of an earlier text in a later one."""

from __future__ import annotations

from dllint.source import Span


class Moved:
    """From one text to another that differs from it in one stretch: what is typed is typed in one place."""

    def __init__(self, before: str, after: str) -> None:
        self._start = _common(before, after)
        rest = min(len(before), len(after)) - self._start
        self._end = len(before) - _common(before[len(before) - rest :][::-1], after[len(after) - rest :][::-1])
        self._by = len(after) - len(before)

    def span(self, span: Span) -> Span:
        """Where a span is now, without what was typed at its ends; what was inside the stretch is at its borders."""
        start = span.start + self._by if span.start >= self._end else min(span.start, self._start)
        end = span.end if span.end <= self._start else max(span.end, self._end) + self._by
        return Span(start, max(start, end))


def _common(one: str, other: str) -> int:
    """The number of characters that two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
