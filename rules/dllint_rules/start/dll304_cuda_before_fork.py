"""DLL304: CUDA is initialised before a fork whose child uses CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import FORK, Certainty, Expr, Finding, Note, Project, Rule, Running


class CudaBeforeFork(Rule):
    """A child may use CUDA when its parent has not: what initialises CUDA on import takes that away."""

    code = "DLL304"
    name = "cuda-before-fork"
    summary = "CUDA is initialised before a fork whose child uses CUDA"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for child in project.forked_cuda_users:
            for running, call, how in project.forks.before(child):
                if (running.path, call.span) not in seen:
                    seen.add((running.path, call.span))
                    yield self._finding(running, call, how, child.running)

    def _finding(self, running: Running, call: Expr, how: str, child: Running) -> Finding:
        note = Note(child.path, child.env.facts.header, f"`{child.env.facts.name}` uses CUDA in the forked process")
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message=f"`{how}` initialises CUDA before processes are forked that use it: they raise "
            '"Cannot re-initialize CUDA in forked subprocess" on Linux before Python 3.14; '
            "start them with the spawn context or move this after",
            certainty=Certainty.LIKELY,
            outcomes={FORK: "exception"},
            notes=(note, *child.route),
            anchors=((child.loader.path, child.loader.span),) if child.loader is not None else (),
            key=f"{self.code}:{running.path}:{how}",
        )
