"""DLL609: module state that only the main process changes, and workers read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dllint import (
    FORK,
    PICKLING,
    Certainty,
    Finding,
    Loader,
    Note,
    Project,
    Rule,
    Running,
    Severity,
    Task,
    Unseen,
    Workers,
    is_test,
)

Started = tuple[Loader | Task, list[Running]]


class StateOnlyInMain(Rule):
    """A worker that is not forked imports the modules afresh: what `main` put into them is not there."""

    code = "DLL609"
    name = "state-only-in-main"
    summary = "module state that only the main process changes: spawned workers read what the import left"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        started: list[Started] = [*self._loaders(project), *self._tasks(project)]
        for unseen in project.module_state.unseen(started):
            yield self._finding(project, unseen)

    def _loaders(self, project: Project) -> Iterator[Started]:
        """The loaders whose workers may not be forked, with the code that these run."""
        found: dict[Loader, list[Running]] = defaultdict(list)
        for running in project.running:
            if running.loader is not None and not running.loader.in_tests:
                found[running.loader].append(running)
        yield from ((loader, codes) for loader, codes in found.items() if loader.methods & PICKLING)

    def _tasks(self, project: Project) -> Iterator[Started]:
        """Processes that are forked in one place and not in another: what the tasks of a file run is one's setting up
        and another's work."""
        found: dict[tuple[str, frozenset[str]], tuple[Task, list[Running]]] = {}
        for task in project.processes.tasks:
            if FORK in task.methods and task.methods & PICKLING and not is_test(task.path):
                found.setdefault((task.path, task.methods), (task, []))[1].extend(project.processes.running(task))
        yield from found.values()

    def _finding(self, project: Project, unseen: Unseen) -> Finding:
        change, read, starter = unseen.change, unseen.read, unseen.starter
        loader = starter if isinstance(starter, Loader) else None
        at = loader.span if loader is not None else starter.call.span
        changed = project.text(change.running.path, change.at.span)
        how = f" by `{changed.partition('(')[0]}(...)`" if change.at.kind == "call" else ""
        seen = self._seen(project, unseen)
        surely = change.value is not None and change.event.block < 0
        sure = surely and (loader is None or loader.workers is Workers.SOME)
        reader = read.running.env.facts.qualname
        written = Note(change.running.path, change.at.span, "the main process changes it here")
        failing = starter.methods & PICKLING
        return Finding(
            code=self.code,
            path=change.running.path,
            span=change.at.span,
            message=f"`{seen}` is changed in the main process only{how}, and `{reader}` reads it: "
            f"{self._left(unseen)}, silently different {self._where(project, starter)}; {self._remedy(loader)}",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN if sure else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(failing), "corrupt") | {"fork": "ok"},
            notes=(read.running.note(read.at, f"reads `{seen}`"), *read.running.route, written, *change.running.route),
            anchors=((starter.path, at), (read.running.path, read.at.span)),
            key=f"{self.code}:{change.place.module.path}:{change.place.name}:{change.running.path}",
            data=unseen,
        )

    def _seen(self, project: Project, unseen: Unseen) -> str:
        """What is read, as it is written; an attribute of `self` by its class."""
        read = unseen.read
        env = read.running.env
        if read.at.dotted.partition(".")[0] == env.module.receiver_name(env.function) != "":
            return ".".join((read.place.name, *map(str, read.place.path)))
        return project.text(read.running.path, read.at.span)

    def _left(self, unseen: Unseen) -> str:
        state = unseen.change.place.module
        owner = "the script" if state is unseen.script else state.path.rpartition("/")[2]
        value = f" ({unseen.initial.value!r})" if unseen.initial is not None else ""
        who = "workers" if isinstance(unseen.starter, Loader) else "processes"
        return f"spawned {who} see what importing {owner} leaves{value}"

    def _where(self, project: Project, starter: Loader | Task) -> str:
        failing = starter.methods & PICKLING
        loader = starter if isinstance(starter, Loader) else None
        where = project.where(loader, failing) if loader is not None or not starter.chosen else ""
        return where or "with start method " + " or ".join(sorted(failing))

    def _remedy(self, loader: Loader | None) -> str:
        if loader is not None:
            return "pass it to what the loader ships, or set it in `worker_init_fn`"
        return "pass it as an argument, or set it in the pool's `initializer`"
