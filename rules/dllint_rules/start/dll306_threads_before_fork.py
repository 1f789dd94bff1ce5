"""DLL306: there are threads when workers are forked, or workers want threads that the fork has lost."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import FORK, Certainty, Expr, Finding, Fix, Loader, Note, Project, Rule, Running, Severity
from dllint_rules.start.analysis.threads import OwnThread, Threads


class ThreadsBeforeFork(Rule):
    """A forked worker is one thread; locks and pools look as if the others were there."""

    code = "DLL306"
    name = "threads-before-fork"
    summary = "threads are alive when workers are forked, or workers use a pool of threads"
    severity = Severity.INFO
    default = False

    def check(self, project: Project) -> Iterator[Finding]:
        threads = project.analysis(Threads)
        for thread in threads.own():
            yield self._own(thread)
        limited = threads.limits_opencv()
        seen: set[object] = set()
        for running in (*project.running_if_asked, *project.users_running):
            for call in project.executed_calls(running) if _forked(project, running) else ():
                if threads.raises_number(call, running.env):
                    yield self._raised(running, call)
                elif not limited and _workers_of(running) not in seen:
                    name = threads.opencv(call, running.env)
                    if name:
                        seen.add(_workers_of(running))
                        yield self._opencv(running, call, name)

    def _own(self, thread: OwnThread) -> Finding:
        site, loader = thread.site, thread.loader
        return self._finding(
            site.module.path,
            site.expr,
            loader,
            f"a thread is started before the workers of `{loader.name}` are forked: they inherit the locks that it "
            "holds at that moment but not the thread, so they may wait forever; start it after the first batch, join "
            'it before, or use `multiprocessing_context="spawn"`',
            (Note(loader.path, loader.span, f"`{loader.name}(...)` forks workers here"),),
        )

    def _raised(self, running: Running, call: Expr) -> Finding:
        return self._finding(
            running.path,
            call,
            running.loader,
            "a forked worker that computes with more than one thread waits forever, once the main process has done "
            'so; leave workers their one thread, or use `multiprocessing_context="spawn"`',
            running.route,
            Severity.WARNING,
        )

    def _opencv(self, running: Running, call: Expr, name: str) -> Finding:
        return self._finding(
            running.path,
            call,
            running.loader,
            f"`{name}` uses a pool with one thread for each core, in each worker, and some builds of "
            "OpenCV hang in it after a fork; call `cv2.setNumThreads(0)` where the dataset is defined",
            running.route,
        )

    def _finding(
        self,
        path: str,
        call: Expr,
        loader: Loader | None,
        message: str,
        route: tuple[Note, ...] = (),
        severity: Severity = Severity.INFO,
    ) -> Finding:
        return Finding(
            code=self.code,
            path=path,
            span=call.span,
            message=message,
            severity=severity,
            certainty=Certainty.LIKELY,
            outcomes={FORK: "hang"},
            notes=route,
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{path}:{call.args[0].name}",
            data=loader,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        loader = finding.data
        what = f"`{loader.name}`" if loader is not None else "its loaders"
        why_not = "what that sends is pickled then, and other code may count on a fork"
        return Fix.manual(f"Start the workers of {what} with spawn, or leave the threads out; {why_not}")


def _workers_of(running: Running) -> object:
    """Whose workers run code: what one `cv2.setNumThreads(0)` fixes is one cause."""
    return None if running.loader is None else (running.loader.path, running.loader.span)


def _forked(project: Project, running: Running) -> bool:
    """Whether code runs in workers that may be forked."""
    if running.loader is None:
        return FORK in project.targets.methods()
    return FORK in running.loader.methods and not running.loader.in_tests
