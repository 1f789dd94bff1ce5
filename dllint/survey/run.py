"""A run: the sources that have no outcome yet through an engine, each outcome into the database as it comes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import msgspec

from dllint.survey import cluster, local, trees
from dllint.survey.database import Database
from dllint.survey.limits import Refused
from dllint.survey.outcome import Outcome
from dllint.survey.tool import tool
from dllint.survey.trees import Tree
from dllint.survey.unit import Settings, ready


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is done. `scheduler` is the address of a Dask scheduler; "" means the processes of this machine."""

    settings: Settings = Settings()
    jobs: int = 1
    scheduler: str = ""
    again: bool = False
    """Also what has a current outcome."""


def pending(given: Sequence[Tree], database: Database, plan: Plan) -> list[Tree]:
    """The sources without a current outcome."""
    return [tree for tree in given if plan.again or not _known(tree, database, plan)]


def run(waiting: Sequence[Tree], database: Database, plan: Plan, seen: Callable[[Tree, Outcome], None]) -> None:
    """Analyse, write, tell `seen`. Raises NotUsable, NoCluster and Unfit; what is written by then stays."""
    if not plan.scheduler:
        ready()
    results = _results(waiting, plan)
    try:
        for tree, outcome in results:
            database.save(tree, outcome, tool(), plan.settings)
            seen(tree, outcome)
    finally:
        results.close()


def _results(waiting: Sequence[Tree], plan: Plan) -> Generator[tuple[Tree, Outcome], None, None]:
    if plan.scheduler:
        yield from cluster.outcomes(waiting, plan.settings, plan.scheduler)
    else:
        yield from local.outcomes(waiting, plan.settings, plan.jobs)


def _known(tree: Tree, database: Database, plan: Plan) -> bool:
    if not database.rows("SELECT 1 FROM source WHERE name = ?", tree.name):
        return False  # its content is looked at when its turn comes
    try:
        identity = trees.identity(tree)
    except Refused:
        identity = ""
    return bool(identity) and database.current(tree, identity, tool(), plan.settings)
