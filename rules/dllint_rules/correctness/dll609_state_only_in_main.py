"""DLL609: module state that only the main process changes, and workers read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dllint import (
    FORK,
    PICKLING,
    Applicability,
    Certainty,
    Finding,
    Fix,
    Loader,
    MainSetting,
    Note,
    Project,
    Rule,
    Running,
    Severity,
    Span,
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
        yield from self._settings(project, started)

    def _settings(self, project: Project, started: list[Started]) -> Iterator[Finding]:
        """Changes to libraries that workers depend on."""
        seen = set()
        for starter, codes in started:
            for setting, _ in project.main_settings.read_by(codes):
                place = setting.module.path, setting.span
                if place not in seen and starter.path in project.index.imports(setting.module.path):
                    seen.add(place)
                    yield self._of_library(project, setting, starter)

    def _of_library(self, project: Project, setting: MainSetting, starter: Loader | Task) -> Finding:
        remedy = "set it in a module they import" if setting.module.notebook else "set it at module level"
        remedy = remedy if setting.movable else "pass the value along, or do it again in each"
        what = f"fails (`{setting.error}`)" if setting.error else "silently different"
        outcome = "exception" if setting.error else "corrupt"
        path = setting.module.path
        return Finding(
            code=self.code,
            path=path,
            span=setting.span,
            message=f"`{setting.what}` is set in the main process only, and `{setting.reader}` depends on it in "
            f"spawned {_processes(starter)}: {what} {self._where(project, starter)}; {remedy}",
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(starter.methods & PICKLING), outcome) | {"fork": "ok"},
            notes=setting.notes,
            anchors=((starter.path, _span(starter)),),
            key=f"{self.code}:{path}:{setting.what}",
            data=setting,
        )

    def _loaders(self, project: Project) -> Iterator[Started]:
        """The loaders whose workers may not be forked, with the code that these run."""
        found: dict[Loader, list[Running]] = defaultdict(list)
        for running in project.running:
            if running.loader is not None and not running.loader.in_tests:
                found[running.loader].append(running)
        yield from ((loader, codes) for loader, codes in found.items() if loader.methods & PICKLING)

    def _tasks(self, project: Project) -> Iterator[Started]:
        """Tasks of processes that may not be forked: what a file's tasks run is one's setting up and another's work.

        A process that is always spawned is most often given all it needs: one that does the main process's work.
        """
        found: dict[tuple[str, frozenset[str]], tuple[Task, list[Running]]] = {}
        for task in project.processes.tasks:
            if (FORK in task.methods or task.always) and task.methods & PICKLING and not is_test(task.path):
                found.setdefault((task.path, task.methods), (task, []))[1].extend(project.processes.running(task))
        yield from found.values()

    def _finding(self, project: Project, unseen: Unseen) -> Finding:
        change, read, starter = unseen.change, unseen.read, unseen.starter
        loader = starter if isinstance(starter, Loader) else None
        changed = project.text(change.running.path, change.at.span)
        how = f" by `{changed.partition('(')[0]}(...)`" if change.at.kind == "call" else ""
        seen = self._seen(project, unseen)
        surely = change.value is not None and change.event.block < 0
        sure = surely and (loader is None or loader.workers is Workers.SOME)
        happens, outcome = ("which fails", "exception") if unseen.raises else ("silently different", "corrupt")
        reader = read.running.env.facts.qualname
        written = Note(change.running.path, change.at.span, "the main process changes it here")
        failing = starter.methods & PICKLING
        return Finding(
            code=self.code,
            path=change.running.path,
            span=change.at.span,
            message=f"`{seen}` is changed in the main process only{how}, and `{reader}` reads it: "
            f"{self._left(unseen)}, {happens} {self._where(project, starter)}; {self._remedy(loader)}",
            severity=Severity.ERROR if unseen.raises else Severity.WARNING,
            certainty=Certainty.CERTAIN if sure else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(failing), outcome) | {"fork": "ok"},
            notes=(read.running.note(read.at, f"reads `{seen}`"), *read.running.route, written, *change.running.route),
            anchors=((starter.path, _span(starter)), (read.running.path, read.at.span)),
            key=f"{self.code}:{change.place.module.path}:{change.place.name}:{change.running.path}:{reader}",
            data=unseen,
        )

    def _seen(self, project: Project, unseen: Unseen) -> str:
        """What is read, as it is written; an attribute of `self` by its class."""
        read = unseen.read
        env = read.running.env
        if read.at.dotted.partition(".")[0] == env.module.receiver_name(env.function) != "":
            return ".".join((read.place.name, *(step for step in read.place.path if isinstance(step, str))))
        return project.text(read.running.path, read.at.span)

    def _left(self, unseen: Unseen) -> str:
        state = unseen.change.place.module
        owner = "the script" if state is unseen.script else state.path.rpartition("/")[2]
        value = f" ({unseen.initial.value!r})" if unseen.initial is not None else ""
        return f"spawned {_processes(unseen.starter)} see what importing {owner} leaves{value}"

    def _where(self, project: Project, starter: Loader | Task) -> str:
        failing = starter.methods & PICKLING
        loader = starter if isinstance(starter, Loader) else None
        where = project.where(loader, failing) if loader is not None or not starter.chosen else ""
        return where or "with start method " + " or ".join(sorted(failing))

    def _remedy(self, loader: Loader | None) -> str:
        if loader is not None:
            return "pass it to what the loader ships, or set it in `worker_init_fn`"
        return "pass it as an argument, or set it in the pool's `initializer`"

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import above_guard

        if isinstance(finding.data, Unseen) or finding.data.module.notebook or not finding.data.movable:
            return None
        snippet = above_guard(project.source(finding.path), finding.span.start)
        return Fix("Put it above the main guard", (), Applicability.MANUAL, snippet=snippet) if snippet else None


def _processes(starter: Loader | Task) -> str:
    return "workers" if isinstance(starter, Loader) else "processes"


def _span(starter: Loader | Task) -> Span:
    return starter.span if isinstance(starter, Loader) else starter.call.span
