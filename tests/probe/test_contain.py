"""Programs that misbehave are ended, all of them, and what they did is told."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

psutil = pytest.importorskip("psutil")

from dllint.runtime.probe.contain import KEPT, Ending, Limits, contain  # noqa: E402

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sessions and signals")


def run(
    program: str,
    seconds: float = 20,
    idle: float = 10,
    memory: float = 0,
    processes: int = 50,
    told: list[bool] | None = None,
) -> Ending:
    """Run a Python program in bounds."""
    news = iter(told or ())
    limits = Limits(seconds, idle, memory, lambda: processes)
    return contain([sys.executable, "-c", program], limits, lambda: next(news, False), os.environ)


def alive(folder: Path) -> list[int]:
    """Which of the processes that wrote down their numbers still live."""
    pids = [int(file.name) for file in folder.iterdir()]
    return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE]


def test_a_program_that_ends_by_itself() -> None:
    ending = run("print('hello'); raise SystemExit(3)")
    assert (ending.status, ending.why, ending.output, ending.signal) == (3, "", "hello\n", "")


@pytest.mark.parametrize(
    ("program", "name"),
    [("import os; os.abort()", "SIGABRT"), ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL")],
)
def test_a_program_that_dies(program: str, name: str) -> None:
    ending = run(program)
    assert (ending.signal, ending.why) == (name, "")


def test_a_program_that_waits_for_ever() -> None:
    ending = run("import threading; threading.Event().wait()", idle=1)
    assert (ending.status, ending.why) == (None, "nothing happened for 1 s")
    assert ending.seconds < 8


def test_a_program_that_tells_something_lives() -> None:
    ending = run("import time; time.sleep(2.5)", idle=1, told=[True] * 100)
    assert ending.status == 0


def test_a_program_that_starts_processes_lives() -> None:
    program = "import os, time\nfor _ in range(8): os.fork() or (time.sleep(0.3), os._exit(0)); os.wait()"
    ending = run(program, idle=1)
    assert (ending.status, ending.why) == (0, "")


def test_a_program_that_computes_for_ever() -> None:
    ending = run("while True: pass", seconds=1.5, idle=1)
    assert ending.why == "it was not done after 2 s"
    assert 1 < ending.seconds < 8


def test_a_program_that_prints_for_ever() -> None:
    ending = run("while True: print('x' * 1_000_000)", seconds=1.5)
    assert ending.why.startswith("it was not done")
    assert ending.printed > 10 * len(ending.output)
    assert len(ending.output) <= KEPT


def test_a_program_that_takes_all_memory() -> None:
    ending = run("kept = []\nwhile True: kept.append(bytearray(b'x' * 20_000_000))", memory=400)
    assert ending.why == "it took more than 400 MB of memory"


def test_a_program_that_starts_processes_for_ever(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "while True:\n"
        "    if not os.fork():\n"
        f"        open(os.path.join({str(tmp_path)!r}, str(os.getpid())), 'w').close()\n"
        "        time.sleep(60)\n"
        "    time.sleep(0.01)\n"
    )
    ending = run(program, processes=10)
    assert ending.why.startswith("it started ")
    assert not alive(tmp_path)


def test_a_process_that_leaves_its_session_and_its_parent_is_found(tmp_path: Path) -> None:
    sleeps = "import os, sys, time; open(os.path.join(sys.argv[1], str(os.getpid())), 'w'); time.sleep(60)"
    leaves = (
        "import os, sys, time, subprocess\n"
        f"command = [sys.executable, '-c', {sleeps!r}, {str(tmp_path)!r}]\n"
        "subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)\n"
        f"while not os.listdir({str(tmp_path)!r}): time.sleep(0.05)\n"
    )
    began = time.monotonic()
    assert run(leaves).status == 0
    assert len(list(tmp_path.iterdir())) == 1
    while alive(tmp_path) and time.monotonic() - began < 15:  # a killed process takes a moment
        time.sleep(0.1)
    assert not alive(tmp_path)
    assert time.monotonic() - began < 15
