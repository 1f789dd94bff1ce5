"""DLL302: CUDA is used in code that forked workers run."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import FORK, Expr, Finding, Fix, Project, Refused, Rule, Running


class CudaInWorker(Rule):
    """CUDA cannot be used again in a process forked from one that has used it."""

    code = "DLL302"
    name = "cuda-in-worker"
    summary = "CUDA is used in code that runs in forked workers"
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for running in project.running:
            loader = running.loader
            if loader is None or FORK not in loader.methods:
                continue
            for call in project.executed_calls(running):
                used = project.devices.use(call, running.env)
                if used and (running.path, call.span) not in seen:
                    seen.add((running.path, call.span))
                    yield self._finding(project, running, call, used)

    def _finding(self, project: Project, running: Running, call: Expr, used: str) -> Finding:
        loader = running.loader
        assert loader is not None
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message=f'`{used}` runs in the workers: raises "Cannot re-initialize CUDA in forked subprocess" where they '
            "are forked (Linux before Python 3.14) after the main process has used CUDA; move the batch to the GPU in "
            "the training loop",
            certainty=project.certainty(running, call),
            outcomes={"fork": "exception"},
            notes=running.route,
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}:{loader.name}",
            data=(running, call),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint_rules.start.move_batches import moved_by_fix, moved_in_loop

        running, call = finding.data
        try:
            return moved_by_fix(project, running, call)
        except Refused:
            return moved_in_loop(project, running, running.loader, call, running.env, call)
