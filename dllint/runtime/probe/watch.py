"""What is put into each worker: it times the fetching, and writes down what was read, drawn and kept.

It goes in as the loader's `worker_init_fn`, calls the one that was there, and changes nothing of what is shipped.
"""

from __future__ import annotations

import functools
import os
import pickle
import time
from collections.abc import Callable, Iterator
from multiprocessing.util import Finalize
from typing import Any

from dllint.runtime.probe import contents, pickles
from dllint.runtime.probe.digests import digest, states
from dllint.runtime.probe.messages import Grown, Item, Log, Message, Pace, Part, Seeds, State, Unpicklable
from dllint.runtime.probe.plan import STACKS
from dllint.runtime.probe.variables import variables

TOLD_BATCHES = 48
TOLD_ITEMS = 256
TRIED = 2
"""Batches that are pickled once more, to see whether they can be."""
EVERY = 0.5
"""Seconds between two reports, at least."""
SHARE = 20
"""Reports take no more than one part in so many of the time."""


class NotSent(Exception):
    """Raised in place of the hang that an item that does not pickle leads to."""


class Watch:
    """A `worker_init_fn`."""

    def __init__(self, init: Callable[[int], None] | None, folder: str, epoch: int = 0) -> None:
        self.init = init
        self.folder = folder
        self.epoch = epoch

    def __call__(self, worker: int) -> None:
        from torch.utils import data

        stacks_on_demand(self.folder, f"worker {worker}")
        if self.init is not None:
            self.init(worker)
        kinds: Any = data._DatasetKind
        original = kinds.create_fetcher

        def create(*args: Any, **kwargs: Any) -> Any:
            info: Any = data.get_worker_info()
            watcher = _Watcher(self, worker, info.dataset)
            return watcher.watch(original(*args, **kwargs))

        kinds.create_fetcher = staticmethod(create)


class _Watcher:
    """Watches the fetcher of one worker."""

    def __init__(self, watch: Watch, worker: int, dataset: object) -> None:
        self.log = Log(watch.folder, f"worker-{os.getpid()}")
        self.worker, self.epoch, self.dataset = worker, watch.epoch, dataset
        self.batches = self.items = self.told = 0
        self.reading = self.collating = self.next = 0.0
        self.before = states(dataset)
        self.log.tell(Seeds(worker, watch.epoch, {name: state for name, (state, _) in self.before.items()}))
        if not worker and not watch.epoch:
            self.log.tell(State(worker, variables()))
        self.lengths = {step.path: length for step, length in contents.lengths(dataset, "dataset")}

    def watch(self, fetcher: Any) -> Any:
        Finalize(None, lambda: self.log.tell(*self.state()), exitpriority=0)
        fetcher.fetch = functools.partial(self.fetch, fetcher.fetch)
        fetcher.collate_fn = functools.partial(self.collate, fetcher.collate_fn)
        if hasattr(fetcher, "dataset_iter"):
            fetcher.dataset_iter = self.iterate(fetcher.dataset_iter)
        return fetcher

    def fetch(self, original: Callable[[Any], Any], indices: Any) -> Any:
        began, collated = time.perf_counter(), self.collating
        batch = original(indices)
        self.reading += time.perf_counter() - began - (self.collating - collated)
        self.batches += 1
        self.items += len(indices) if isinstance(indices, list | tuple) else 1
        if self.batches <= TRIED:
            self.try_to_pickle(batch)
        if self.batches <= TOLD_BATCHES and not hasattr(self, "iterated"):
            self.log.tell(Item(self.worker, self.epoch, key(indices), digest(batch)))
        now = time.monotonic()
        if self.batches <= TRIED or now > self.next:
            self.log.tell(*self.state())
            self.next = time.monotonic() + max(EVERY, SHARE * (time.monotonic() - now))
        return batch

    def collate(self, original: Callable[[Any], Any], items: Any) -> Any:
        began = time.perf_counter()
        try:
            return original(items)
        finally:
            self.collating += time.perf_counter() - began

    def iterate(self, iterator: Iterator[Any]) -> Iterator[Any]:
        self.iterated = True
        for number, item in enumerate(iterator):
            if number < TOLD_ITEMS:
                self.log.tell(Item(self.worker, self.epoch, str(number), digest(item)))
            yield item

    def try_to_pickle(self, batch: object) -> None:
        try:
            pickle.dumps(batch)
        except Exception:
            parts = tuple(pickles.culprits(batch, "batch"))
            if parts:
                self.log.tell(Unpicklable(self.worker, parts))
                raise NotSent(f"{parts[0].path}: {parts[0].error}") from None

    def state(self) -> Iterator[Message]:
        """What can be said so far."""
        yield Pace(self.worker, self.items, self.reading, self.collating)
        now = states(self.dataset)
        used = [name for name, (state, _) in now.items() if name in self.before and self.before[name][0] != state]
        new = [name for name in now if name not in self.before]
        shown = {name: now[name][0] if name in new else self.before[name][0] for name in (*used, *new)}
        where = {name: now[name][1] for name in shown if now[name][1]}
        yield Seeds(self.worker, self.epoch, shown, (*used, *new), where)
        for step, length in contents.lengths(self.dataset, "dataset"):
            before = self.lengths.get(step.path, 0)
            if length > before:
                part = Part(step.path, contents.short(step.value), step.stored())
                yield Grown(self.worker, part, before, length)


def key(indices: Any) -> str:
    """The name of a batch of a map-style dataset."""
    return repr(indices)[:2000]


def stacks_on_demand(folder: str, name: str) -> None:
    """Let the process write down where it is when it is asked, and when it dies of an error in native code."""
    import faulthandler

    stream = open(os.path.join(folder, f"{name}.stacks"), "w", encoding="utf-8")  # noqa: SIM115
    faulthandler.enable(file=stream)
    if STACKS and hasattr(faulthandler, "register"):
        faulthandler.register(STACKS, file=stream, all_threads=True)
