"""Which functions run when a piece of code runs: a walk over calls, properties and constructions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dllint.finding import Note
from dllint.model.facts import Event, Expr
from dllint.project.boundaries import Loader
from dllint.project.evaluate import Evaluator
from dllint.project.values import Env, ExtInst, Func, Inst, Klass, Method, Value

MAX_FUNCTIONS = 3000


@dataclass(frozen=True, eq=False)
class Running:
    """Code that runs, in the activation that leads there; the route leads from it back to where it began."""

    env: Env
    route: tuple[Note, ...]
    loader: Loader | None = None
    """For worker code: whose workers run it (None: those of the project's users)."""
    start: Event | None = None
    """For module-level code: the statement that leads here."""

    @property
    def path(self) -> str:
        return self.env.module.path

    @property
    def function(self) -> tuple[str, int]:
        """The function's identity: file and index (-1: the module's own code)."""
        return self.env.module.path, self.env.function

    @property
    def events(self) -> tuple[Event, ...]:
        return self.env.module.events(self.env.function)

    def note(self, at: Expr, text: str) -> Note:
        """A note on an expression of this code."""
        return Note(self.path, at.span, text)


Skips = Callable[[Running, Event], bool]


class Reach:
    """Follows calls from given code. `skips` says which events do not run (code under a guard)."""

    def __init__(self, evaluator: Evaluator, skips: Skips | None = None) -> None:
        self.evaluator = evaluator
        self.skips = skips or (lambda running, event: False)

    def walk(self, entries: Iterable[Running]) -> Iterator[Running]:
        """The entries and everything they run, nearest first, each function once per class of its receiver."""
        queue = deque(entries)
        seen: set[tuple[str, int, object]] = set()
        while queue and len(seen) < MAX_FUNCTIONS:
            running = queue.popleft()
            receiver = running.env.receiver
            key = (*running.function, receiver.klass if isinstance(receiver, Inst) else None)
            if running.env.function >= 0 and key in seen:
                continue
            seen.add(key)
            yield running
            queue += self.called(running)

    def called(self, running: Running) -> Iterator[Running]:
        """What this code runs directly."""
        for event in running.events:
            if running.start is not None and running.env.function < 0 and event is not running.start:
                continue
            if not self.skips(running, event):
                yield from self.called_by_event(running, event)

    def called_by_event(self, running: Running, event: Event) -> Iterator[Running]:
        """What one event of this code runs directly."""
        for root in (event.value, event.target):
            for expr in root.walk() if root is not None else ():
                if expr.kind == "call":
                    for value in self.evaluator.values(expr.args[0], running.env):
                        yield from self._run(value, expr, running)
                elif expr.kind == "attribute":
                    yield from self._property(expr, running)

    def _run(self, value: Value, call: Expr, running: Running) -> Iterator[Running]:
        env = running.env
        match value:
            case Func():
                receiver, skip = None, 0
                if value.facts.owner >= 0 and call.args[1:] and value.facts.parameters:
                    receiver, skip = next(iter(self.evaluator.values(call.args[1], env)), None), 1
                yield self._next(self.evaluator.activations.activation(value, call, env, receiver, skip), call, running)
            case Method(owner=owner, func=func):
                yield self._next(self.evaluator.activations.activation(func, call, env, owner), call, running)
            case Inst():
                yield from self._call_object(value, call, running)
            case Klass():
                for inner in self.evaluator.activations.init_envs(Inst(value, call, env)).values():
                    yield self._next(inner, call, running)
            case ExtInst():
                for inner_value in self.callables_in(value):
                    yield from self._run(inner_value, call, running)

    def _call_object(self, value: Inst, call: Expr, running: Running) -> Iterator[Running]:
        for name in ("__call__", "forward"):
            method = self.evaluator.classes.method(value, name)
            if method is not None:
                yield self._next(
                    self.evaluator.activations.activation(method.func, call, running.env, value), call, running
                )
                return

    def callables_in(self, made: ExtInst, depth: int = 4) -> Iterator[Value]:
        """What calling an external object (a Compose, a partial) calls in turn."""
        if depth == 0 or made.call.kind != "call":
            return
        for arg in (*made.call.args[1:], *(value for _, value in made.call.keywords)):
            for value in self.evaluator.values(arg, made.env):
                parts = (
                    (value,)
                    if isinstance(value, (Func, Method, Inst, ExtInst))
                    else self.evaluator.containers.elements(value)
                )
                for part in parts:
                    if isinstance(part, (Func, Method, Inst)):
                        yield part
                    elif isinstance(part, ExtInst):
                        yield from self.callables_in(part, depth - 1)

    def _property(self, expr: Expr, running: Running) -> Iterator[Running]:
        for base in self.evaluator.values(expr.args[0], running.env):
            method = self.evaluator.classes.method(base, expr.name) if isinstance(base, Inst) else None
            if method is not None and any(item.name == "property" for item in method.func.facts.decorators):
                yield self._next(self.evaluator.activations.activation(method.func, None, None, base), expr, running)

    def _next(self, env: Env, call: Expr, running: Running) -> Running:
        note = running.note(call, f"calls `{env.facts.name}`")
        return Running(env, (note, *running.route), running.loader, running.start)
