"""Reads through a loader's workers as a training run does, and takes down what it costs. Runs the project's code."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from typing import Any

import psutil

from dllint.runtime.probe import contents, target
from dllint.runtime.probe.digests import digest
from dllint.runtime.probe.messages import (
    Compared,
    Item,
    Log,
    Message,
    Progress,
    Read,
    Reader,
    Sample,
    Shared,
    Speed,
    Stage,
    State,
)
from dllint.runtime.probe.plan import Plan
from dllint.runtime.probe.variables import variables
from dllint.runtime.probe.watch import Watch, key

EVERY = 0.2
"""Seconds between two samples of memory, at least."""
SHARE = 4
"""Sampling takes no more than one part in so many of the time."""
KEPT_BATCHES = 4
SPEED_BATCHES = 400
WARM = 2
"""Batches of each worker that are not timed."""
SHOWN = 4
"""Batches that are named."""
COMPARING = 3.0
"""Seconds for reading again what workers read."""


def read(loader: Any, plan: Plan, workers: int, log: Log) -> None:
    """Two epochs: one as long as was asked for, and as much of another as shows how it begins."""
    epochs = _Epochs(loader, plan, workers, log)
    epochs.run(0, plan.items, plan.seconds)
    if not loader.persistent_workers:
        epochs.run(1, workers * 2 * (loader.batch_size or 1), min(plan.seconds, 10.0))
    log.tell(Stage("compare"))
    if compared := _compare(loader, plan.folder):
        log.tell(compared)


class _Epochs:
    """The reading of a loader."""

    def __init__(self, loader: Any, plan: Plan, workers: int, log: Log) -> None:
        self.loader, self.plan, self.workers, self.log = loader, plan, workers, log
        self.init = loader.worker_init_fn
        self.kept = False
        self.whole = _length(loader)
        self.promised = _promised(loader)

    def run(self, epoch: int, most: int, seconds: float) -> None:
        """Read so many items, or for so long, or to the end."""
        self.log.tell(Stage("start" if not epoch else "start again"))
        watch = Watch(self.init, self.plan.folder, epoch)
        target.configure(self.loader, self.workers, self.plan.method, watch)
        if not epoch:
            self.log.tell(State(-1, variables()))
        began = time.monotonic()
        iterator = iter(self.loader)
        memory = _Memory(iterator, self.log, began)
        if self.plan.method == "fork" and not epoch:
            memory.sample(0)
        self.log.tell(Stage("read" if not epoch else "read again"))
        items = batches = 0
        ended = False
        while items < most and time.monotonic() - began < seconds:
            batch = next(iterator, iterator)
            if batch is iterator:
                ended = True
                break
            batches += 1
            items = min(items + (self.loader.batch_size or 1), self.whole)
            del batch
            if batches >= self.workers and not epoch:  # all of them are there
                memory.perhaps(items, batches, batches == self.promised)
        if not epoch:
            memory.sample(items)
            self.log.tell(Read(items, batches, time.monotonic() - began, self.promised if ended else None))
        if not ended and not self.kept and (shared := _keep(iterator)):
            self.kept = True
            self.log.tell(shared)
        self.log.tell(Stage("end"))
        del iterator
        if not self.loader.persistent_workers:
            gc.collect()


def _length(loader: Any) -> int:
    """Items of an epoch, or more than there can be."""
    try:
        return len(loader.sampler)
    except (TypeError, NotImplementedError, AttributeError):
        return sys.maxsize


def _promised(loader: Any) -> int | None:
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None


class _Memory:
    """Takes samples of the main process and its workers."""

    def __init__(self, iterator: Any, log: Log, began: float) -> None:
        self.log, self.began = log, began
        self.main = psutil.Process()
        started = [worker.pid for worker in getattr(iterator, "_workers", ())]
        self.workers = [psutil.Process(pid) for pid in started if psutil.pid_exists(pid)]
        self.next = 0.0

    def perhaps(self, items: int, batches: int, last: bool) -> None:
        """A sample, if the previous one is long enough ago, or if there is no later one."""
        now = time.monotonic()
        if now < self.next and not last:
            return
        self.sample(items)
        self.log.tell(Progress(items, batches))
        self.next = time.monotonic() + max(EVERY, SHARE * (time.monotonic() - now))

    def sample(self, items: int) -> None:
        try:
            main, _ = _usage(self.main)
            usages = [_usage(worker) for worker in self.workers]
        except psutil.Error:  # a worker has ended
            return
        seconds = time.monotonic() - self.began
        proportional, private = [usage[0] for usage in usages], [usage[1] for usage in usages]
        self.log.tell(Sample(items, seconds, main, tuple(proportional), tuple(private)))


def _usage(process: psutil.Process) -> tuple[float, float]:
    """PSS (USS where there is none) and USS in MB."""
    usage = process.memory_full_info()
    return getattr(usage, "pss", usage.uss) / 1e6, usage.uss / 1e6


def _keep(iterator: Any) -> Shared | None:
    """What batches take while they are kept: each storage of their tensors is a file in shared memory, held open."""
    from torch import multiprocessing

    kept = [batch for _, batch in zip(range(KEPT_BATCHES), iterator, strict=False)]
    if not kept:
        return None
    sizes: dict[int, int] = {}
    for batch in kept:
        sizes.update(_shared_bytes(batch))
    strategy: str = multiprocessing.get_sharing_strategy()
    files = len(sizes) / len(kept) if strategy == "file_descriptor" else 0.0
    return Shared(files, sum(sizes.values()) / 1e6 / len(kept))


def _shared_bytes(batch: object) -> dict[int, int]:
    """The sizes of the shared storages of a batch, by their addresses."""
    held: list[Any] = [step.value for step in contents.walk(batch, "batch")]
    storages = [value.untyped_storage() for value in held if hasattr(value, "untyped_storage")]
    return {storage.data_ptr(): storage.nbytes() for storage in storages if storage.is_shared()}


def _compare(loader: Any, folder: str) -> Compared | None:
    """Read some of the batches again, here, twice: what is not random must be what the workers made of it."""
    from torch.utils import data

    kinds: Any = data._DatasetKind
    if loader._dataset_kind != kinds.Map:
        return None
    fetcher = kinds.create_fetcher(kinds.Map, loader.dataset, loader._auto_collation, loader.collate_fn, False)
    until = time.monotonic() + COMPARING
    same = random = 0
    different: list[str] = []
    for item in {item.key: item for item in _items(folder)}.values():
        indices = _indices(item.key)
        if indices is None or time.monotonic() > until:
            continue
        try:
            first, second = digest(fetcher.fetch(indices)), digest(fetcher.fetch(indices))
        except Exception:  # what workers can read, and the main process cannot, is nothing to compare
            continue
        if first == item.digest:
            same += 1
        elif first == second:
            different.append(item.key)
        else:
            random += 1
    return Compared(same, len(different), random, tuple(different[:SHOWN]))


def _items(folder: str) -> Iterator[Item]:
    told: list[Message] = Reader(folder).new()
    yield from (message for message in told if isinstance(message, Item))


def _indices(name: str) -> Any:
    """The indices that a batch was read by, where they are plain numbers."""
    import ast

    try:
        found = ast.literal_eval(name)
    except (ValueError, SyntaxError):
        return None
    return found if key(found) == name else None


def speed(loader: Any, method: str, workers: int, seconds: float) -> Speed:
    """Batches per second with so many workers, once they run."""
    init = loader.worker_init_fn
    target.configure(loader, workers, method, init)
    iterator = iter(loader)
    batches, began, until = 0, 0.0, time.monotonic() + seconds
    for batches, _batch in enumerate(iterator, 1):
        if batches <= max(1, workers * WARM):
            began = time.monotonic()
        if batches >= SPEED_BATCHES or (batches > workers * WARM and time.monotonic() > until):
            break
    timed = batches - max(1, workers * WARM)
    took = time.monotonic() - began
    del iterator
    return Speed(workers, timed / took if timed > 0 and took > 0 else 0.0)
