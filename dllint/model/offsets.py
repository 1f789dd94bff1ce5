"""Places in texts as numbers that all facts share: a million lines have millions, and few are in one file only."""

from __future__ import annotations

_shared: list[int] = []


def offsets(size: int) -> list[int]:
    """The numbers up to a text's size, and more: the same objects each time."""
    global _shared
    if size >= len(_shared):  # never changed in place: another thread may read it
        _shared = [*_shared, *range(len(_shared), max(size + 1, 2 * len(_shared)))]
    return _shared
