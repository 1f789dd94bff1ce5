"""DLL308: a script does outside its guard what is to be done once, and starting workers does it again."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import PICKLING, Certainty, Finding, Fix, Note, Project, Rule, Severity, Span, event_names
from dllint_rules.start.analysis.forks import Forks
from dllint_rules.start.analysis.repeated import Repeated, RepeatedWork
from dllint_rules.start.process_groups import joins_above

_UNLESS_IT_HANGS = ", unless it fails or hangs where it joins the process group again"


class ImportSideEffectInWorker(Rule):
    """A spawned worker or a fork server imports the main script, and so runs all of it that is not under the guard."""

    code = "DLL308"
    name = "import-side-effect-in-worker"
    summary = "main script uses CUDA, empties files or starts runs at module level, again as workers start"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for repeated in project.analysis(RepeatedWork).repeated():
            place = repeated.running.path, repeated.call.span
            where = _where(project, repeated)
            forked = repeated.imported and repeated.on_cuda and place in _forked(project)
            cause = _cause(repeated)
            if where and cause not in seen and not forked:
                seen.add(cause)
                yield self._finding(project, repeated, where)

    def _finding(self, project: Project, repeated: Repeated, where: str) -> Finding:
        running, begun = repeated.running, repeated.begun
        loader = begun.loader
        known = repeated.surely and (loader is None or loader.certainty is Certainty.CERTAIN)
        path, span, route = running.path, repeated.call.span, running.route
        if route:
            route = Note(path, span, f"{repeated.what} here"), *route
            path, span = route[-1].path, route[-1].span
        joins = _joins_above(project, repeated)
        again = f"{_again(repeated)}{_UNLESS_IT_HANGS if joins else ''}"
        return Finding(
            code=self.code,
            path=path,
            span=span,
            message=f"{repeated.what}, and starting workers runs {again}: {where}; {_remedy(repeated)}",
            severity=self.severity,
            certainty=Certainty.CERTAIN if known else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(begun.methods & PICKLING), "corrupt"),
            notes=(*route, *joins, Note(repeated.path, begun.at.span, begun.here)),
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{path}:{repeated.what}",
            data=repeated,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import GUARD

        if finding.data.imported:
            return Fix.manual("Do it in a function that the script calls under its main guard, or where it is needed")
        start = finding.data.running.start
        names = " and ".join(f"`{name}`" for name in event_names(start)) if start is not None else ""
        needed = f"what reads {names} must go along" if names else "what comes after it may need it"
        return Fix.manual(f"Put it under the main guard; {needed}", GUARD)


def _cause(repeated: Repeated) -> tuple[object, ...]:
    """What is to be changed: the statement of a module that makes calls of a kind, or leads to them."""
    running = repeated.running
    module = running.route[-1].path if running.route else running.path
    start = repeated.call.start if running.start is None else running.start.start
    return module, start, repeated.what.rpartition("` ")[2]


def _forked(project: Project) -> set[tuple[str, Span]]:
    """Where CUDA is initialized before processes are forked that use it, too: DLL304 says so, and that they raise."""
    forks = project.analysis(Forks)
    return {(running.path, call.span) for child in forks.cuda_users for running, call, _ in forks.before(child)}


def _joins_above(project: Project, repeated: Repeated) -> tuple[Note, ...]:
    start = repeated.running.start
    if repeated.imported or start is None:
        return ()
    return joins_above(project, repeated.script, start.start, "joins a process group, which workers do again, too")


def _again(repeated: Repeated) -> str:
    if repeated.imported:
        return f"`{repeated.script}` again, which imports this module"
    return "this script again"


def _remedy(repeated: Repeated) -> str:
    return "do it in a function" if repeated.imported else 'put it under `if __name__ == "__main__":`'


def _where(project: Project, repeated: Repeated) -> str:
    """Where workers are spawned, in words; "" where they have no CUDA that they could initialise again."""
    begun, failing = repeated.begun, repeated.begun.methods & PICKLING
    if begun.chosen or not repeated.on_cuda:
        return project.where(begun, failing)
    platforms = project.targets.platforms if begun.platforms is None else begun.platforms
    return project.targets.on(tuple(name for name in platforms if name != "macos")).where(failing)
