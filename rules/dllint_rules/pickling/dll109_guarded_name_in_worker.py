"""DLL109: workers need a name that is defined under the main guard only, or by a function that starts them."""

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
    outcomes,
)


class GuardedNameInWorker(Rule):
    """A spawned worker imports the main script and skips its guarded part; what that part defines is not there."""

    code = "DLL109"
    name = "guarded-name-in-worker"
    fixable = "sometimes"
    summary = "workers need a class, function or name that is defined under the main guard only"

    def check(self, project: Project) -> Iterator[Finding]:
        found: dict[tuple[str, str, str], tuple[Guarded, Loader | Task]] = {}
        for guarded, starter in self._all(project):
            path = starter.path
            if (guarded.setter or path in project.index.imports(guarded.module.path)) and starter.methods & PICKLING:
                found.setdefault((guarded.module.path, guarded.name, guarded.setter), (guarded, starter))
        for guarded, starter in found.values():
            others = tuple(item for item, _ in found.values() if item.module is guarded.module and not item.setter)
            yield self._finding(project, guarded, starter, others)

    def _all(self, project: Project) -> Iterator[tuple[Guarded, Loader | Task]]:
        for held in project.shipped:
            guarded = project.guarded.defined(held.value, held.loader.env) if held.loader is not None else None
            if guarded is not None and held.loader is not None:
                yield guarded._replace(notes=held.route, decided=held.decided), held.loader
        for running in project.running:
            if running.loader is not None:
                found = project.guarded.read_by(running, running.loader.env)
                yield from ((guarded, running.loader) for guarded in found)
        for task in project.processes.tasks:
            if project.guarded.may_be_known_to(task.path):
                yield from ((guarded, task) for guarded in _lacking(project, task))

    def _finding(
        self, project: Project, guarded: Guarded, starter: Loader | Task, together: tuple[Guarded, ...]
    ) -> Finding:
        failing = starter.methods & PICKLING
        loader = starter if isinstance(starter, Loader) else None
        where = project.where(starter, failing)
        error = "NameError" if guarded.kind == "name" or guarded.read else "Can't get attribute"
        error = f"`{guarded.error or error}`"
        unsure = not (guarded.decided and starter.decided)
        unsure = unsure or (loader is not None and loader.certainty is Certainty.LIKELY)
        at: Span = loader.span if loader is not None else starter.call.span
        place, remedy = "defined under the main guard", "define it above the guard, or pass it to what needs it"
        if guarded.setter:
            done = "set" if guarded.kind == "name" else "defined"
            place, remedy = f"{done} by `{guarded.setter}` in the main process only", "pass it to what needs it"
        lack = "do not find it"
        if guarded.error:
            lack = "find `None`"
        # A pool replaces a worker that cannot read what it is sent, and waits for ever.
        waits = isinstance(starter, Task) and starter.name.startswith("Pool") and not guarded.read
        happens, outcome = ("hangs", "hang") if waits else ("fails", "exception")
        if guarded.reported:
            error, happens, outcome = f"{error}, which an exception handler only prints", "goes wrong", "corrupt"
        if guarded.module.notebook:
            place, remedy = "defined in a notebook", "define it in a module and import it"
        return Finding(
            code=self.code,
            path=guarded.module.path,
            span=guarded.span,
            message=f"{guarded.kind} `{guarded.name}` is {place}, where spawned workers {lack} "
            f"({error}): {happens} {where}; {remedy}",
            certainty=Certainty.LIKELY if unsure else Certainty.CERTAIN,
            outcomes=outcomes(failing, outcome, starter.chosen),
            notes=guarded.notes or (Note(starter.path, at, "workers are started here"),),
            anchors=((starter.path, at),),
            key=f"{self.code}:{guarded.module.path}:{guarded.name}{guarded.setter and f':{guarded.setter}'}",
            data=(guarded, together),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import above_guard, lifted
        from dllint_rules.pickling.in_place import out_of_notebook

        guarded, together = finding.data
        if guarded.module.notebook:
            return out_of_notebook(project, finding.path, guarded.name)
        if guarded.setter:
            return Fix.manual(f"Pass `{guarded.name}` to what needs it, or set it in the pool's `initializer`")
        source = project.source(finding.path)
        snippet = above_guard(source, finding.span.start)
        edits = lifted(source, finding.span.start) if snippet else ()
        stay = [other.name for other in together if other.kind == "name" and not lifted(source, other.span.start)]
        if edits and not stay:
            return Fix(f"Move `{guarded.name}` above the main guard", edits, Applicability.UNSAFE)
        if snippet:
            beside = [f"`{name}`" for name in stay if name != guarded.name]
            remark = f"; no fix moves {' and '.join(beside)}, which workers need as well" if edits else ""
            return Fix.manual(f"Put it above the main guard{remark}", snippet)
        why_not = "it is set only in some cases, or its value is known only at run time"
        return Fix.manual(f"Pass `{guarded.name}` to what needs it; {why_not}")


def _lacking(project: Project, task: Task) -> Iterator[Guarded]:
    """What a process does not find: of what it is sent; where it is sent all it needs, of what its code reads.

    A function that it does not find is DLL107.
    """
    held = [(item, project.guarded.defined(item.value, task.env)) for item in project.processes.held(task)]
    lost = [(item, guarded) for item, guarded in held if guarded is not None]
    for item, guarded in lost:
        if guarded.kind == "class" and item.certainty is Certainty.CERTAIN:
            yield guarded._replace(notes=item.route, decided=item.decided)
    if not lost:
        for running in project.processes.running(task):
            yield from project.guarded.read_by(running, task.env)
