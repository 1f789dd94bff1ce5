"""DLL501: the sharing strategy `file_system`, which leaves files behind and which spawned workers may not have."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    PICKLING,
    Const,
    Env,
    Expr,
    Ext,
    Finding,
    Loader,
    Note,
    Project,
    Rule,
    Severity,
    Site,
    Workers,
    is_test,
    under_main_guard,
)

_SETTER = "torch.multiprocessing.set_sharing_strategy"


class FileSystemSharing(Rule):
    """Tensors travel by the name of a file in shared memory, not by an open descriptor that the kernel counts."""

    code = "DLL501"
    name = "file-system-sharing"
    summary = "sharing strategy `file_system` leaks shared memory when processes are killed"
    severity = Severity.INFO

    def check(self, project: Project) -> Iterator[Finding]:
        for site in project.index.calls_named(("set_sharing_strategy",)):
            env = project.evaluator.generic(site.module, site.function)
            if is_test(site.module.path) or _strategy(project, site.expr, env) != {"file_system"}:
                continue
            if not _restored(project, site, env):
                yield self._finding(project, site)

    def _finding(self, project: Project, site: Site) -> Finding:
        missed = _without_it(project, site)
        leak = (
            "when a container is killed for memory, the files of its batches stay in /dev/shm; it is the cure for "
            '"too many open files", for which `.clone()` of what is kept, or a higher `ulimit -n`, is the better one'
        )
        text = (
            "spawned workers do not run what stands under the guard, and share by descriptors as before; set it at "
            "module level"
        )
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"`file_system`: {leak if missed is None else text}",
            severity=self.severity if missed is None else Severity.WARNING,
            notes=()
            if missed is None
            else (Note(missed.path, missed.span, f"`{missed.name}(...)` starts workers here"),),
            key=f"{self.code}:{site.module.path}",
        )


def _strategy(project: Project, call: Expr, env: Env) -> set[object]:
    """The strategies that a call may set; empty where that is not known."""
    if project.values(call.args[0], env) != (Ext(_SETTER),):
        return set()
    given = call.args[1] if len(call.args) > 1 else call.keyword("new_strategy")
    values = project.values(given, env) if given is not None else ()
    return {value.value if isinstance(value, Const) else None for value in values}


def _restored(project: Project, site: Site, env: Env) -> bool:
    """Whether another strategy is set later in the same code."""
    for other in site.module.calls.get("set_sharing_strategy", ()):
        if other.function == site.function and other.expr.start > site.expr.start:
            if "file_system" not in _strategy(project, other.expr, env):
                return True
    return False


def _without_it(project: Project, site: Site) -> Loader | None:
    """A loader of the same program whose spawned workers surely never run the call."""
    if not under_main_guard(site.module, site.function, site.event):
        return None
    reached = project.index.imports(site.module.path)
    for loader in project.loaders:
        if loader.path in reached and loader.workers is Workers.SOME and loader.methods <= PICKLING:
            return loader
    return None
