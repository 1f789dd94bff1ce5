"""The engine of many machines: the same work on a Dask cluster, which looks after its workers.

The sources must be found at the same paths by every worker. Dask hands the work of a worker that died to another one;
when the scheduler itself goes away, whatever has no outcome yet is sent again to the one that comes back.
"""

from __future__ import annotations

import importlib
import queue
import time
from collections.abc import Iterator, Sequence
from typing import Any

from dllint.survey.limits import Unfit
from dllint.survey.outcome import Outcome
from dllint.survey.tool import tool
from dllint.survey.trees import Tree
from dllint.survey.unit import Settings, survey

PATIENCE_S = 300.0
"""How long a scheduler may be away, or without workers."""
CONNECT_S = 10.0
"""How long one attempt to reach it takes."""
TRIES = 10
"""How often the work on one source is sent again after Dask has given it up because its workers died."""
LOOK_S = 5.0
"""How long nothing may come back before it is asked whether the scheduler is still the same."""
_AHEAD = 4
"""Sources that are sent for each thread of the cluster, so that none waits for work."""


class NoCluster(Exception):
    """The cluster cannot be used; the message says why."""


def outcomes(trees: Sequence[Tree], settings: Settings, address: str) -> Iterator[tuple[Tree, Outcome]]:
    """What becomes of each source, in any order. Raises NoCluster and Unfit. Whoever stops asking stops the work."""
    left = {tree.name: tree for tree in trees}
    tries = dict.fromkeys(left, 0)
    patience = 0.0  # an address where nobody has answered yet may be wrong
    while left:
        with _connected(address, patience) as client:
            patience = PATIENCE_S
            for tree, outcome in _sent(client, list(left.values()), settings, tries):
                del left[tree.name]
                yield tree, outcome


def work(tree: Tree, settings: Settings, maker: str) -> Outcome:
    """What a worker does: the same as here, or nothing, when its dllint is another one. Raises Unfit."""
    if tool() != maker:
        raise Unfit(f"a worker of the cluster has dllint {tool()}, this is {maker}: install the same everywhere")
    return survey(tree, settings)


def _sent(client: Any, trees: list[Tree], settings: Settings, tries: dict[str, int]) -> Iterator[tuple[Tree, Outcome]]:
    """Outcomes until all sources have one or the scheduler is lost."""
    distributed = _distributed()
    scheduler = _scheduler(client)
    waiting = trees[::-1]
    running: dict[Any, Tree] = {}
    finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
    idle_until = time.monotonic() + PATIENCE_S
    while waiting or running:
        while waiting and len(running) < _AHEAD * max(1, _threads(client)):
            tree = waiting.pop()
            future = client.submit(work, tree, settings, tool(), pure=False)
            running[future] = tree
            future.add_done_callback(finished.put)
        try:
            future = finished.get(timeout=LOOK_S)
        except queue.Empty:
            # What was sent while a scheduler went away is never answered, and the client does not say so.
            if not scheduler or _scheduler(client) != scheduler:
                return
            if _threads(client):
                idle_until = time.monotonic() + PATIENCE_S
            elif time.monotonic() > idle_until:
                raise NoCluster(f"it has had no workers for {PATIENCE_S:g} s") from None
            continue
        tree = running.pop(future)
        if future.status in ("cancelled", "lost"):
            return
        try:
            yield tree, future.result()
        except distributed.scheduler.KilledWorker:
            tries[tree.name] += 1
            if tries[tree.name] == TRIES:
                yield tree, Outcome(kind="failed", reason="every worker that took it died")
            else:
                waiting.append(tree)
        except ImportError as error:
            raise NoCluster(f"its workers cannot import dllint: {error}") from None


def _threads(client: Any) -> int:
    """How many sources the workers take at a time; 0 while there are none, or no scheduler."""
    try:
        return sum(client.nthreads().values())
    except (OSError, RuntimeError):
        return 0


def _scheduler(client: Any) -> str:
    """Which scheduler answers; "" while none does."""
    try:
        return str(client.sync(client.scheduler.identity)["id"])
    except (OSError, RuntimeError):
        return ""


def _connected(address: str, patience: float) -> Any:
    """A client of the scheduler, which may need a while to come back. Raises NoCluster."""
    distributed = _distributed()
    try:
        importlib.import_module("distributed.comm").get_address_host(address)
    except ValueError as error:
        raise NoCluster(f"{address}: {error}") from None
    deadline = time.monotonic() + patience
    while True:
        try:
            return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
        except OSError as error:
            if time.monotonic() > deadline:
                raise NoCluster(f"{address}: no Dask scheduler answers: {error}") from None
            time.sleep(1)


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise NoCluster('Dask is not installed: pip install "dllint[survey]"') from None
