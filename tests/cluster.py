"""A Dask cluster of processes on this machine, whose parts can be killed and started again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parent.parent
START_S = 120.0


class Cluster:
    """A scheduler and workers of one thread each; the dead are replaced. `scratch` is where sources are unpacked."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.port = _free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._number = workers
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self._ended = threading.Event()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)

    def __enter__(self) -> Cluster:
        self.start_scheduler()
        self._wait_for_scheduler()
        self._replace_dead()
        self._supervisor.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._supervisor.join()
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            _kill(process)

    def start_scheduler(self) -> None:
        """Start the scheduler, always at the same address."""
        where = ["--host", "127.0.0.1", "--port", str(self.port)]
        self.scheduler = self._start("dask_scheduler", *where, "--no-dashboard")

    def _wait_for_scheduler(self) -> None:
        """Wait until the scheduler listens: on a busy machine its start takes longer than a client waits."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.1)
        raise TimeoutError(f"the scheduler doesn't listen after {START_S} s")

    def kill_scheduler(self) -> None:
        """End the scheduler without a word."""
        assert self.scheduler
        _kill(self.scheduler)

    def kill_worker(self, number: int) -> None:
        """End a worker without a word."""
        workers = self.workers
        _kill(workers[number % len(workers)])

    def _supervise(self) -> None:
        while not self._ended.wait(0.2):
            self._replace_dead()

    def _replace_dead(self) -> None:
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < self._number:
            # A scheduler that goes away is waited for.
            options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60"]
            self.workers.append(self._start("dask_worker", self.address, *options))

    def _start(self, command: str, *arguments: str) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join([str(ROOT), str(ROOT / "rules")])
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{command}", *arguments],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": paths,
                "TMPDIR": str(self.scratch),
                "DASK_LOGGING__DISTRIBUTED": "critical",
            },
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "log.txt").open("ab"),
        )


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.send_signal(signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
        return port
