"""Runs the programs of the pages on real torch: the bad ones fail as claimed, and what the fix makes of them works.

By default each page is run once: the first of its programs, under the first of fork and spawn that it names, and what
its first fix makes of it, under the same one. Forked workers don't import torch again; what differs between start
methods names spawn alone. The rest runs with `-m slow`. With DLLINT_REQUIRE_TORCH=1 (as in CI) a missing torch fails
instead of skipping.

In one process the programs of all selected tests are started ahead, as many at a time as there are cores: each spends
seconds on importing torch in its processes. Of several processes (`-n 2`) each runs its own.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from dllint.testing import pages
from dllint.testing.cases import Project
from dllint.testing.expectations import METHODS, Clause
from tests import claims, lint

TORCH = importlib.util.find_spec("torch") is not None
REQUIRED = bool(os.environ.get("DLLINT_REQUIRE_TORCH"))

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(os.name != "posix", reason="fork and forkserver exist on Linux and macOS only"),
    pytest.mark.skipif(not TORCH and not REQUIRED, reason="torch is not installed: pip install torch"),
]

RUNNABLE = [case for page in lint.all_pages() for case in page.cases if case.clauses]


def slow_unless(quick: bool) -> tuple[pytest.MarkDecorator, ...]:
    """Marks for what the default run leaves to the full matrix."""
    return () if quick else (pytest.mark.slow,)


def is_slow(item: pytest.Item) -> bool:
    """Whether a test is part of the full matrix, whose programs all begin with a new interpreter."""
    return item.get_closest_marker("slow") is not None


def firsts(cases: list[pages.Case]) -> set[int]:
    """The identities of each page's first."""
    found: dict[Path, pages.Case] = {}
    for case in cases:
        found.setdefault(case.page, case)
    return set(map(id, found.values()))


RUN_FIRST = firsts(RUNNABLE)
MENDED_FIRST = firsts([case for case in RUNNABLE if case.diff is not None])


def cheapest(clause: Clause) -> str:
    """The start method that the default run has of a clause."""
    return next((name for name in ("fork", "spawn") if name in clause.methods), clause.methods[0])


def quick(case: pages.Case, clause: Clause, method: str) -> bool:
    """Whether the default run has this one: one of each page."""
    return id(case) in RUN_FIRST and clause is case.clauses[0] and method == cheapest(clause)


CLAIMS = [
    pytest.param(case, clause, method, id=f"{lint.name(case)}-{method}", marks=slow_unless(quick(case, clause, method)))
    for case in RUNNABLE
    for clause in case.clauses
    for method in clause.methods
]


MENDED = [
    pytest.param(
        case,
        method,
        id=f"{lint.name(case)}-{method}",
        marks=slow_unless(id(case) in MENDED_FIRST and method == cheapest(case.clauses[0])),
    )
    for case in RUNNABLE
    if case.diff is not None
    for method in case.fixed_methods
]


class Programs:
    """Runs of programs, each made once."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1)
        self._runs: dict[tuple[object, ...], Future[claims.Outcome]] = {}
        self._fixed: dict[tuple[Path, str], dict[str, str]] = {}

    def start(self, files: dict[str, str], main: str, method: str, cold: bool) -> Future[claims.Outcome]:
        """Run a program unless that was done; the result may be waited for."""
        key = (frozenset(files.items()), main, method)
        if key not in self._runs:
            self._runs[key] = self._pool.submit(claims.run, files, main, method, cold=cold)
        return self._runs[key]

    def fixed(self, case: pages.Case) -> dict[str, str]:
        """A case's files after `--fix --unsafe-fixes`."""
        key = case.page, case.name
        if key not in self._fixed:
            with tempfile.TemporaryDirectory() as folder:
                self._fixed[key] = Project.of(case, Path(folder).resolve()).fix(unsafe=True)
        return self._fixed[key]

    def end(self) -> None:
        """Start nothing more."""
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def programs(request: pytest.FixtureRequest) -> Iterator[Programs]:
    running = Programs()
    alone = not os.environ.get("PYTEST_XDIST_WORKER")
    for item in request.session.items if alone else ():
        if isinstance(item, pytest.Function) and item.module is request.module and hasattr(item, "callspec"):
            values = item.callspec.params
            if "case" in values:
                case, mend = values["case"], "clause" not in values
                with contextlib.suppress(Exception):  # a fix that crashes fails its own tests, below
                    files = running.fixed(case) if mend else case.files
                    running.start(files, case.main, values["method"], is_slow(item))
    yield running
    running.end()


def explain(what: str, case: pages.Case, method: str, outcome: claims.Outcome) -> str:
    return (
        f"{case.page}:{case.line}: {what} under {method}, but it {outcome}\n"
        f"--- standard output\n{outcome.stdout[-2000:]}\n--- standard error\n{outcome.stderr[-4000:]}"
    )


