"""Numbers of workers that the platform decides: `0 if sys.platform == "win32" else 4`, or whether it has CUDA."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dllint.project.evaluate.abstract_values import Env
from dllint.project.loaders.platform_names import PlatformNames
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.index import Index
from dllint.project.program.module import Site
from dllint.project.program.on_demand import OnDemand
from dllint.source import Span
from dllint.targets import Targets

Place = tuple[str, Span]
"""A file, and where in it a loader is made."""


class Elsewhere:
    """Asks the same project once for each platform. `workers` answers for one, and the loaders made at one place."""

    def __init__(
        self, index: Index, targets: Targets, workers: Callable[[Place, str], Iterable[tuple[Workers, bool]]]
    ) -> None:
        self.targets = targets
        self.workers = workers
        self._names = PlatformNames(index)
        self._known = OnDemand(self._numbers)

    def with_workers(self, site: Site, names: Iterable[str], env: Env) -> tuple[tuple[str, ...], bool]:
        """The declared platforms on which the loader that is made at a place may have workers, and whether it has.

        Only the platform's own answer makes that sure: of none is it known that it has CUDA. `names`: of what says how
        many; `env`: the activation that makes it. The text says which platforms to ask.
        """
        told = self._names.of(names) | self._names.around(site.module, site.event.block)
        around: Env | None = env
        while around is not None and around.call is not None and around.caller is not None:
            where = around.caller
            told |= self._names.around(where.module, where.module.block_at(where.function, around.call.start))
            around = where
        place = site.module.path, site.expr.span
        left = [item for item in self.targets.platforms if item not in told or self._known[place, item][0]]
        return tuple(left), all(item in told and self._known[place, item][1] for item in left)

    def _numbers(self, asked: tuple[Place, str]) -> tuple[bool, bool]:
        """Whether a place's loaders may have workers on a platform, and whether all surely have some."""
        found = list(self.workers(*asked))
        return {workers for workers, _ in found} != {Workers.NONE}, all(sure for _, sure in found)
