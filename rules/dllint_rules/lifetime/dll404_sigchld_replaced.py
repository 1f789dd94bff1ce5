"""DLL404: other code consumes the end of children, so the loader waits for a dead worker."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Certainty, Finding, Fix, Note, Project, Rule, Severity
from dllint_rules.lifetime.analysis.child_signals import ChildSignals, Taken

_OUTCOMES = {
    "ignored": "the system discards the exit status of children, so a loader whose worker is killed waits forever",
    "reaped": "waiting for any child also reaps workers, so a loader whose worker is killed waits "
    "forever; wait for your own processes by their IDs",
    "late": "a loader notices that a worker was killed only when it checks its workers, every 5 seconds",
}


class SigchldReplaced(Rule):
    """A loader installs its handler of SIGCHLD once, with its first workers; what comes later replaces it."""

    code = "DLL404"
    name = "sigchld-replaced"
    summary = "SIGCHLD handler or wait for any child hides the death of workers from their loader"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for taken in project.analysis(ChildSignals).taken():
            if not taken.site.module.is_test:
                yield self._finding(project, taken)

    def _finding(self, project: Project, taken: Taken) -> Finding:
        site, loader = taken.site, taken.loader
        what = "SIGCHLD" if site.expr.args[0].name == "signal" else f"`{site.expr.args[0].name}`"
        when = "while workers of" if what != "SIGCHLD" else "after the first workers of"
        cure = (
            ""
            if what != "SIGCHLD"
            else "; install it before the first loader is iterated: PyTorch's handler then calls it"
        )
        hang = taken.how != "late"
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"{what} is taken {when} `{loader.name}` have started: {_OUTCOMES[taken.how]}{cure}",
            severity=self.severity,
            certainty=loader.certainty if project.surely_runs(site) else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(taken.methods), "hang") if hang else {},
            notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` starts workers here"),),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{site.module.path}:{taken.how}",
            data=taken,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        loader = finding.data.loader
        if finding.data.how == "reaped":
            return Fix.manual("Wait for processes by their IDs; dllint can't tell which ones are meant")
        where = f"{loader.path}:{project.source(loader.path).place(loader.span.start)}"
        return Fix.manual(
            f"Install it before the loader of {where} is iterated; what it does may need what comes before"
        )
