"""Numbers of workers that the platform decides: `0 if sys.platform == "win32" else 4`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from dllint.project.index import Index
from dllint.project.workers import Workers
from dllint.source import Span
from dllint.targets import Targets

Place = tuple[str, Span]
"""A file, and where in it a loader is made."""
_NAMES = frozenset({"sys.platform", "os.name", "platform.system"})


class Elsewhere:
    """Asks the same project once for each platform. `loaders` answers for one: places and workers."""

    def __init__(
        self, index: Index, targets: Targets, loaders: Callable[[str], Iterable[tuple[Place, Workers]]]
    ) -> None:
        self.index = index
        self.targets = targets
        self.loaders = loaders

    def with_workers(self, place: Place) -> tuple[str, ...]:
        """The declared platforms on which the loader that is made at a place may have workers."""
        without = self._without if self._is_asked_for else {}
        return tuple(platform for platform in self.targets.platforms if place not in without.get(platform, ()))

    @cached_property
    def _without(self) -> dict[str, set[Place]]:
        """By platform, the places of the loaders that never have workers there."""
        found = {}
        for platform in self.targets.platforms:
            placed = list(self.loaders(platform))
            some = {place for place, workers in placed if workers is not Workers.NONE}
            found[platform] = {place for place, _ in placed} - some
        return found

    @cached_property
    def _is_asked_for(self) -> bool:
        """Whether anything in the project names the platform it runs on."""
        return any(
            part.kind == "attribute" and part.dotted in _NAMES
            for module in self.index
            for _, _, events in module.scopes
            for event in events
            for part in event.walk()
        )
