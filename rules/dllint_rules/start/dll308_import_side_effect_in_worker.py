"""DLL308: a script does outside its guard what is to be done once, and every spawned worker does it again."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import PICKLING, Certainty, Finding, Note, Project, Repeated, Rule, Severity, Workers


class ImportSideEffectInWorker(Rule):
    """A spawned worker imports the main script, and so runs everything in it that is not under the guard."""

    code = "DLL308"
    name = "import-side-effect-in-worker"
    summary = "module-level code of the main script uses CUDA, empties files or begins runs again in every worker"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for repeated in project.repeated_work.repeated():
            place = repeated.running.path, repeated.call.span
            if place not in seen:
                seen.add(place)
                yield self._finding(project, repeated)

    def _finding(self, project: Project, repeated: Repeated) -> Finding:
        running, begun = repeated.running, repeated.begun
        loader = begun.loader
        where = project.where(loader, begun.methods & PICKLING) or "on every platform"
        known = loader is None or loader.workers is Workers.SOME
        return Finding(
            code=self.code,
            path=running.path,
            span=repeated.call.span,
            message=f"{repeated.what}, and every spawned worker of this script runs it again: {where}; put it under "
            '`if __name__ == "__main__":`',
            severity=self.severity,
            certainty=Certainty.CERTAIN if known else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(begun.methods & PICKLING), "corrupt"),
            notes=(*running.route, Note(repeated.path, begun.at.span, f"{begun.what} start here")),
            anchors=((loader.path, loader.span),) if loader is not None else (),
            key=f"{self.code}:{running.path}:{repeated.what}",
        )
