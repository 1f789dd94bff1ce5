"""The folder entries that patterns leave: the same patterns give the same result for the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence


class Listings:
    """The folders of a project, each with what its ignore files, its entries and those that were kept came to.

    To compile a usual .gitignore takes longer than all the rest of a run in which nothing changed, and to hold
    thousands of paths against it takes longer still.
    """

    def __init__(self, known: Mapping[str, Sequence[str]] | None = None) -> None:
        self._known = known or {}
        self.seen: dict[str, Sequence[str]] = {}

    @property
    def changed(self) -> bool:
        """Whether there is anything that was not known."""
        return self.seen != self._known

    def kept(self, folder: str, ignores: str, entries: Sequence[str], keep: Callable[[str], bool]) -> Iterable[str]:
        """Those of the entries of a folder that the ignore files of this identity leave."""
        asked = "\0".join(entries)
        known = self._known.get(folder, ())
        if known[:2] != (ignores, asked):
            known = (ignores, asked, "\0".join(filter(keep, entries)))
        self.seen[folder] = known
        return filter(None, known[2].split("\0"))
