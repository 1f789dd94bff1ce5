"""Queues that a process fills and that the main process reads only after it has waited for the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.data.growth import Growth
from dllint.project.data.limits import Limits
from dllint.project.evaluate.abstract_values import Env, ExtInst, Func, Method, Seq, Value
from dllint.project.execution.processes import Task
from dllint.project.program.flow import LOOPS

if TYPE_CHECKING:
    from dllint.project import Project

_QUEUES = frozenset({
    "multiprocessing.Queue", "multiprocessing.JoinableQueue", "multiprocessing.queues.Queue",
    "multiprocessing.get_context().Queue", "multiprocessing.get_context().JoinableQueue",
})  # fmt: skip
_PUTS = frozenset({"put", "put_nowait"})
_GETS = frozenset({"get", "get_nowait"})
_LOOKS = frozenset({"empty", "qsize", "full", "close", "cancel_join_thread"}) | _PUTS | _GETS
_SMALL = frozenset({
    "int", "float", "bool", "len", "getpid", "time", "perf_counter", "monotonic", "sum", "str", "type", "join",
    "format", "repr", "format_exc", "item", "device_count",
})  # fmt: skip
"""Functions that return a number or a message."""
_COPIES = frozenset({"numpy.array", "numpy.asarray", "torch.tensor", "builtins.list", "builtins.tuple"})
_FEW = 5000
"""So many numbers fit into the pipe: it has 64 KiB, and a pickled one takes nine bytes."""


class Undrained(NamedTuple):
    """A `join()` that waits for a process which waits for its queue to be read."""

    task: Task
    join: Expr
    put: Expr
    put_path: str
    get: Expr
    queue: str


class Draining:
    """Answers which processes are joined too early."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.processes = project.processes
        self.limits = project.analysis(Limits)
        self.growth = project.analysis(Growth)

    def undrained(self) -> Iterator[Undrained]:
        """The joins before the first read of a queue that only the joined process and this function know."""
        for task in self.processes.tasks:
            if task.name != "Process" or task.env.function < 0:
                continue
            for queue, parameter in self._queues(task):
                put = self._filled(task, parameter)
                join = self._joined(task) if put is not None else None
                get = self._first_read(task, queue, join) if join is not None else None
                if put is not None and join is not None and get is not None:
                    yield Undrained(task, join, put[0], put[1], get, queue)

    def _queues(self, task: Task) -> Iterator[tuple[str, int]]:
        """The local names of the queues among a process's `args`, with their positions."""
        given = task.call.keyword("args") or (task.call.args[4] if len(task.call.args) > 4 else None)
        for position, arg in enumerate(given.args if given is not None and given.kind in ("tuple", "list") else ()):
            if arg.kind == "name" and arg.name in task.env.facts.bound:
                values = self.evaluator.values(arg, task.env)
                if values and all(isinstance(value, ExtInst) and value.name in _QUEUES for value in values):
                    yield arg.name, position

    def _filled(self, task: Task, position: int) -> tuple[Expr, str] | None:
        """Where the target puts something that may be large on the queue that it gets at a position."""
        for pair in task.targets:
            for value in self.evaluator.values(*pair):
                func = value.func if isinstance(value, Method) else value
                if not isinstance(func, Func):
                    continue
                parameters = func.facts.parameters[1 if isinstance(value, Method) else 0 :]
                name = parameters[position].name if position < len(parameters) else ""
                env = self.evaluator.generic(func.module, func.index)
                for event in func.facts.events:
                    for call in _calls((event,)):
                        if _is_method(call, _PUTS, name) and len(call.args) > 1 and not self._fits(call, event, env):
                            return call, func.module.path
        return None

    def _fits(self, put: Expr, event: Event, env: Env) -> bool:
        """Whether what a call puts surely fits into the pipe behind the queue: it is small, or few numbers once."""
        around = map(env.module.block, env.module.enclosing(event.block))
        return _is_small(put.args[1]) or (
            all(block.kind not in LOOPS for block in around) and self._are_few(put.args[1], env)
        )

    def _are_few(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is a list that the code fills with few numbers, or an array of one."""
        lists = [item for value in self.evaluator.values(expr, env) for item in self._copied(value)]
        return bool(lists) and all(map(self._is_short, lists))

    def _copied(self, value: Value) -> Iterable[Value]:
        if isinstance(value, ExtInst) and value.name in _COPIES and len(value.call.args) > 1:
            return self.evaluator.values(value.call.args[1], value.env)
        return (value,)

    def _is_short(self, value: Value) -> bool:
        limit = self.limits.of(value)
        if limit is None or limit > _FEW or not isinstance(value, Seq):
            return False
        added = [(part, filling.env) for filling in self.growth.fillings(value) for part in filling.what.args[1:]]
        return all(self._is_number(*pair) for pair in (*added, *((part, value.env) for part in value.expr.args)))

    def _is_number(self, expr: Expr, env: Env) -> bool:
        if _is_small(expr) or (expr.kind == "binop" and any(self._is_number(part, env) for part in expr.args)):
            return True
        values = self.evaluator.values(expr, env) if expr.kind == "name" else ()
        return bool(values) and all(isinstance(value, ExtInst) and _is_small(value.call) for value in values)

    def _joined(self, task: Task) -> Expr | None:
        """The first `join()` without a timeout on the task's process."""
        for call in _calls(task.env.facts.events):
            if call.args[0].name == "join" and call.args[0].kind == "attribute" and len(call.args) == 1:
                if not call.keywords and self._is_process(call.args[0].args[0], task):
                    return call
        return None

    def _is_process(self, expr: Expr, task: Task) -> bool:
        values = self.evaluator.values(expr, task.env)
        return any(isinstance(value, ExtInst) and value.call is task.call for value in values)

    def _first_read(self, task: Task, queue: str, join: Expr) -> Expr | None:
        """The first read of the queue, if it is after the join and no other code may read it."""
        reads = []
        for event in task.env.facts.events:
            for part in event.walk():
                if part.kind == "call" and _is_method(part, _GETS, queue):
                    reads.append(part)
            if not self._is_known_use(event, queue):
                return None
        first = min(reads, key=lambda call: call.start, default=None)
        if first is None or first.start < join.start or self._loops_back(task.env, join, first):
            return None
        return first

    def _loops_back(self, env: Env, join: Expr, read: Expr) -> bool:
        """Whether both are in one loop: what is read may come from the last round."""
        module = env.module
        around = set(module.enclosing(module.block_at(env.function, join.start)))
        both = around & set(module.enclosing(module.block_at(env.function, read.start)))
        return any(module.block(index).kind in ("for", "while") for index in both)

    def _is_known_use(self, event: Event, queue: str) -> bool:
        """Whether an event only calls methods of the queue, makes it, or sends it to processes that fill it."""
        known: set[int] = set()
        for part in event.walk():
            if part.kind == "attribute" and part.name in _LOOKS and part.args[0].name == queue:
                known.add(id(part.args[0]))
            if any(task.call is part for task in self.processes.tasks):
                known |= {id(inner) for inner in part.walk()}
        if event.kind == "assign" and event.target is not None:
            known.add(id(event.target))
        return all(id(part) in known for part in event.walk() if part.kind == "name" and part.name == queue)


def _calls(events: tuple[Event, ...]) -> Iterator[Expr]:
    for event in events:
        for part in event.walk():
            if part.kind == "call":
                yield part


def _is_method(call: Expr, names: frozenset[str], receiver: str) -> bool:
    callee = call.args[0]
    return callee.kind == "attribute" and callee.name in names and callee.args[0].name == receiver != ""


def _is_small(expr: Expr) -> bool:
    """Whether a value surely fits into the pipe behind the queue, or is a message."""
    if expr.kind in ("tuple", "list"):
        return all(_is_small(arg) for arg in expr.args)
    if expr.kind == "binop":
        return any(_is_small(arg) for arg in expr.args)
    return expr.kind in ("constant", "compare", "fstring") or (expr.kind == "call" and expr.args[0].name in _SMALL)
