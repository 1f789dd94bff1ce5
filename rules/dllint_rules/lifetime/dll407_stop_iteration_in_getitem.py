"""DLL407: `__getitem__` takes from an iterator that ends, and its `StopIteration` ends the epoch."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import (
    Certainty,
    Env,
    Event,
    Expr,
    Ext,
    Finding,
    Fix,
    Project,
    Rule,
    Running,
    around,
)
from dllint_rules.lifetime.analysis.endings import Endings

_ITEMS = frozenset({"__getitem__", "__getitems__", "__call__", "get", "collate_fn"})


class StopIterationInGetitem(Rule):
    """A loop treats `StopIteration` as the end of what it iterates, whatever raised it."""

    code = "DLL407"
    name = "stop-iteration-in-getitem"
    summary = "`next()` in `__getitem__` on an iterator that ends: the epoch silently stops there"

    def check(self, project: Project) -> Iterator[Finding]:
        endings = project.analysis(Endings)
        seen = set()
        for running in (*project.running, *project.users_running):
            if running.entry not in _ITEMS or running.env.facts.is_generator:
                continue
            for event in running.events:
                for call in event.walk():
                    if _takes(project, call, running.env) and not _caught(running, event):
                        if (running.path, call.span) not in seen and endings.ends(call.args[1], running.env):
                            seen.add((running.path, call.span))
                            yield self._finding(project, running, call)

    def _finding(self, project: Project, running: Running, call: Expr) -> Finding:
        loader = running.loader
        text = project.text(running.path, call.span)
        return Finding(
            code=self.code,
            path=running.path,
            span=call.span,
            message=f"`{text}` raises `StopIteration` when the iterator ends, and the loop over the "
            "loader then silently ends the epoch; read by index, or start the iterator again",
            certainty=project.certainty(running, call) if loader else Certainty.LIKELY,
            outcomes=dict.fromkeys(sorted(loader.methods), "corrupt") if loader else {},
            notes=running.route,
            anchors=((loader.path, loader.span),) if loader else (),
            key=f"{self.code}:{running.path}:{running.env.facts.qualname}",
            data=call,
        )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        taken = project.text(finding.path, finding.data.args[1].span)
        return Fix.manual(
            f"Read by index, or restart `{taken}` when it ends; dllint cannot tell which of the two is meant"
        )


def _takes(project: Project, call: Expr, env: Env) -> bool:
    """`next(x)` of something that outlives the item: an attribute or a global name."""
    if call.kind != "call" or len(call.args) != 2 or call.args[0].name != "next":
        return False
    source = call.args[1]
    outlives = source.kind == "attribute" or (source.kind == "name" and source.name not in env.facts.bound)
    written = (event.target for event in env.facts.events if event.kind == "assign" and event.target is not None)
    if not outlives or any(target.dotted == source.dotted for target in written):
        return False
    return Ext("builtins.next") in project.values(call.args[0], env)


def _caught(running: Running, event: Event) -> bool:
    return any(block.kind in ("try", "while") for _, block in around(running, event))
