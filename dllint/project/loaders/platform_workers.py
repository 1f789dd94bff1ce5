"""Numbers of workers that the platform decides: `0 if sys.platform == "win32" else 4`, or whether it has CUDA."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from dllint.model.facts import Event
from dllint.project.evaluate.platforms import TOLD
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand
from dllint.project.program.programs import Programs
from dllint.source import Span
from dllint.targets import Targets

Place = tuple[str, Span]
"""A file, and where in it a loader is made."""
_MODULES = frozenset(name.partition(".")[0] for name in TOLD) - {"torch"}
"""What a function loads that asks; most functions load torch: who asks for CUDA is known by its call."""
_CUDA = "torch.cuda.is_available"


class Elsewhere:
    """Asks the same project once for each platform. `workers` answers for one, and the loaders made at one place."""

    def __init__(
        self, programs: Programs, targets: Targets, workers: Callable[[Place, str], Iterable[Workers]]
    ) -> None:
        self.programs = programs
        self.targets = targets
        self.workers = workers
        self._known: dict[Place, tuple[str, ...]] = {}
        self._told = OnDemand(self._find_told)

    def with_workers(self, place: Place) -> tuple[str, ...]:
        """The declared platforms on which the loader that is made at a place may have workers."""
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = tuple(
                platform
                for platform in self.targets.platforms
                if platform not in self._told[place[0]] or set(self.workers(place, platform)) != {Workers.NONE}
            )
        return known

    def _find_told(self, path: str) -> frozenset[str]:
        """The platforms that programs with a file may tell from others, by what their code names."""
        asking = (self._asked[module] for module in self.programs.sharing(self.programs.index.modules[path]))
        names = frozenset().union(*asking)
        return frozenset(platform for name in names for platform in TOLD[name])

    @cached_property
    def _asked(self) -> dict[Module, frozenset[str]]:
        return {module: frozenset(_asked(module)) for module in self.programs.index}


def _asked(module: Module) -> Iterator[str]:
    """What a module names that tells platforms."""
    if _CUDA.rpartition(".")[2] in module.calls:
        yield _CUDA
    parts = (part for events in _naming(module) for event in events for part in event.walk())
    yield from (part.dotted for part in parts if part.kind == "attribute" and part.dotted in TOLD)


def _naming(module: Module) -> Iterator[tuple[Event, ...]]:
    """The events of the scopes that may speak of a library that tells platforms."""
    model = module.model
    yield model.events
    yield from (function.events for function in model.functions if not _MODULES.isdisjoint(function.loads))
    yield from (item.events for item in model.classes)
