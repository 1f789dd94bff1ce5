"""DLL609: module state that only the main process changes, and workers read."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import PICKLING, Certainty, Expr, Finding, Fix, Loader, Note, Project, Rule, Severity, outcomes
from dllint_rules.correctness.analysis.module_globals import ANY, Step, key_of
from dllint_rules.correctness.analysis.module_state import ModuleState, Read, Unseen
from dllint_rules.correctness.started import processes, span_of, started, where

SNIPPET = """\
# at module level, beside what is shipped:
def set_{name}({name}, worker):
    {written} = {name}


# and for the loader:
worker_init_fn = functools.partial(set_{name}, {written})"""


class StateOnlyInMain(Rule):
    """A worker that is not forked imports the modules afresh: what `main` put into them is not there."""

    code = "DLL609"
    name = "state-only-in-main"
    summary = "module state that only the main process changes: spawned workers read the value at import"
    severity = Severity.WARNING
    default = False
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        for unseen in project.analysis(ModuleState).unseen(started(project)):
            yield self._finding(project, unseen)

    def _finding(self, project: Project, unseen: Unseen) -> Finding:
        change, read, starter = unseen.change, unseen.read, unseen.starter
        loader = starter if isinstance(starter, Loader) else None
        changed = project.text(change.running.path, change.at.span)
        how = f" by `{changed.partition('(')[0]}(...)`" if change.at.kind == "call" else ""
        seen = self._seen(project, unseen)
        changed = self._changed(project, unseen)
        what = "it" if changed == seen else f"`{seen}`"
        surely = change.value is not None and change.event.block < 0
        surely = surely and change.running.is_sure and project.certainty(read.running, read.at) is Certainty.CERTAIN
        sure = surely and (loader is None or loader.certainty is Certainty.CERTAIN)
        happens, outcome = ("which fails", "exception") if unseen.raises else ("silently different", "corrupt")
        reader = read.running.env.facts.qualname
        written = Note(change.running.path, change.at.span, "the main process changes it here")
        failing = starter.methods & PICKLING
        return Finding(
            code=self.code,
            path=change.running.path,
            span=change.at.span,
            message=f"`{changed}` is changed in the main process only{how}, and `{reader}` reads {what}: "
            f"{self._left(unseen)}, {happens} {where(project, starter)}; {self._remedy(loader)}",
            severity=Severity.ERROR if unseen.raises else Severity.WARNING,
            certainty=Certainty.CERTAIN if sure else Certainty.LIKELY,
            outcomes=outcomes(failing, outcome, starter.chosen),
            notes=(read.running.note(read.at, f"reads `{seen}`"), *read.running.route, written, *change.running.route),
            anchors=((starter.path, span_of(starter)), (read.running.path, read.at.span)),
            key=f"{self.code}:{change.place.module.path}:{change.place.name}:{change.running.path}:{reader}",
            data=unseen,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import Refused, above_guard
        from dllint_rules.correctness.set_again import set_again

        snippet = above_guard(project.source(finding.path), finding.span.start)
        if snippet and finding.data.change.place.module.path == finding.path:
            return Fix.manual("Put it above the main guard, where workers also run it", snippet)
        try:
            return set_again(project, finding.data)
        except Refused as refused:
            return self._by_hand(project, finding, str(refused))

    def _by_hand(self, project: Project, finding: Finding, why_not: str) -> Fix:
        change, reader = finding.data.change, finding.data.read.running.env.facts.qualname
        what = " ".join(project.text(finding.path, change.at.span).split())
        starter = finding.data.starter
        if isinstance(starter, Loader) and starter.call.keyword("worker_init_fn") is None:
            if change.at.dotted == what and change.at.kind == "attribute" and change.value is not None:
                name = change.at.name.lower()
                return Fix.manual(f"Set it in each worker as well; {why_not}", SNIPPET.format(written=what, name=name))
        return Fix.manual(f"Give `{reader}` what `{what}` sets; {why_not}")

    def _seen(self, project: Project, unseen: Unseen) -> str:
        """What is read, as it is written."""
        return self._named(project, unseen.read, unseen.read.at, unseen.read.place.path)

    def _changed(self, project: Project, unseen: Unseen) -> str:
        """What is changed, as the reader writes it; under names that are not known: what was reached by then."""
        read, changed = unseen.read, unseen.change.place.path
        known = changed.index(ANY) if ANY in changed else len(changed)
        at, path = read.at, read.place.path
        while len(path) > known and at.args:
            last = at.name if at.kind == "attribute" else key_of(at.args[-1]) if at.kind == "subscript" else ANY
            at, path = (at.args[0] if last == path[-1] is not ANY else at), path[:-1]
        return self._named(project, read, at, path)

    def _named(self, project: Project, read: Read, at: Expr, path: tuple[Step, ...]) -> str:
        """An expression of worker code as it is written; an attribute of `self` by its class."""
        env = read.running.env
        if at.dotted.partition(".")[0] == env.module.receiver_name(env.function) != "":
            return ".".join((read.place.name, *(step for step in path if isinstance(step, str))))
        return project.text(read.running.path, at.span)

    def _left(self, unseen: Unseen) -> str:
        state = unseen.change.place.module
        owner = "the script" if state is unseen.script else state.path.rpartition("/")[2]
        value = f" ({unseen.initial.value!r})" if unseen.initial is not None else ""
        return f"spawned {processes(unseen.starter)} see what importing {owner} leaves{value}"

    def _remedy(self, loader: Loader | None) -> str:
        if loader is not None:
            return "pass it to what the loader ships, or set it in `worker_init_fn`"
        return "pass it as an argument, or set it in the pool's `initializer`"
