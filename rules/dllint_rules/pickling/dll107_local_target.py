"""DLL107: a process or a pool is sent a function that pickle cannot find by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from dllint import (
    PICKLING,
    Certainty,
    ExtInst,
    Finding,
    Fix,
    Func,
    Held,
    Project,
    Rule,
    Task,
    outcomes,
    under_main_guard,
    unpicklable_function,
)
from dllint_rules.pickling.analysis.escaping_handles import kept_handle, worker_functions
from dllint_rules.pickling.unpicklable import moved

INHERITED = frozenset({
    f"multiprocessing.{name}"
    for name in ("Queue", "JoinableQueue", "SimpleQueue", "Lock", "RLock", "Semaphore", "Event", "Condition", "Value")
})  # fmt: skip
"""What `Process` passes on and a pool does not: "should only be shared between processes through inheritance"."""


class LocalTarget(Rule):
    """Pools pickle what they are sent under every start method; processes where they are spawned."""

    code = "DLL107"
    name = "local-target"
    summary = "lambda, local function or handle is sent to a process or a pool"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        workers = worker_functions(project)
        for task in sorted(project.processes.tasks, key=lambda task: not task.always):
            if not _failing(task):
                continue
            sent = list(project.processes.held(task))
            handles = (self._handle(project, task, held, workers) for held in sent)
            yield from islice((found for found in handles if found is not None), 1)
            for held in sent:
                if held.certainty is Certainty.CERTAIN and (held.path, held.span) not in seen:
                    found = self._refused(project, task, held) or self._guarded(project, task, held)
                    if found is not None:
                        seen.add((held.path, held.span))
                        yield found

    def _refused(self, project: Project, task: Task, held: Held) -> Finding | None:
        kind = unpicklable_function(held.value)
        if not kind or held.holder.kind == "owner":
            return None
        assert isinstance(held.value, Func)
        what = "lambda" if kind == "lambda" else f"local function `{held.value.facts.name}`"
        what = f"{what} sent to `{task.name}` cannot be pickled"
        return self._finding(project, task, held, what, moved(project, held, held.value))

    def _handle(self, project: Project, task: Task, held: Held, workers: frozenset[tuple[str, int]]) -> Finding | None:
        """A lock, a pool or a file among the arguments, or kept by the object whose method is the target."""
        handle = kept_handle(project, held, workers) if held.certainty is Certainty.CERTAIN else None
        what = handle.what if handle is not None else ""
        inherited = task.always and isinstance(held.value, ExtInst) and held.value.name in INHERITED
        if inherited and isinstance(held.value, ExtInst):
            what = f"`{held.value.name.rpartition('.')[2]}`, which can only be inherited by a process,"
        if not what or _made_after(task, held):
            return None
        kept = f" (`{held.holder.name}` of `{held.holder.owner}`)" if held.holder.kind == "attribute" else ""
        along = f" along with the bound method `{held.method.func.facts.name}`" if held.method is not None else ""
        remedy = "send a module-level function and plain data" if along else "make it in the process that needs it"
        if inherited and not along:
            remedy = "hand it over with `initializer` and `initargs`, or use that of a `Manager`"
        at = held.at(task.path, task.call.span)
        return self._finding(project, task, at, f"{what}{kept} sent to `{task.name}`{along} cannot be pickled", remedy)

    def _guarded(self, project: Project, task: Task, held: Held) -> Finding | None:
        """A target that only the main process has: a spawned one doesn't find it."""
        value = held.value
        if not isinstance(value, Func) or held.holder.kind == "owner" or not task.methods & PICKLING:
            return None
        guarded = project.guarded.defined(value, task.env) if value.facts.parent >= 0 else None
        if guarded is not None and guarded.setter:
            what = (
                f"`{value.facts.name}` sent to `{task.name}` is defined by `{guarded.setter}` in the main process only"
            )
            what, remedy = f"{what}, so spawned processes don't find it", "define it at module level"
            return self._finding(project, task, held, what, remedy + _along(project, task, value), PICKLING)
        if value.facts.parent >= 0 or value.facts.owner >= 0:
            return None
        made = next(
            (item for item in value.module.model.events if item.kind == "def" and item.ref == value.index), None
        )
        if made is None or not under_main_guard(value.module, -1, made):
            return None
        place, remedy = "under the main guard", "define it above the guard"
        if value.module.notebook:
            place, remedy = "in a notebook", "define it in a module and import it"
        what = f"`{value.facts.name}` sent to `{task.name}` is defined {place}, so spawned processes don't find it"
        return self._finding(project, task, held, what, remedy + _along(project, task, value), PICKLING)

    def _finding(
        self, project: Project, task: Task, held: Held, what: str, remedy: str, when: frozenset[str] = frozenset()
    ) -> Finding:
        failing = task.methods & when if when else _failing(task)
        always = task.always and not when
        methods = "under every start method" if always else project.where(task, failing)
        # What a pool's worker cannot read kills it; another one takes its place, and the pool waits for ever.
        does, outcome = ("hangs", "hang") if when and task.name.startswith("Pool") else ("fails", "exception")
        return Finding(
            code=self.code,
            path=held.path,
            span=held.span,
            message=f"{what}: {does} {methods}; {remedy}",
            certainty=held.surely if task.decided else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(failing), outcome) if always else outcomes(failing, outcome, task.chosen),
            notes=held.route,
            anchors=((task.path, task.call.span),),
            key=f"{self.code}:{held.path}:{task.name}:{task.env.facts.qualname if task.env.function >= 0 else ''}",
            data=held,
            group=_made_at(held),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        if not isinstance(finding.data.value, Func):
            return _made_there(project, finding.data)
        from dllint_rules.pickling.in_place import fix_target

        return fix_target(project, finding.data)


