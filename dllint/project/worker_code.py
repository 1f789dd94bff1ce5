"""The code that runs in workers, and why: a walk over calls from what loaders ship."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dllint.finding import Note
from dllint.knowledge import ITERABLE_DATASETS, MAP_METHODS
from dllint.model.facts import Event, Expr
from dllint.project.boundaries import Loader
from dllint.project.evaluate import Evaluator
from dllint.project.hierarchy import Answer
from dllint.project.shipped import Held
from dllint.project.values import Env, ExtInst, Func, Inst, Klass, Method, Value

MAX_FUNCTIONS = 3000
_ENTRY_HOLDERS = frozenset({"argument", "kept", "element"})


@dataclass(frozen=True, eq=False)
class Running:
    """A function in worker code, in the activation that leads there. The route leads from it to the loader."""

    func: Func
    env: Env
    route: tuple[Note, ...]
    loader: Loader | None

    @property
    def events(self) -> tuple[Event, ...]:
        return self.func.facts.events


class WorkerCode:
    """Finds what runs in workers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def of(self, held: Iterable[Held], loader: Loader | None) -> Iterator[Running]:
        """Every function that workers run for what one loader ships."""
        entries = [entry for item in held if item.holder.kind in _ENTRY_HOLDERS for entry in self._entries(item, loader)]
        yield from self._walk(entries)

    def from_function(self, running: Running) -> Iterator[Running]:
        """A function and everything it calls."""
        yield from self._walk([running])

    def _walk(self, entries: list[Running]) -> Iterator[Running]:
        queue = deque(entries)
        seen: set[tuple[str, int, object]] = set()
        while queue and len(seen) < MAX_FUNCTIONS:
            running = queue.popleft()
            receiver = running.env.receiver
            key = (running.func.module.path, running.func.index, receiver.klass if isinstance(receiver, Inst) else None)
            if key in seen:
                continue
            seen.add(key)
            yield running
            queue += self._called(running)

    def _entries(self, held: Held, loader: Loader | None) -> Iterator[Running]:
        value = held.value
        if isinstance(value, Inst):
            for method in self.entry_methods(value, held.holder.name):
                note = self._note(method.func, f"`{value.klass.facts.name}.{method.func.facts.name}` runs in the workers")
                env = self.evaluator.method_env(value, method.func.module, method.func.index)
                yield Running(method.func, env, (note, *held.route), loader)
        elif isinstance(value, Method):
            note = self._note(value.func, f"`{value.func.facts.name}` runs in the workers")
            env = self.evaluator.method_env(value.owner, value.func.module, value.func.index)
            yield Running(value.func, env, (note, *held.route), loader)
        elif isinstance(value, Func):
            note = self._note(value, f"`{value.facts.name}` runs in the workers")
            yield Running(value, self.evaluator.activation(value, None, None), (note, *held.route), loader)

    def entry_methods(self, inst: Inst, holder: str) -> Iterator[Method]:
        """The methods of a shipped object that workers call themselves."""
        names = ["__call__"] if holder != "dataset" else []
        iterable = self.evaluator.is_a(inst.klass, ITERABLE_DATASETS) is Answer.YES
        names += [] if iterable else MAP_METHODS
        if self.evaluator.is_a(inst.klass, lambda name: name.startswith("torch_geometric.")) is Answer.YES:
            names.append("get")
        if iterable or self.evaluator.method(inst, "__getitem__") is None:
            names += ["__iter__", "__next__"]
        for name in names:
            method = self.evaluator.method(inst, name)
            if method is not None:
                yield method

    def _note(self, func: Func, text: str) -> Note:
        return Note(func.module.path, func.facts.header, text)

    def _called(self, running: Running) -> Iterator[Running]:
        for event in running.events:
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
                receiver = None
                skip = 0
                if value.facts.owner >= 0 and call.args[1:]:
                    receiver, skip = next(iter(self.evaluator.values(call.args[1], env)), None), 1
                inner = self.evaluator.activation(value, call, env, receiver, skip)
                yield self._next(value, inner, call, running)
            case Method(owner=owner, func=func):
                yield self._next(func, self.evaluator.activation(func, call, env, owner), call, running)
            case Inst():
                for name in ("__call__", "forward"):
                    method = self.evaluator.method(value, name)
                    if method is not None:
                        inner = self.evaluator.activation(method.func, call, env, value)
                        yield self._next(method.func, inner, call, running)
                        break
            case Klass():
                inst = Inst(value, call, env)
                for (_, index), inner in self.evaluator.init_envs(inst).items():
                    yield self._next(Func(inner.module, index, inner.outer), inner, call, running)
            case ExtInst():
                for inner_value in self._callables_in(value):
                    yield from self._run(inner_value, call, running)

    def _callables_in(self, made: ExtInst, depth: int = 4) -> Iterator[Value]:
        """What calling an external object (a Compose, a partial) calls in turn."""
        if depth == 0 or made.call.kind != "call":
            return
        args = [*made.call.args[1:], *(value for _, value in made.call.keywords)]
        for arg in args:
            for value in self.evaluator.values(arg, made.env):
                parts = (value,) if isinstance(value, (Func, Method, Inst, ExtInst)) else self.evaluator.elements(value)
                for part in parts:
                    if isinstance(part, (Func, Method, Inst)):
                        yield part
                    elif isinstance(part, ExtInst):
                        yield from self._callables_in(part, depth - 1)

    def _property(self, expr: Expr, running: Running) -> Iterator[Running]:
        for base in self.evaluator.values(expr.args[0], running.env):
            method = self.evaluator.method(base, expr.name) if isinstance(base, Inst) else None
            if method is not None and any(item.name == "property" for item in method.func.facts.decorators):
                inner = self.evaluator.activation(method.func, None, None, base)
                yield self._next(method.func, inner, expr, running)

    def _next(self, func: Func, env: Env, call: Expr, running: Running) -> Running:
        note = Note(running.func.module.path, call.span, f"calls `{func.facts.name}`")
        return Running(func, env, (note, *running.route), running.loader)
