"""Numbers of workers that the platform decides: `0 if sys.platform == "win32" else 4`, or whether it has CUDA."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.loaders.platform_names import PlatformNames
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.module import Module, Site
from dllint.source import Span
from dllint.targets import Targets

Place = tuple[str, Span]
"""A file, and where in it a loader is made."""
Scope = tuple[Module, int]
"""A function of a module; -1: the module's own code."""


class Elsewhere:
    """Asks the same project once for each platform. `workers` answers for one, and for the loaders of a place."""

    def __init__(
        self,
        evaluator: Evaluator,
        targets: Targets,
        workers: Callable[[Place, Scope, str], Iterable[tuple[Workers, bool]]],
    ) -> None:
        self.targets = targets
        self.workers = workers
        self._names = PlatformNames(evaluator.index)
        self._known = AtRest(evaluator, self._numbers)

    def with_workers(self, site: Site, names: Collection[str], env: Env) -> tuple[tuple[str, ...], bool]:
        """The declared platforms on which the loader that is made at a place may have workers, and whether it has.

        Only the platform's own answer makes that sure: of none is it known that it has CUDA. `names`: of what says how
        many, none if that is known; `env`: the activation that makes it. The text says which platforms to ask.
        """
        told = self._names.of(names)
        where: Env | None = env
        offset = site.expr.start
        while where is not None:
            told |= self._names.on_way(where.module, where.function, offset)
            if names:
                told |= self._names.around(where.module, where.module.block_at(where.function, offset))
            offset, where = where.call.start if where.call is not None else 0, where.caller
        place, begun = (site.module.path, site.expr.span), begun_by(env)
        left = [item for item in self.targets.platforms if item not in told or self._known[place, begun, item][0]]
        return tuple(left), all(item in told and self._known[place, begun, item][1] for item in left)

    def _numbers(self, asked: tuple[Place, Scope, str]) -> tuple[bool, bool]:
        """Whether a place's loaders may have workers on a platform, and whether all surely have some."""
        found = list(self.workers(*asked))
        return any(workers is not Workers.NONE for workers, _ in found), all(sure for _, sure in found)


def begun_by(env: Env) -> Scope:
    """The function, or the module, whose code begins the way to an activation."""
    while env.call is not None and env.caller is not None:
        env = env.caller
    while env.outer is not None and env.outer.function >= 0:
        env = env.outer
    return env.module, env.function
