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
    Span,
    Task,
    Workers,
    outcomes,
)


class GuardedNameInWorker(Rule):
    """A spawned worker imports the main script and skips its guarded part; what that part defines is not there."""

    code = "DLL109"
    name = "guarded-name-in-worker"
    fixable = "sometimes"
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

    def _finding(self, project: Project, guarded: Guarded, starter: Loader | Task) -> Finding:
        failing = starter.methods & PICKLING
        loader = starter if isinstance(starter, Loader) else None
        where = project.where(loader, failing, starter.chosen)
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
            outcomes=outcomes(failing, "exception", starter.chosen),
            notes=guarded.notes or (Note(starter.path, at, "workers are started here"),),
            anchors=((starter.path, at),),
            key=f"{self.code}:{guarded.module.path}:{guarded.name}",
            data=guarded,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import above_guard, lifted
        from dllint_rules.pickling.move_class import out_of_notebook

        if finding.data.module.notebook:
            return out_of_notebook(project, finding.path, finding.data.name)
        snippet = above_guard(project.source(finding.path), finding.span.start)
        edits = lifted(project.source(finding.path), finding.span.start) if snippet else ()
        if edits:
            return Fix(f"Move `{finding.data.name}` above the main guard", edits, Applicability.UNSAFE)
        if snippet:
            return Fix.manual("Put it above the main guard", snippet)
        name = finding.data.name
        why_not = "it is set in some cases only, or made of what is known when the program runs"
        return Fix.manual(f"Pass `{name}` to what needs it; {why_not}")
