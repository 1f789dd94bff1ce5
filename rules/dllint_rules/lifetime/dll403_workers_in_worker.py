"""DLL403: code that runs in a daemonic process starts processes of its own."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, Begun, Certainty, Finding, Fix, Project, Rule, Running, Task, Workers


class WorkersInWorker(Rule):
    """The workers of loaders and pools are daemonic, and Python allows a daemonic process no children."""

    code = "DLL403"
    name = "workers-in-worker"
    summary = "code that runs in a worker starts workers or processes of its own"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for running, task in daemonic(project):
            for begun in project.started_in(running):
                if (running.path, begun.at.span) not in seen:
                    seen.add((running.path, begun.at.span))
                    yield self._finding(project, running, task, begun)

    def _finding(self, project: Project, running: Running, task: Task | None, begun: Begun) -> Finding:
        at, what = begun.at, begun.what
        loader = running.loader
        whose = f"the workers of `{loader.name}`" if loader is not None else f"daemonic processes of `{_name(task)}`"
        known = task is not None or (loader is not None and loader.workers is Workers.SOME)
        places = [(loader.path, loader.span)] if loader is not None else []
        places += [(task.path, task.call.span)] if task is not None else []
        return Finding(
            code=self.code,
            path=running.path,
            span=at.span,
            message=f"this starts {what} in {whose}, which cannot have children: fails on every platform with "
            '"daemonic processes are not allowed to have children"; use `num_workers=0` or threads here',
            certainty=project.certainty(running, at) if known else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(ALL_METHODS), "exception"),
            notes=(running.note(at, begun.here), *running.route),
            anchors=tuple(places),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}:{what}",
            data=running,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        where = finding.data.env.facts.qualname
        return Fix.manual(f"Do the work of `{where}` in the worker itself; others who call it may want its processes")


def daemonic(project: Project) -> Iterator[tuple[Running, Task | None]]:
    """What runs in daemonic processes: in the workers of loaders and pools, and where `daemon=True` says so."""
    for running in project.running:
        yield running, None
    for task in project.processes.tasks:
        if task.daemonic:
            for running in project.processes.running(task):
                yield running, task


def _name(task: Task | None) -> str:
    return task.name.partition(".")[0] if task is not None and not task.name.startswith("mp.") else "mp.spawn"
