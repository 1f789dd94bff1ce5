"""Calls of libraries that start processes: one row says all that is asked about them."""

from __future__ import annotations

import pytest
from dllint_rules.start.analysis.forks import Forks

from dllint.collect import collect
from dllint.knowledge import STARTERS, Starter
from dllint.project import Project, Targets
from dllint.source import Source
from dllint.start_methods import ALL_METHODS, FORK, SPAWN

PROGRAM = """
import otherlib
import torch

def work(row):
    return torch.tensor(row).cuda()

torch.ones(1).cuda()
otherlib.read("rows").transform(CALL)
"""


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row for an invented library."""
    monkeypatch.setitem(STARTERS, "otherlib", Starter(("transform",), "function", "n_jobs"))


def project(call: str, before: str = "") -> Project:
    source = Source.from_bytes("program.py", (before + PROGRAM.replace("CALL", call)).encode())
    return Project({"program.py": collect(source)}, Targets(), lambda _: source)


@pytest.mark.parametrize("call", ["work, n_jobs=4", "function=work, n_jobs=2", "n_jobs=8, function=work"])
def test_what_it_starts_runs_and_sends(call: str) -> None:
    found = project(call)
    (task,) = found.processes.tasks
    assert [code.env.facts.name for code in found.processes.running(task)] == ["work"]
    assert [held.value for held in found.processes.held(task)] == list(found.processes.functions(task))
    assert (task.methods, task.chosen) == (ALL_METHODS, False)
    (start,) = found.main_code.starts(found.index.modules["program.py"])
    assert (start.what, start.methods) == ("processes", ALL_METHODS)
    assert found.where(start, frozenset({SPAWN})) == found.where(task, frozenset({SPAWN})) == "on Windows", "CUDA"
    assert [child.always for child in found.analysis(Forks).cuda_users] == [False]


@pytest.mark.parametrize("call", ["work", "work, n_jobs=None", "work, n_jobs=0", "work, n_jobs=1", "work, 4"])
def test_what_starts_nothing(call: str) -> None:
    found = project(call)
    assert not found.processes.tasks
    assert not list(found.main_code.starts(found.index.modules["program.py"]))


@pytest.mark.parametrize("setter", ["multiprocessing", "multiprocess"])
def test_its_start_method_is_that_of_the_module_that_starts_it(setter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by_multiprocess = Starter(("transform",), "function", "n_jobs", by_value=True, module="multiprocess")
    monkeypatch.setitem(STARTERS, "otherlib", by_multiprocess)
    found = project("work, n_jobs=4", f"import {setter}\n{setter}.set_start_method('forkserver')\n")
    (task,) = found.processes.tasks
    own = setter == "multiprocess"
    assert task.methods == ({"forkserver"} if own else {FORK, SPAWN})
    assert found.where(task, frozenset({SPAWN})) == ("with start method spawn" if own else "on Windows")
    assert not list(found.processes.held(task))