def _made_there(project: Project, held: Held) -> Fix:
    """What to do with a handle that is sent along."""
    if held.method is not None:
        from dllint_rules.pickling.dll108_owner_shipped_with_method import without_owner

        return without_owner(project, held)
    assert isinstance(held.value, ExtInst)
    short = held.value.name.rpartition(".")[2]
    if held.value.name in INHERITED:
        why_not = "the work must then read it from its module"
        return Fix.manual(f"Hand the `{short}` over with the pool's `initializer` and `initargs`; {why_not}")
    return Fix.manual(f"Make the `{short}` in the process that needs it; what it is made with must go there instead")


def _made_at(held: Held) -> str:
    """The place of a handle, which is one cause wherever it is sent; "" for a function, which is told where it is."""
    made = held.value
    return f"{made.env.module.path}:{made.call.start}" if isinstance(made, ExtInst) else ""


def _made_after(task: Task, held: Held) -> bool:
    """Whether a process is on its way already when the same function makes this."""
    value, module = held.value, task.env.module
    if not isinstance(value, ExtInst) or value.env.module is not module or value.env.function != task.env.function:
        return False
    later = (event for event in module.events(task.env.function) if event.start >= task.call.start)
    starts = (event.start for event in later if any(part.name == "start" for part in event.walk()))
    sent = task.call.end if task.always else next(starts, value.call.start)  # its own arguments are made before
    return value.call.start > sent


def _along(project: Project, task: Task, func: Func) -> str:
    """What the code of a function reads that no spawned process has either, and how to send that along."""
    read = (guarded for run in project.processes.running(task) for guarded in project.guarded.read_by(run, task.env))
    names = sorted({f"`{guarded.name}`" for guarded in read if guarded.module is func.module})
    if not names:
        return ""
    *others, last = names
    listed, verb, them = (f"{', '.join(others)} and {last}", "are", "them") if others else (last, "is", "it")
    way = "with `functools.partial` or an `initializer`" if task.always else "as arguments"
    return f", where {listed} {verb} missing as well: pass {them} {way}"


def _failing(task: Task) -> frozenset[str]:
    """The start methods under which what a task sends is pickled."""
    return task.methods if task.always else task.methods & PICKLING
