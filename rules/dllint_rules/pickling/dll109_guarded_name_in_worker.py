"""DLL109: workers need a name that is defined under the main guard only."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    PICKLING,
    Applicability,
    Certainty,
    Finding,
    Fix,
    Guarded,
    Loader,
    Note,
    Project,
    Rule,
    Severity,
    Span,
    Task,
    Workers,
)


class GuardedNameInWorker(Rule):
    """A spawned worker imports the main script and skips its guarded part; what that part defines is not there."""

    code = "DLL109"
    name = "guarded-name-in-worker"
    summary = "workers need a class, function or name that is defined under the main guard only"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for guarded, starter in self._all(project):
            key = (guarded.module.path, guarded.name)
            path = starter.path
            if key in seen or path not in project.index.imports(guarded.module.path) or not starter.methods & PICKLING:
                continue
            seen.add(key)
            yield self._finding(project, guarded, starter)
        yield from self._settings(project)

    def _all(self, project: Project) -> Iterator[tuple[Guarded, Loader | Task]]:
        for held in project.shipped:
            guarded = project.guarded.defined(held.value) if held.loader is not None else None
            if guarded is not None and held.loader is not None:
                yield guarded._replace(notes=held.route), held.loader
        for running in project.running:
            if running.loader is not None:
                yield from ((guarded, running.loader) for guarded in project.guarded.read_by(running))
        for task in project.processes.tasks:
            if not project.guarded.may_be_known_to(task.path):
                continue
            for running in project.processes.running(task):
                yield from ((guarded, task) for guarded in project.guarded.read_by(running))

    def _settings(self, project: Project) -> Iterator[Finding]:
        """Changes to libraries that workers depend on: nothing raises, they compute something else."""
        seen = set()
        for setting, running in project.main_settings.read_by(project.running):
            loader, path = running.loader, setting.module.path
            if loader is None or (path, setting.span) in seen or loader.path not in project.index.imports(path):
                continue
            failing = loader.methods & PICKLING
            if failing:
                seen.add((path, setting.span))
                remedy = "set it in a module they import" if setting.module.notebook else "set it at module level"
                yield Finding(
                    code=self.code,
                    path=path,
                    span=setting.span,
                    message=f"`{setting.what}` is set in the main process only, and `{setting.reader}` depends on it "
                    f"in spawned workers: silently different {project.where(loader, failing)}; {remedy}",
                    severity=Severity.WARNING,
                    certainty=Certainty.LIKELY,
                    outcomes=dict.fromkeys(sorted(failing), "corrupt") | {"fork": "ok"},
                    notes=setting.notes,
                    anchors=((loader.path, loader.span),),
                    key=f"{self.code}:{path}:{setting.what}",
                    data=setting,
                )

    def _finding(self, project: Project, guarded: Guarded, starter: Loader | Task) -> Finding:
        failing = starter.methods & PICKLING
        loader = starter if isinstance(starter, Loader) else None
        where = project.where(loader, failing) if loader is not None or not starter.chosen else ""
        where = where or "with start method " + " or ".join(sorted(failing))
        error = "NameError" if guarded.kind == "name" or guarded.read else "Can't get attribute"
        unsure = loader is not None and loader.workers is Workers.UNKNOWN
        at: Span = loader.span if loader is not None else starter.call.span
        place, remedy = "under the main guard", "define it above the guard, or pass it to what needs it"
        if guarded.module.notebook:
            place, remedy = "in a notebook", "define it in a module and import it"
        return Finding(
            code=self.code,
            path=guarded.module.path,
            span=guarded.span,
            message=f"{guarded.kind} `{guarded.name}` is defined {place}, where spawned workers do not find it "
            f"(`{error}`): fails {where}; {remedy}",
            certainty=Certainty.LIKELY if unsure else Certainty.CERTAIN,
            outcomes=dict.fromkeys(sorted(failing), "exception") | {"fork": "ok"},
            notes=guarded.notes or (Note(starter.path, at, "workers are started here"),),
            anchors=((starter.path, at),),
            key=f"{self.code}:{guarded.module.path}:{guarded.name}",
            data=guarded,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import above_guard

        if finding.data.module.notebook:
            return None
        snippet = above_guard(project.source(finding.path), finding.span.start)
        return Fix("Put it above the main guard", (), Applicability.MANUAL, snippet=snippet) if snippet else None
