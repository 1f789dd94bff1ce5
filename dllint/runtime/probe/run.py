"""Runs a probe: one process that looks, one that reads under each start method, one that times; then the report."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable

import msgspec
import psutil

from dllint import __version__
from dllint.runtime.probe import answers
from dllint.runtime.probe.contain import Limits, contain
from dllint.runtime.probe.messages import Reader
from dllint.runtime.probe.observed import Observed
from dllint.runtime.probe.plan import INSPECT, READ, SPEED, Plan, Request
from dllint.runtime.probe.report import Method, Report, Verdict

CHILD = "dllint.runtime.probe.child"
LOADING = 24 + (os.cpu_count() or 1)
"""Processes that may be started before the target is there; a module that starts more starts them forever."""
READING = 64
"""Number of processes that may start in total, in addition to eight for each worker."""
FREE = 0.8
"""The default share of free memory that a probe may take."""
SPEED_SECONDS = 2.0
Show = Callable[[str, float], None]
"""Told again and again what goes on, and which share of all is done."""


class Misuse(Exception):
    """The target is not there, or is nothing that can be probed."""


class Internal(Exception):
    """An error of dllint's own in a process of the probe."""


class Probe:
    """One request on its way."""

    def __init__(self, request: Request, used: Iterable[str], show: Show = lambda text, share: None) -> None:
        self.request = request
        self.used = frozenset(used)
        self.show = show
        self._done = 0
        self.memory = request.memory or psutil.virtual_memory().available * FREE / 1e6

    def run(self) -> Report:
        """Raises Misuse and Internal; whatever the project's code does is in the report."""
        looked = self._process(INSPECT, self.request.methods[0])
        asked = looked.loaded.method if looked.loaded else ""
        used = {asked} if asked else self.used
        methods: list[Method] = []
        loaded = looked.loaded
        for name in self.request.methods:
            stuck = looked.loaded is None and name == self.request.methods[0]
            read = looked if stuck else self._process(READ, name)
            methods.append(answers.method(name, name in used, read, looked.contents))
            loaded = loaded or read.loaded
        timed, by = Observed(), self._to_time(methods)
        if by and self.request.scaling != ():
            timed = self._process(SPEED, by)
        return Report(
            dllint=__version__,
            target=self.request.target,
            platform=f"{platform.system()}, {os.cpu_count()} cores",
            loaded=loaded,
            contents=looked.contents,
            methods=tuple(methods),
            speed=tuple(timed.speed),
            speed_method=by,
        )

    def _to_time(self, methods: list[Method]) -> str:
        """A start method under which reading works, one that is used before others."""
        able = [method for method in methods if _reads(method)]
        return next((method.name for method in sorted(able, key=lambda method: not method.used)), "")

    def _process(self, task: str, method: str) -> Observed:
        """Run one process to its end, whatever that is."""
        request = self.request
        observed = Observed()
        with tempfile.TemporaryDirectory(prefix="dllint-", ignore_cleanup_errors=True) as folder:
            plan = Plan(
                task=task,
                target=request.target,
                method=method,
                folder=folder,
                workers=request.workers,
                items=request.items,
                seconds=request.seconds if task == READ else SPEED_SECONDS,
                scaling=request.scaling,
                memory=self.memory,
            )
            reader = Reader(folder)

            def news() -> bool:
                new = reader.new()
                for message in new:
                    observed.take(message)
                part = min(observed.progress / request.items, 1.0)
                self.show(_told(task, method, observed), (self._done + part) / (len(request.methods) + 2))
                return bool(new)

            def processes() -> int:
                return READING + 8 * observed.loaded.workers if observed.loaded else LOADING

            limits = Limits(request.timeout, request.idle, self.memory, processes)
            command = [sys.executable, "-m", CHILD, msgspec.json.encode(plan).decode()]
            observed.ending = contain(command, limits, news, {**os.environ, "PYTHONUNBUFFERED": "1"})
            observed.read_stacks(folder)
        self._done += 1
        if observed.misused:
            raise Misuse(observed.misused)
        if observed.failed is not None and observed.failed.internal:
            raise Internal(f"{observed.failed.error}: {observed.failed.message}\n{observed.ending.output}")
        return observed


def _reads(method: Method) -> bool:
    return any(answer.question == "reads" and answer.verdict is Verdict.OK for answer in method.answers)


def _told(task: str, method: str, observed: Observed) -> str:
    doing = {INSPECT: "looking at what is shipped", SPEED: f"timing numbers of workers under {method}"}.get(task)
    if doing is None:
        doing = f"{method}: {observed.stage or 'starting'}"
        if observed.progress:
            doing += f", {observed.progress:,} items, {observed.samples[-1].total:,.0f} MB"
    return doing
