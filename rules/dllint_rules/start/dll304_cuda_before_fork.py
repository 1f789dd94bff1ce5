"""DLL304: CUDA is initialized before a fork whose child uses CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import FORK, Certainty, Expr, Ext, Finding, Fix, Func, Note, Project, Rule, Running, Site
from dllint_rules.start.analysis.forks import Child, Forks


class CudaBeforeFork(Rule):
    """A child may use CUDA when its parent has not: what initializes CUDA on import takes that away."""

    code = "DLL304"
    name = "cuda-before-fork"
    summary = "CUDA is initialized before a fork whose child uses CUDA"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        forks = project.analysis(Forks)
        for child in forks.cuda_users:
            for running, call, how in forks.before(child):
                if (running.path, call.span) not in seen:
                    seen.add((running.path, call.span))
                    yield self._finding(running, call, how, child)

    def _finding(self, running: Running, call: Expr, how: str, child: Child) -> Finding:
        code = child.running
        note = Note(code.path, code.env.facts.header, f"`{code.env.facts.name}` uses CUDA in the forked process")
        where = "on Linux" if child.always else "on Linux before Python 3.14"
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message=f"`{how}` initializes CUDA before processes are forked that use it: they raise "
            f'"Cannot re-initialize CUDA in forked subprocess" {where}; '
            "start them with the spawn context or move this after",
            certainty=Certainty.LIKELY,
            outcomes={FORK: "exception"},
            notes=(note, *code.route),
            anchors=((code.loader.path, code.loader.span),) if code.loader is not None else (),
            key=f"{self.code}:{running.path}:{how}",
            data=child,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import call_with

        site, loader = finding.data.site, finding.data.running.loader
        snippet = ""
        if site is not None:
            snippet = _spawned(project, site)
        elif loader.instance is None:
            snippet = call_with(project.source(loader.path), loader.span, "multiprocessing_context", '"spawn"')
        title = "Start these processes with spawn; what they get is pickled"
        why_not = (
            "" if snippet else "; dllint can't see where they are started, or their target is not a module-level name"
        )
        return Fix.manual(f"{title}{why_not}", snippet)


def _spawned(project: Project, site: Site) -> str:
    """The process from a context that spawns; "" where a target inside a function could not be pickled."""
    from dllint import piece

    module, call = site.module, site.expr
    env = project.evaluator.generic(module, site.function)
    target = call.keyword("target")
    targets = project.values(target, env) if target is not None else ()
    if not targets or not all(isinstance(value, Func) and value.facts.parent < 0 for value in targets):
        return ""
    callee = call.args[0]
    package = callee.args[0] if callee.kind == "attribute" else None
    known = package is not None and any(isinstance(value, Ext) for value in project.values(package, env))
    base = package.dotted if package is not None and known else "multiprocessing"
    return (
        f'{base}.get_context("spawn").Process'
        + piece(project.source(module.path), call.span)[callee.end - call.start :]
    )
