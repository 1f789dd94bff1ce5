"""DLL501: the sharing strategy `file_system`, which leaves files behind and which spawned workers may not have."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    PICKLING,
    Certainty,
    Const,
    Env,
    Expr,
    Ext,
    Finding,
    Fix,
    Loader,
    Module,
    Note,
    Project,
    Rule,
    Severity,
    Site,
    Workers,
    under_main_guard,
)

_SETTER = "torch.multiprocessing.set_sharing_strategy"
_LOADER = "torch.utils.data.DataLoader"


class FileSystemSharing(Rule):
    """Tensors travel by the name of a file in shared memory, not by an open descriptor that the kernel counts."""

    code = "DLL501"
    name = "file-system-sharing"
    summary = "sharing strategy `file_system` leaks shared memory when processes are killed"
    severity = Severity.INFO

    def check(self, project: Project) -> Iterator[Finding]:
        for site in project.index.calls_named(("set_sharing_strategy",)):
            env = project.evaluator.generic(site.module, site.function)
            if _is_run_by_tests(site.module) or _strategy(project, site.expr, env) != {"file_system"}:
                continue
            loaders = [] if _restored(project, site, env) else _with_workers(project, site.module.path)
            if loaders:
                yield self._finding(project, site, loaders)

    def _finding(self, project: Project, site: Site, loaders: list[Loader]) -> Finding:
        missed = _without_it(project, site)
        leak = (
            "when a container is killed for memory, the files of its batches stay in /dev/shm; it works around "
            '"too many open files", for which `.clone()` of what is kept, or a higher `ulimit -n`, is better'
        )
        text = "spawned workers do not run code under the guard, and still share by descriptors; set it at module level"
        return Finding(
            code=self.code,
            path=site.module.path,
            span=site.expr.span,
            message=f"`file_system`: {leak if missed is None else text}",
            severity=self.severity if missed is None else Severity.WARNING,
            certainty=_certainty(project, site, loaders),
            notes=()
            if missed is None
            else (Note(missed.path, missed.span, f"`{missed.name}(...)` starts workers here"),),
            key=f"{self.code}:{site.module.path}",
            data=(site, missed is not None),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        site, guarded = finding.data
        if not guarded:
            return Fix.manual("Remove it where descriptors are enough; how many batches are kept open is not seen")
        from dllint import above_guard

        snippet = above_guard(project.source(finding.path), site.expr.start)
        return Fix.manual("Set it above the main guard, where every worker runs it, too", snippet)


def _with_workers(project: Project, path: str) -> list[Loader]:
    """The loaders that may have workers, in programs that a file is part of: of these the files of batches are.

    What processes of the program's own share is their business: it may be kept on purpose.
    """
    return [
        loader
        for loader in project.loaders
        if loader.workers is not Workers.NONE
        and loader.boundary.base == _LOADER
        and (loader.path == path or not loader.in_tests)
        and project.index.together(path, loader.path)
    ]


def _is_run_by_tests(module: Module) -> bool:
    """Whether a file is a test's, and no script that is kept among the tests, such as a benchmark."""
    return module.is_test and not any(under_main_guard(module, -1, event) for event in module.events(-1))


def _certainty(project: Project, site: Site, loaders: list[Loader]) -> Certainty:
    """Certain where workers surely collate batches as torch does: others have many tensors in a batch, or none."""
    torchs = project.boundaries.known[_LOADER]
    usual = (
        loader.certainty is Certainty.CERTAIN
        and loader.boundary == torchs
        and loader.instance is None
        and not project.boundaries.argument(loader, "collate_fn")[0]
        for loader in loaders
    )
    return Certainty.CERTAIN if project.surely_runs(site) and any(usual) else Certainty.LIKELY


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
