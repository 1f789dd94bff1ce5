"""Where code joins a group of processes, for which it waits for all others: no spawned worker may do it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dllint import Expr, Ext, Note, Project, Running
from dllint_rules.start.worker_view import events_of

_JOINING = {
    *("torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group"),
    *("torch.distributed.rpc.init_rpc", "deepspeed.init_distributed", "colossalai.launch_from_torch"),
    *("horovod.torch.init", "horovod.init"),
}
_JOINING_NAMES = frozenset(name.rpartition(".")[2] for name in _JOINING)


def joining(project: Project, entries: Iterable[Running]) -> Iterator[tuple[Running, Expr]]:
    """The calls among running code that join a group of processes."""
    for running in project.main_code.reach.walk(entries):
        for event in events_of(running.env.module, running.env.function, running.start):
            for expr in event.walk():
                if expr.kind == "call" and _joins(project, running, expr):
                    yield running, expr


def joins_above(project: Project, path: str, offset: int, text: str) -> tuple[Note, ...]:
    """The first statement of a script, above an offset, that joins a process group on import; a note with a text."""
    entries = project.main_code.entries(project.index.modules[path])
    above = (entry for entry in entries if entry.start is not None and entry.start.start < offset)
    for running, call in joining(project, above):
        span = running.route[-1].span if running.route else call.span
        return (Note(path, span, text),)
    return ()


def _joins(project: Project, running: Running, call: Expr) -> bool:
    if call.args[0].name not in _JOINING_NAMES or not project.evaluator.conditions.may_run(running.env, call.start):
        return False
    return any(isinstance(value, Ext) and value.name in _JOINING for value in project.values(call.args[0], running.env))
