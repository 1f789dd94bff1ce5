"""The code that runs in a script's own process: what stands under the main guard, and all that this leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.boundaries import Loader
from dllint.project.guards import under_main_guard
from dllint.project.main_code import HOOKS, RUNS
from dllint.project.module import Module
from dllint.project.reach import MAX_FUNCTIONS, Reach, Running
from dllint.project.values import Env, Ext, Func, Inst, Method, Value

_COMMAND_LINES = frozenset({"fire.Fire"})
"""Without an argument, these run any function of the module, by its name."""


class OwnCode:
    """Every activation that the guarded part of a script leads to; functions that are handed over are called, too."""

    def __init__(self, reach: Reach, script: Module) -> None:
        self.evaluator = reach.evaluator
        self.script = script
        self._reach = reach
        self.running = list(self._walk())
        self._functions = {item.function for item in self.running}
        receivers = (item.env.receiver for item in self.running)
        self._classes = {
            klass for item in receivers if isinstance(item, Inst) for klass in self.evaluator.classes.mro(item.klass)
        }
        self._called = {call.args[0].name for item in self.running for call in _calls(item)}
        if self._called & RUNS:
            self._called |= HOOKS

    def makes(self, loader: Loader) -> bool:
        """Whether this code makes a loader. A method is taken to run where one of its name does: objects come from
        registries."""
        env: Env | None = loader.env
        while env is not None:
            if env.function < 0:
                return env.module is self.script
            if (env.module.path, env.function) in self._functions:
                return True
            owner = env.module.method_owner(env.function)
            if owner >= 0 and (env.facts.name in self._called or self._is_made(env.module, owner)):
                return True
            env = env.caller
        return False

    def _is_made(self, module: Module, klass: int) -> bool:
        return self.evaluator.klass(module, klass) in self._classes

    def _walk(self) -> Iterator[Running]:
        env = self.evaluator.env(self.script, -1)
        queue = deque(
            Running(env, (), start=event)
            for event in self.script.model.events
            if event.kind not in ("def", "class", "import") and under_main_guard(self.script, -1, event)
        )
        seen: set[tuple[str, int, object]] = set()
        while queue and len(seen) < MAX_FUNCTIONS:
            running = queue.popleft()
            receiver = running.env.receiver
            key = (*running.function, receiver.klass if isinstance(receiver, Inst) else None)
            if running.env.function < 0 or key not in seen:
                seen.add(key)
                yield running
                queue += self._reach.called(running)
                queue += self._handed_over(running)

    def _handed_over(self, running: Running) -> Iterator[Running]:
        """The functions that code passes to others, and those that a command line may name."""
        for call in _calls(running):
            note = running.note(call, "hands it over")
            for value in self._passed(call, running.env):
                func = value.func if isinstance(value, Method) else value
                if isinstance(func, Func):
                    owner = value.owner if isinstance(value, Method) else None
                    env = self.evaluator.activations.activation(func, None, None, owner)
                    yield Running(env, (note, *running.route), start=running.start)

    def _passed(self, call: Expr, env: Env) -> Iterator[Value]:
        for part in (*call.args[1:], *(value for _, value in call.keywords)):
            if part.kind in ("name", "attribute"):
                yield from self.evaluator.values(part, env)
        if len(call.args) == 1 and call.args[0].name == "Fire":
            for value in self.evaluator.values(call.args[0], env):
                if isinstance(value, Ext) and value.name in _COMMAND_LINES:
                    yield from (Func(env.module, index) for index in _public(env.module))


def _public(module: Module) -> list[int]:
    """The functions of a module."""
    found = (item for item in module.model.functions if item.parent < 0 and item.owner < 0)
    return [item.index for item in found if item.kind == "def" and not item.name.startswith("_")]


def events_of(running: Running) -> tuple[Event, ...]:
    """What runs of a piece of code: of a script's own, the statement that leads on."""
    if running.env.function >= 0:
        return running.events
    return (running.start,) if running.start is not None else ()


def _calls(running: Running) -> Iterator[Expr]:
    for event in events_of(running):
        yield from (part for part in event.walk() if part.kind == "call")
