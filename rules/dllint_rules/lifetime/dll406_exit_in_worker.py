"""DLL406: worker code ends its process."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Applicability, Expr, Ext, Finding, Fix, Project, Rule, Running, Severity

_EXITS = frozenset({"os._exit", "sys.exit", "builtins.exit", "builtins.quit", "os.abort"})


class ExitInWorker(Rule):
    """An exception reaches the main process with its traceback; an exit only says that a worker is gone."""

    code = "DLL406"
    name = "exit-in-worker"
    summary = "worker code exits: the main process waits, and the reason is lost"
    severity = Severity.WARNING

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for running in project.running:
            loader = running.loader
            if loader is None or loader.in_tests or "Process" in loader.boundary.base:
                continue
            for call in project.executed_calls(running):
                name = _exit(project, running, call)
                if name and (running.path, call.span) not in seen:
                    seen.add((running.path, call.span))
                    yield self._finding(project, running, call, name)

    def _finding(self, project: Project, running: Running, call: Expr, name: str) -> Finding:
        loader = running.loader
        assert loader is not None
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message=f"`{name}()` ends the worker: the main process only says `DataLoader worker (pid(s) N) exited "
            "unexpectedly` (after five seconds, if the exit status is 0); raise an exception: it reaches the main "
            "process with its traceback",
            severity=self.severity,
            certainty=project.certainty(running, call),
            outcomes=dict.fromkeys(sorted(loader.methods), "exception"),
            notes=running.route,
            anchors=((loader.path, loader.span),),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}",
            data=call,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import piece

        said = finding.data.args[1:]
        if len(said) != 1 or not (said[0].kind == "fstring" or isinstance(said[0].value, str)):
            return Fix.manual("Raise an exception instead; the exit has no message to reuse")
        snippet = f"raise RuntimeError({piece(project.source(finding.path), said[0].span)})"
        return Fix("Raise an exception with its message", (), Applicability.MANUAL, snippet=snippet)


def _exit(project: Project, running: Running, call: Expr) -> str:
    """The exit that a call is, unless it answers the user's Ctrl-C."""
    found = [value.name for value in project.values(call.args[0], running.env) if isinstance(value, Ext)]
    name = next((name for name in found if name in _EXITS), "")
    module = running.env.module
    for index in module.enclosing(module.block_at(running.env.function, call.start)) if name else ():
        block = module.block(index)
        if block.kind == "except" and block.test is not None:
            if any(part.name == "KeyboardInterrupt" for part in block.test.walk()):
                return ""
    return name.removeprefix("builtins.")
