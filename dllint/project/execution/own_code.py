"""The code that runs in a script's own process: the code under the main guard, and everything that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Ext, Func, Inst, Klass, Method, Value
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.execution.call_graph import MAX_FUNCTIONS, TOO_MANY_FUNCTIONS, Reach, Running
from dllint.project.execution.main_code import HOOKS, RUNS
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

_ANY_OF_MODULE = "fire.Fire"
"""Without an argument, it runs any function of the module, by its name."""

_Code = tuple[str, int, Klass | None]
"""A function, by its file and index, and the class whose object it runs on."""


class OwnCode(NamedTuple):
    """Every activation that the guarded part of a script leads to; functions that are handed over are called, too."""

    script: Module
    running: list[Running]
    functions: frozenset[tuple[str, int]]
    called: frozenset[str]
    """The last names of what is called."""

    def makes(self, made_in: Env) -> bool:
        """Whether this code makes the loader that an activation makes. A method is taken to run where one of its name
        does: objects come from registries. So does an `__init__`, unless it is known where the object is made."""
        env: Env | None = made_in
        while env is not None:
            if env.function < 0:
                return env.module is self.script
            if (env.module.path, env.function) in self.functions:
                return True
            owner = env.module.method_owner(env.function)
            known = env.facts.name == "__init__" and env.caller is not None
            if owner >= 0 and env.facts.name in self.called and not known:
                return True
            env = env.caller
        return False


class _Handing(NamedTuple):
    """A call that may hand functions over, with its event and the arguments that may be functions."""

    event: Event
    call: Expr
    functions: tuple[Expr, ...]


class OwnCodes:
    """Finds it."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.reach = Reach(evaluator)
        self._handing = OnDemand(self._find_handing)
        self._known: AtRest[Module, OwnCode] = AtRest(self.evaluator, self._find)

    def of(self, script: Module) -> OwnCode:
        """The code of one script's own process."""
        return self._known[script]

    def makes(self, script: Module, made_in: Env) -> bool:
        """Whether a script's own process makes the loader that an activation makes, in a file of its program."""
        return self.evaluator.programs.share(script, made_in.module) and self.of(script).makes(made_in)

    def _find(self, script: Module) -> OwnCode:
        running = list(self._walk(script))
        functions = frozenset(item.function for item in running)
        called = frozenset(name for name, sites in self._callers.items() if sites & functions)
        called = called | HOOKS if called & RUNS else called
        return OwnCode(script, running, functions, called)

    @cached_property
    def _callers(self) -> dict[str, frozenset[tuple[str, int]]]:
        """For the names of all methods, the functions that call something of this name."""
        methods = {item.name for module in self.evaluator.index for item in module.model.functions if item.owner >= 0}
        found: dict[str, set[tuple[str, int]]] = {}
        for module in self.evaluator.index:
            for name in module.calls.keys() & (methods | RUNS):
                found.setdefault(name, set()).update((module.path, call.function) for call in module.calls[name])
        return {name: frozenset(sites) for name, sites in found.items()}

    def _walk(self, script: Module) -> Iterator[Running]:
        env = self.evaluator.env(script, -1)
        nearest = [
            Running(env, (), start=event)
            for event in script.model.events
            if event.kind not in ("def", "class", "import") and under_main_guard(script, -1, event)
        ]
        seen: set[_Code] = set()
        while nearest:
            following: list[Running] = []
            ends = len(seen.union(map(_code, nearest))) >= MAX_FUNCTIONS
            for running in nearest:
                if running.env.function >= 0 and _code(running) in seen:
                    continue
                seen.add(_code(running))
                if ends:
                    yield msgspec.structs.replace(running, truncated=running.truncated or TOO_MANY_FUNCTIONS)
                    continue
                yield running
                following += self.reach.called(running)
                following += self._handed_over(running)
            nearest = following

    def _handed_over(self, running: Running) -> Iterator[Running]:
        """The functions that code passes to others, and those that a command line may name."""
        for handing in self._handing[running.env.module, running.env.function]:
            if running.env.function < 0 and handing.event is not running.start:
                continue
            decided = self.evaluator.conditions.decided(running.env, handing.call.start)
            if running.truncated and not decided:
                continue
            note = running.note(handing.call, "hands it over")
            handed = msgspec.structs.replace(running, route=(note, *running.route), decided=running.decided and decided)
            for value in self._functions_in(handing, running.env):
                func = value.func if isinstance(value, Method) else value
                if isinstance(func, Func):
                    owner = value.owner if isinstance(value, Method) else None
                    env = self.evaluator.activations.activation(func, None, None, owner)
                    yield msgspec.structs.replace(handed, env=env)

    def _functions_in(self, handing: _Handing, env: Env) -> Iterator[Value]:
        for part in handing.functions:
            yield from self.evaluator.values(part, env)
        if not handing.functions:
            for value in self.evaluator.values(handing.call.args[0], env):
                if isinstance(value, Ext) and value.name == _ANY_OF_MODULE:
                    yield from (Func(env.module, index) for index in _public(env.module))

    def _find_handing(self, scope: tuple[Module, int]) -> list[_Handing]:
        module, function = scope
        found = []
        for event in module.events(function):
            for call in event.walk():
                if call.kind == "call":
                    passed = (*call.args[1:], *(value for _, value in call.keywords))
                    functions = tuple(part for part in passed if part.name in self._names)
                    if functions or (len(call.args) == 1 and call.args[0].name == "Fire"):
                        found.append(_Handing(event, call, functions))
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of all functions of the project."""
        return frozenset(item.name for module in self.evaluator.index for item in module.model.functions)


def _code(running: Running) -> _Code:
    """Code that is walked once: a function, and a method once a class."""
    receiver = running.env.receiver
    return *running.function, receiver.klass if isinstance(receiver, Inst) else None


def _public(module: Module) -> list[int]:
    """The functions of a module."""
    found = (item for item in module.model.functions if item.parent < 0 and item.owner < 0)
    return [item.index for item in found if item.kind == "def" and not item.name.startswith("_")]


def events_of(running: Running) -> tuple[Event, ...]:
    """The part of a piece of code that runs: of a script's own, the statement that leads on."""
    if running.env.function >= 0:
        return running.events
    return (running.start,) if running.start is not None else ()
