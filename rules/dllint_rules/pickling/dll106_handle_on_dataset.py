"""DLL106: something that belongs to one process goes to workers: a file, a lock, a connection."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint import (
    FORK,
    Applicability,
    Certainty,
    ExtInst,
    Finding,
    Fix,
    Held,
    Inst,
    Project,
    Rule,
    Severity,
    Unselected,
)
from dllint_rules.pickling.analysis.escaping_handles import (
    Shared,
    is_never_read,
    kept_handle,
    shared_under_fork,
    worker_functions,
)
from dllint_rules.pickling.analysis.first_looks import FirstLooks, Look
from dllint_rules.pickling.analysis.set_up_only import no_need_to_keep
from dllint_rules.pickling.unpicklable import finding, keeper

LEFT = "an item is read before the workers start, which opens it: leave it out of the pickle and open it per process"
SHOWS = {"corrupt": "read wrong data", "exception": "get errors", "hang": "hang"}


class HandleOnDataset(Rule):
    """Such a thing cannot be pickled; under fork, workers share one file position or one connection."""

    code = "DLL106"
    name = "handle-on-dataset"
    summary = "open file, lock, connection or other handle is kept by something that is shipped to workers"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        workers = worker_functions(project)
        told: set[tuple[str, str, str]] = set()
        for held in sorted(project.shipped, key=lambda held: (held.path, held.span)):
            handle = kept_handle(project, held, workers) if held.method is None else None
            holder = held.holder
            kept = held.route[0].path, holder.owner, holder.name
            if handle is None or (holder.kind == "attribute" and kept in told):
                continue
            told.add(kept)
            remedy = no_need_to_keep(project, held, handle) or handle.remedy
            found = finding(self, project, handed_over(held), f"{handle.what} {keeper(held)}", remedy)
            if found is not None:
                forked = "" if is_never_read(project, held) else handle.fork
                outcomes = found.outcomes | ({FORK: forked} if forked else {})
                anchors = (*found.anchors, (held.path, held.span))
                certainty = found.certainty if handle.sure else Certainty.LIKELY
                yield msgspec.structs.replace(found, outcomes=outcomes, anchors=anchors, certainty=certainty, data=held)
        for shared in shared_under_fork(project, workers):
            yield self._shared(project, shared)
        for look in project.analysis(FirstLooks).looks:
            found = self._looked_at(project, look)
            if found is not None:
                yield found

    def _looked_at(self, project: Project, look: Look) -> Finding | None:
        """A handle that is opened on first use, and that use is not a worker's."""
        held, handle = look.held, look.handle
        if handle is None or not isinstance(held.value, ExtInst):
            return None
        if not look.pickled:
            shared = Shared(held, held.value, handle, held.holder.name)
            return self._shared(project, shared, LEFT) if handle.fork else None
        found = finding(self, project, held, f"{handle.what} {keeper(held)}", LEFT)
        outcomes = {FORK: handle.fork} if handle.fork else {}
        return found and msgspec.structs.replace(found, outcomes=found.outcomes | outcomes)

    def _shared(self, project: Project, shared: Shared, remedy: str = "") -> Finding:
        """A handle that is left out of the pickle: forked workers still have it."""
        held, loader, path = shared.held, shared.held.loader, shared.made.env.module.path
        unselected = project.analysis(Unselected).clause(held)
        return Finding(
            code=self.code,
            path=path,
            span=shared.made.call.span,
            message=f"{shared.handle.what} kept as `{shared.attribute}` is shared by forked workers, which "
            f"{SHOWS[shared.handle.fork]}{unselected}; {remedy or shared.handle.remedy}",
            severity=Severity.INFO if unselected else Severity.WARNING,
            certainty=held.surely if shared.handle.sure else Certainty.LIKELY,
            outcomes={FORK: shared.handle.fork, "forkserver": "ok", "spawn": "ok"},
            notes=held.route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{path}:{shared.attribute}:{loader.name if loader is not None else 'users'}",
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.pickling.lazy_handle import fix_handle

        if finding.data is None:
            title = "Open it in the worker; it is left out of the pickle, but forked workers still inherit it"
            return Fix(title, (), Applicability.MANUAL)
        held = finding.data
        handle = project.handles.kind_of(held.value)
        remedy = no_need_to_keep(project, held, handle) if handle is not None else ""
        return Fix.manual(f"Don't keep `{held.holder.name}`; {remedy}") if remedy else fix_handle(project, held)


def handed_over(held: Held) -> Held:
    """What others open and an object only keeps is reported where it is kept."""
    env = held.value.env if isinstance(held.value, ExtInst) else None
    while env is not None and held.holder.kind == "attribute":
        if isinstance(env.receiver, Inst) and env.receiver.klass.facts.name == held.holder.owner:
            return held
        env = env.caller
    if held.holder.kind != "attribute" or not isinstance(held.value, ExtInst):
        return held
    return held.at(held.route[0].path, held.route[0].span)
