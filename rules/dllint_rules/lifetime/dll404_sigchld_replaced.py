"""DLL404: somebody else takes the news of ended children, so a dead worker is waited for."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Finding, Note, Project, Rule, Severity, Taken, is_test

_OUTCOMES = {
    "ignored": "the system forgets ended children, so a loader whose worker is killed waits for ever",
    "reaped": "whoever waits for any child takes the ends of workers too, and a loader whose worker is killed waits "
    "for ever; wait for the processes of your own by their ids",
    "late": "a loader notices that a worker was killed only when it looks after them, every 5 seconds",
}


class SigchldReplaced(Rule):
    """A loader installs its handler of SIGCHLD once, with its first workers; what comes later replaces it."""

    code = "DLL404"
    name = "sigchld-replaced"
    summary = "SIGCHLD handler or wait for any child hides the death of workers from their loader"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        for taken in project.child_signals.taken():
            if not is_test(taken.site.module.path):
                yield self._finding(taken)

    def _finding(self, taken: Taken) -> Finding:
        site, loader = taken.site, taken.loader
        what = "SIGCHLD" if site.expr.args[0].name == "signal" else f"`{site.expr.args[0].name}`"
        when = "while workers of" if what != "SIGCHLD" else "after the first workers of"
        cure = "" if what != "SIGCHLD" else "; install it before the first loader is iterated, which keeps it"
        hang = taken.how != "late"
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"{what} is taken {when} `{loader.name}` have started: {_OUTCOMES[taken.how]}{cure}",
            severity=self.severity,
            certainty=loader.certainty,
            outcomes=dict.fromkeys(sorted(taken.methods), "hang") if hang else {},
            notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` starts workers here"),),
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{site.module.path}:{taken.how}",
        )
