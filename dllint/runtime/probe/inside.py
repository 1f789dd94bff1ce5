"""What the main process of a probe does: load the target, and one task with it. Runs the project's code."""

from __future__ import annotations

import contextlib
import gc
import sys
from typing import Any

import msgspec

from dllint.runtime.probe import contents, pickles, places, reading, target, watch, weights
from dllint.runtime.probe.messages import Contents, Done, Failed, Log, Misused, Place, Stage
from dllint.runtime.probe.plan import INSPECT, READ, Plan

SHIPPED = ("dataset", "collate_fn", "worker_init_fn")


def main(encoded: str) -> None:
    """Do what the plan says, and tell it to the files of its folder."""
    plan = msgspec.json.decode(encoded.encode(), type=Plan)
    log = Log(plan.folder, "main")
    _restrain(plan.memory)
    watch.stacks_on_demand(plan.folder, "main process")
    try:
        log.tell(Stage("load"))
        target.set_default_method(plan.method)
        target.watch_loaders()
        module = target.imported(plan.target)
        gc.freeze()  # or the first collection in a forked worker would copy torch's own objects, 40 MB of them
        loader = target.as_loader(target.attribute(module, plan.target), plan.workers)
        asked = target.chosen_method(loader)
        workers = plan.workers or loader.num_workers or target.WORKERS
        log.tell(target.described(loader, workers, asked))
        log.tell(Stage(plan.task))
        if plan.task == INSPECT:
            log.tell(inspect(loader))
        elif plan.task == READ:
            reading.read(loader, plan, workers, log)
        else:
            _time(loader, plan, workers, log)
    except target.Unusable as error:
        log.tell(Misused(str(error)))
    except BaseException as error:
        log.tell(_failed(error))
        raise
    log.tell(Done())


def _time(loader: Any, plan: Plan, workers: int, log: Log) -> None:
    counts = sorted({0, 1, 2, workers}) if plan.scaling is None else plan.scaling
    for count in counts:
        log.tell(reading.speed(loader, plan.method, count, plan.seconds))


def inspect(loader: Any) -> Contents:
    """What is shipped: what does not pickle, what holds many objects, which handles, whose code."""
    culprits: list[Any] = []
    code: list[Place] = []
    size = 0
    dataset = loader.dataset
    with pickles.starting():
        for name in SHIPPED:
            value = getattr(loader, name, None)
            found = pickles.culprits(value, f"loader.{name}") if value is not None else []
            size += pickles.size(value) if not found else 0
            culprits += found
    for name in SHIPPED:
        code += contents.code(getattr(loader, name, None), name)
    return Contents(
        culprits=tuple(culprits),
        holders=tuple(part for name in SHIPPED for part in weights.holders(getattr(loader, name), f"loader.{name}")),
        handles=tuple(contents.handles(dataset, "loader.dataset")),
        code=tuple(dict.fromkeys(code)),
        pickled=size,
    )


def _failed(error: BaseException) -> Failed:
    message = str(error)
    if "killed by signal" in str(error.__cause__):  # of which torch then says less itself
        message = str(error.__cause__)
    where = places.traceback_places(error.__traceback__)
    internal = isinstance(error, Exception) and places.ours(error.__traceback__)
    return Failed(internal, type(error).__name__, message[-6000:], (*_original(message), *where))


def _original(message: str) -> tuple[Place, ...]:
    """The project's own lines of a traceback that a worker sent."""
    found = []
    for line in message.splitlines():
        if line.lstrip().startswith('File "') and '", line ' in line:
            path, _, rest = line.lstrip()[6:].partition('", line ')
            number = rest.partition(",")[0]
            if number.isdigit() and places.own(path):
                found.append(places.place(path, int(number)))
    return tuple(found[::-1])


def _restrain(memory: float) -> None:
    """No core files, a limit on memory, and the first to go when the machine runs out of it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory and sys.platform == "linux":
            most = int(memory * 1e6)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
        stream.write("800")
