"""What starts workers that may not be forked, and its wording: for the rules on state of the main process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dllint import FORK, PICKLING, Loader, Project, Running, Span, Task, is_test

Started = tuple[Loader | Task, list[Running]]


def started(project: Project) -> list[Started]:
    """The loaders and the tasks of processes that may not be forked, with the code that these run."""
    return [*_loaders(project), *_tasks(project)]


def _loaders(project: Project) -> Iterator[Started]:
    """The loaders whose workers may not be forked, with the code that these run."""
    found: dict[Loader, list[Running]] = defaultdict(list)
    for running in project.running:
        if running.loader is not None and not running.loader.in_tests:
            found[running.loader].append(running)
    yield from ((loader, codes) for loader, codes in found.items() if loader.methods & PICKLING)


def _tasks(project: Project) -> Iterator[Started]:
    """Tasks of processes that may not be forked: what a file's tasks run is one's setting up and another's work.

    A process that is always spawned is most often given all it needs: one that does the main process's work.
    """
    found: dict[tuple[str, frozenset[str]], list[Task]] = defaultdict(list)
    for task in project.processes.tasks:
        if task.methods & PICKLING and not is_test(task.path):
            found[task.path, task.methods].append(task)
    for tasks in found.values():
        first = next((task for task in tasks if FORK in task.methods or task.always), None)
        if first is not None:
            yield first, [code for task in tasks if _helps(task, first) for code in project.processes.running(task)]


def _helps(task: Task, first: Task) -> bool:
    """Whether what a task runs is run by the processes of another one of its file, too: a pool's initializer is."""
    return FORK in task.methods or task.always or task.name == first.name.partition(".")[0]


def where(project: Project, starter: Loader | Task) -> str:
    """Where workers are not forked, in words."""
    failing = starter.methods & PICKLING
    return project.where(starter, failing)


def processes(starter: Loader | Task) -> str:
    """What a loader or a task starts, in words."""
    return "workers" if isinstance(starter, Loader) else "processes"


def span_of(starter: Loader | Task) -> Span:
    """Where workers are started."""
    return starter.span if isinstance(starter, Loader) else starter.call.span
