"""Answers that rest on the evaluator: they are kept only where no question that is still open may change them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dllint.project import Project
from dllint.project.evaluate.fixpoint import MAX_DEPTH
from tests.order import Files

LONG = MAX_DEPTH + 20


def chain(length: int) -> str:
    """Functions that return the next one's function; the last is called, and starts the workers of a loader."""
    functions = "".join(f"\n\ndef f{number}():\n    return f{number + 1}()\n" for number in range(length))
    return (
        "from torch.utils.data import DataLoader\n\n\ndef start():\n"
        "    for batch in DataLoader(range(8), num_workers=2):\n        print(batch)\n"
        f"{functions}\n\ndef f{length}():\n    return start\n\n\nrun = f0()\nrun()\n"
    )


def starts(project: Project) -> int:
    return len(project.loader_starts.of(project.index.modules["a.py"], -1))


def called(project: Project) -> list[str]:
    env = project.evaluator.generic(project.index.modules["a.py"], -1)
    return [edge.env.facts.name for edge in project.main_code.reach.edges(env)]


def begun(project: Project) -> int:
    return sum(1 for _ in project.main_code.starts(project.index.modules["a.py"]))


def value(project: Project) -> list[str]:
    module = project.index.modules["a.py"]
    run = next(site.expr.args[0] for site in project.index.calls_named(("run",)))
    return [type(found).__name__ for found in project.evaluator.values(run, project.evaluator.generic(module, -1))]


QUESTIONS: dict[Callable[[Project], object], object] = {
    starts: 1,
    called: ["f0", "start"],
    begun: 1,
    value: ["Func"],
}


@pytest.mark.parametrize("length", [LONG, MAX_DEPTH - 2, 10])
@pytest.mark.parametrize("first", QUESTIONS, ids=lambda question: question.__name__)
def test_what_leads_deeper_than_questions_go_is_answered_whatever_is_asked_first(
    first: Callable[[Project], object], length: int
) -> None:
    project = Files(texts={"a.py": chain(length)}).project()
    assert first(project) == QUESTIONS[first]
    assert {question: question(project) for question in QUESTIONS} == QUESTIONS
