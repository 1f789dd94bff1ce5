"""DLL701: a request that worker code makes may wait forever."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    Applicability,
    Certainty,
    Edit,
    Expr,
    Ext,
    Finding,
    Fix,
    Project,
    Rule,
    Running,
    Severity,
    Span,
    Workers,
)

REQUESTS = frozenset(f"requests.{name}" for name in ("get", "post", "put", "patch", "delete", "head", "request"))
SECONDS = 60


class RequestWithoutTimeout(Rule):
    """`requests` waits forever unless it is told otherwise, and with it the worker, the loader and the training."""

    code = "DLL701"
    name = "request-without-timeout"
    summary = "HTTP request in worker code has no timeout"
    severity = Severity.WARNING
    fixable = "sometimes"

    def check(self, project: Project) -> Iterator[Finding]:
        seen = set()
        for running in project.running:
            loader = running.loader
            if loader is None or loader.in_tests or loader.workers is Workers.NONE:
                continue
            for call in project.executed_calls(running):
                if (running.path, call.span) not in seen and _is_endless(project, running, call):
                    seen.add((running.path, call.span))
                    yield self._finding(running, call)

    def _finding(self, running: Running, call: Expr) -> Finding:
        assert running.loader is not None
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message="request without a timeout in worker code: a server that does not answer stops the training "
            f"without a word; pass `timeout={SECONDS}`",
            severity=self.severity,
            certainty=Certainty.CERTAIN if running.loader.workers is Workers.SOME else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(running.loader.methods), "hang"),
            notes=running.route,
            anchors=((running.loader.path, running.loader.span),),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}",
            data=_last_argument(call),
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        end = finding.data.end
        edit = Edit(finding.path, Span(end, end), f", timeout={SECONDS}")
        return Fix(f"Wait at most {SECONDS} seconds for an answer", (edit,), Applicability.UNSAFE)


def _is_endless(project: Project, running: Running, call: Expr) -> bool:
    """Whether a call is a request that surely gets no timeout: nothing is unpacked that might hold one."""
    callees = project.values(call.args[0], running.env)
    if len(call.args) < 2 or not all(isinstance(callee, Ext) and callee.name in REQUESTS for callee in callees):
        return False
    unpacked = any(argument.kind in ("star", "starred") for argument in call.args)
    return not unpacked and all(name not in ("timeout", "**", "") for name, _ in call.keywords)


def _last_argument(call: Expr) -> Span:
    """The span of the argument that is written last."""
    return max(argument.span for argument in (*call.args[1:], *(value for _, value in call.keywords)))