def agrees(clause: Clause, outcome: claims.Outcome) -> bool:
    """Whether a program ended as its page says. From Python 3.14 on, pickling a local object raises PicklingError."""
    renamed = "PicklingError" in outcome.types and "Can't pickle local object" in outcome.stderr
    types = {*outcome.types, *(("AttributeError",) if renamed else ())}
    right_types = not clause.types or bool(set(clause.types) & types)
    right_output = clause.says in outcome.stderr and clause.prints in outcome.stdout
    return clause.outcome == outcome.kind and right_types and right_output


def test_torch_is_there() -> None:
    assert TORCH, "DLLINT_REQUIRE_TORCH is set and torch is not installed"


@pytest.fixture
def cold(request: pytest.FixtureRequest) -> bool:
    return is_slow(request.node)


@pytest.mark.parametrize(("case", "clause", "method"), CLAIMS)
def test_a_program_does_what_its_page_says(
    case: pages.Case, clause: Clause, method: str, programs: Programs, cold: bool
) -> None:
    outcome = programs.start(case.files, case.main, method, cold).result()
    assert agrees(clause, outcome), explain(f"the page says {clause}", case, method, outcome)


def meant(case: pages.Case) -> list[Clause]:
    """The clauses that say what the fixed program prints: where start methods differ, those of forked workers."""
    working = [clause for clause in case.clauses if clause.outcome == "ok"]
    forked = [clause for clause in working if "fork" in clause.methods]
    return forked if len({clause.prints for clause in working}) > 1 else working


@pytest.mark.parametrize(("case", "method"), MENDED)
def test_the_fixed_program_works(case: pages.Case, method: str, programs: Programs, cold: bool) -> None:
    fixed = programs.fixed(case)
    assert fixed != case.files, "nothing was fixed"
    outcome = programs.start(fixed, case.main, method, cold).result()
    assert outcome.kind == "ok", explain("the fixed program works", case, method, outcome)
    for clause in meant(case):
        assert clause.prints in outcome.stdout, explain(f"the fixed program prints {clause}", case, method, outcome)


CHILD = """
import multiprocessing

def work():
    {work}

if __name__ == "__main__":
    child = multiprocessing.Process(target=work)
    child.start()
    child.join()
"""
SEEN = """
import os, sys, tempfile, multiprocessing.process
print(__name__, os.path.basename(__file__), sys.argv, os.getcwd() == sys.path[0] == os.path.dirname(__file__))
print(os.getsid(0) == os.getpid(), sys.stdin.read(), tempfile.gettempdir() == os.environ["TMPDIR"])
print(os.environ.get("DLLINT_CLAIM_METHOD"), multiprocessing.process.ORIGINAL_DIR == os.getcwd())
"""
HARNESS = {
    "ok": "print('done')",
    "raises": "{}['a']",
    "dies": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "complains": CHILD.format(work="raise KeyError('a')"),
}


@pytest.mark.parametrize("new", [True, False], ids=["new", "forked"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", HARNESS)
def test_the_harness_tells_outcomes_apart(kind: str, method: str, new: bool) -> None:
    outcome = claims.run({"program.py": HARNESS[kind]}, "program.py", method, cold=new)
    assert outcome.kind == kind, outcome.stderr
    assert outcome.types[:1] == (("KeyError",) if kind in ("raises", "complains") else ())


@pytest.mark.parametrize("new", [True, False], ids=["new", "forked"])
@pytest.mark.parametrize("method", METHODS)
def test_the_harness_changes_the_default_and_leaves_the_choice(method: str, new: bool) -> None:
    program = CHILD.format(work="print(multiprocessing.get_start_method())")
    outcome = claims.run({"program.py": program}, "program.py", method, cold=new)
    assert outcome.kind == "ok", outcome.stderr
    assert outcome.stdout.split() == [method]
    choice = "import multiprocessing as mp\nmp.set_start_method('spawn')"
    chosen = claims.run({"program.py": choice}, "program.py", method, cold=new)
    assert chosen.kind == "ok", chosen.stderr


def test_a_forked_program_sees_what_a_new_interpreter_has() -> None:
    new, forked = (claims.run({"program.py": SEEN}, "program.py", "fork", cold=cold) for cold in (True, False))
    assert new.kind == forked.kind == "ok", forked.stderr
    assert new.stdout == forked.stdout == "__main__ program.py ['program.py'] True\nTrue  True\nNone True\n"


def test_a_program_that_waits_for_ever_hangs() -> None:
    outcome = claims.run({"program.py": "import threading\nthreading.Event().wait()"}, "program.py", "fork")
    assert (outcome.kind, outcome.status) == ("hangs", None)
    assert outcome.seconds < claims.IDLE + 10


def test_a_program_that_respawns_for_ever_is_contained() -> None:
    program = "from multiprocessing import Pool\n\nwith Pool(2) as pool:\n    print(pool.map(abs, [1, 2]))\n"
    outcome = claims.run({"program.py": program}, "program.py", "spawn")
    assert outcome.kind == "hangs"
    assert "processes started" in outcome.why
    assert not list(claims.left_over(outcome.session))
