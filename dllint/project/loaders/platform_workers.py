"""Numbers of workers that the platform decides: `0 if sys.platform == "win32" else 4`, or whether it has CUDA."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from dllint.model.facts import Event
from dllint.project.evaluate.platforms import ASKED
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.index import Index
from dllint.project.program.module import Module
from dllint.source import Span
from dllint.targets import Targets

Place = tuple[str, Span]
"""A file, and where in it a loader is made."""
_MODULES = frozenset(name.partition(".")[0] for name in ASKED) - {"torch"}
"""What a function loads that asks; most functions load torch: who asks for CUDA is known by its call."""
_OF_CUDA = "is_available"


class Elsewhere:
    """Asks the same project once for each platform. `workers` answers for one, and the loaders made at one place."""

    def __init__(self, index: Index, targets: Targets, workers: Callable[[Place, str], Iterable[Workers]]) -> None:
        self.index = index
        self.targets = targets
        self.workers = workers
        self._known: dict[Place, tuple[str, ...]] = {}

    def with_workers(self, place: Place) -> tuple[str, ...]:
        """The declared platforms on which the loader that is made at a place may have workers."""
        if not self._is_asked_for:
            return self.targets.platforms
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = tuple(
                platform for platform in self.targets.platforms if set(self.workers(place, platform)) != {Workers.NONE}
            )
        return known

    @cached_property
    def _is_asked_for(self) -> bool:
        """Whether anything in the project names the platform it runs on."""
        return any(_OF_CUDA in module.calls for module in self.index) or any(
            part.kind == "attribute" and part.dotted in ASKED
            for module in self.index
            for events in _naming(module)
            for event in events
            for part in event.walk()
        )


def _naming(module: Module) -> Iterator[tuple[Event, ...]]:
    """The events of the scopes that may speak of a library that tells platforms."""
    model = module.model
    yield model.events
    yield from (function.events for function in model.functions if not _MODULES.isdisjoint(function.loads))
    yield from (item.events for item in model.classes)
