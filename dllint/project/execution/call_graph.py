"""Which functions run when a piece of code runs: a walk over calls, properties and constructions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import msgspec

from dllint.finding import Certainty, Note
from dllint.knowledge import CALLERS, COMMAND_LINES
from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Ext, ExtInst, Func, Inst, Klass, Method, Value, Values
from dllint.project.evaluate.calls import takes_object
from dllint.project.evaluate.contexts import too_many_calls
from dllint.project.evaluate.shapes import unique
from dllint.project.evaluate.truncated import Truncated
from dllint.project.execution.generators import Generators
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Module

MAX_FUNCTIONS = 3000
"""Functions that are followed from where a walk begins; those as near as the last of them, too."""
TOO_MANY_FUNCTIONS = Truncated(f"what it calls is not followed, as the walk has come to {MAX_FUNCTIONS} functions")


class Running(msgspec.Struct, frozen=True, eq=False):
    """Code that runs, in the activation that leads there; the route leads from it back to where it began."""

    env: Env
    route: tuple[Note, ...]
    loader: Loader | None = None
    """For worker code: whose workers run it (None: those of the project's users)."""
    start: Event | None = None
    """For module-level code: the statement that leads here."""
    entry: str = ""
    """For worker code: the method that the workers call, or the loader's argument: `__getitem__`, `worker_init_fn`."""
    decided: bool = True
    """Whether every test on the way from where it began is known to let it run."""
    truncated: Truncated | None = None
    """Why callers on the way were forgotten, so that it may be given what others give, or why it isn't followed."""

    @property
    def certainty(self) -> Certainty:
        """How sure it is that it runs, in workers of a loader if there is one."""
        surely = self.loader is None or self.loader.certainty is Certainty.CERTAIN
        return Certainty.CERTAIN if surely and self.is_sure else Certainty.LIKELY

    @property
    def is_sure(self) -> bool:
        """Whether it surely runs, where that is which it began with."""
        return self.decided and not self.truncated

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


class Edge(NamedTuple):
    """A call in running code: its event, the activation that it creates, the call."""

    event: Event
    env: Env
    at: Expr
    only: bool = True
    """Whether nothing else may be called instead."""
    truncated: Truncated | None = None
    """Why the activation has forgotten the call that made it."""


Skips = Callable[[Running, Event], bool]
More = Callable[[Env], Iterable[Edge]]
_Code = tuple[str, int, Value | None]


class Reach:
    """Follows calls from given code. `skips` says which events do not run (code under a guard).

    With `items`, what is looped over and indexed counts too: a dataset that wraps another one runs that one's code.
    `more` finds what else an activation runs.
    """

    def __init__(
        self, evaluator: Evaluator, skips: Skips | None = None, items: bool = False, more: More | None = None
    ) -> None:
        self.evaluator = evaluator
        self._items = items
        self._more = more or (lambda env: ())
        self._generators = Generators(evaluator)
        self.skips = skips or (lambda running, event: False)
        self._edges: dict[Env, tuple[Edge, ...]] = {}
        self._parts: dict[tuple[Module, int], list[tuple[Event, list[Expr]]]] = {}
        self._inside: dict[tuple[ExtInst, int], Values] = {}

    def walk(self, entries: Iterable[Running]) -> Iterator[Running]:
        """The entries and everything they run: an entry once an object, what it runs once a class.

        What surely runs comes first, and of that the nearest: it tells how sure it is that code runs. A stream that
        goes over another one of its class runs once per object: each has a source of its own. A walk that comes to
        MAX_FUNCTIONS ends with all that are equally near: which of them come first decides nothing.
        """
        nearest = [(running, _code(running.env, of_object=True)) for running in entries]
        doubtful: list[tuple[Running, _Code]] = []
        surely = True
        seen: set[_Code] = set()
        while nearest or doubtful:
            if not nearest:
                nearest, doubtful, surely = doubtful, [], False
            following: list[tuple[Running, _Code]] = []
            ends = len(seen.union(code for _, code in nearest)) >= MAX_FUNCTIONS
            for running, code in nearest:
                if running.env.function >= 0 and code in seen:
                    continue
                if surely and not running.is_sure:
                    doubtful.append((running, code))
                    continue
                seen.add(code)
                if ends:
                    yield msgspec.structs.replace(running, truncated=running.truncated or TOO_MANY_FUNCTIONS)
                    continue
                yield running
                for edge in self.edges(running.env):
                    code = _code(edge.env, _goes_on(running.env, edge.env))
                    called = self.entered(running, edge) if code not in seen else None
                    if called is not None:
                        following.append((called, code))
            nearest = following

    def called(self, running: Running) -> Iterator[Running]:
        """The code that this code runs directly."""
        found = (self.entered(running, edge) for edge in self.edges(running.env))
        return (called for called in found if called is not None)

    def entered(self, running: Running, edge: Edge) -> Running | None:
        """What an edge runs, if it does where this code runs."""
        if running.start is not None and running.env.function < 0 and edge.event is not running.start:
            return None
        if self.skips(running, edge.event):
            return None
        decided = edge.only and self.evaluator.conditions.decided(running.env, edge.at.start)
        if running.truncated and not decided:
            return None
        note = running.note(edge.at, f"calls `{edge.env.facts.name}`")
        return Running(
            edge.env, (note, *running.route), running.loader, running.start, running.entry,
            running.decided and decided, running.truncated or edge.truncated,
        )  # fmt: skip

    def edges(self, env: Env) -> tuple[Edge, ...]:
        """The calls of an activation; computed once, for walks from many places meet in the same code."""
        return self.evaluator.ask(self._edges, env, (), self._find_edges, env)

    def _find_edges(self, env: Env) -> tuple[Edge, ...]:
        asked = self._asked(env.module, env.function)
        called = (edge for event, parts in asked for edge in self._called_by(event, parts, env))
        return (*called, *self._resumed(env), *self._taken_from(env), *self._more(env))

    def _called_by(self, event: Event, parts: list[Expr], env: Env) -> list[Edge]:
        """The calls of an event, if it may run: asked last, for most events call nothing of the project's."""
        found = [
            Edge(event, called, expr, only, self._forgotten(expr, env, called))
            for expr in parts
            for called, only in dict.fromkeys(self.run_by(expr, env))
            if not self._generators.is_kept(event, expr, called)
        ]
        return found if found and self.evaluator.conditions.may_run(env, event.start) else []

    def _forgotten(self, call: Expr, caller: Env, called: Env) -> Truncated | None:
        """Why the activation that a call creates has forgotten that call."""
        if call.kind != "call" or called.call is not None:
            return None
        if (called.module.path, called.function) in caller.within:
            return Truncated(f"`{called.facts.name}` leads to itself, so its calls are not told apart")
        return too_many_calls(called.facts.name) if self.evaluator.activations.forgets_calls(called) else None

    def _asked(self, module: Module, function: int) -> list[tuple[Event, list[Expr]]]:
        """The events of a function with their calls and what may be properties: the same in every activation."""
        key = module, function
        known = self._parts.get(key)
        if known is None:
            known = self._parts[key] = []
            for event in module.events(function):
                parts = [part for part in event.walk() if self._may_call(part)]
                if parts:
                    known.append((event, parts))
        return known

    def _may_call(self, part: Expr) -> bool:
        return part.kind == "call" or (part.kind == "attribute" and part.name in self._properties)

    def run_by(self, expr: Expr, env: Env) -> Iterator[tuple[Env, bool]]:
        """The activations that a call creates, and whether it may create no others."""
        if expr.kind == "call":
            callees = self.evaluator.calls.callees(expr, env)
            for value in callees:
                only = len(callees) < 2 and len(self._on(value, expr, env)) < 2
                yield from ((called, only) for called in self._run(value, expr, env))
                if isinstance(value, Ext) and value.name in COMMAND_LINES:
                    yield from ((called, only) for called in self._run_given(0, expr, env))
                elif isinstance(value, Ext) and value.name in CALLERS:  # perhaps never, as there may be no item
                    yield from ((called, False) for called in self._run_given(CALLERS[value.name], expr, env))
        elif expr.kind == "attribute":
            yield from ((called, True) for called in self._property(expr, env))

    def _resumed(self, env: Env) -> Iterator[Edge]:
        """The code of the kept generators that an activation goes over."""
        for event, at, made in self._generators.resumed(env):
            for called, only in self.run_by(made.call, made.env):
                yield Edge(event, called, at, only, self._forgotten(made.call, made.env, called))

    def _taken_from(self, env: Env) -> Iterator[Edge]:
        """The `__iter__` of what a loop goes over, and the `__getitem__` of what is indexed, where objects keep it."""
        for event in env.module.events(env.function) if self._items else ():
            if not self.evaluator.conditions.may_run(env, event.start):
                continue
            if event.kind == "for" and event.value is not None and event.value.kind in ("name", "attribute"):
                yield from self._special(event, event.value, "__iter__", env)
            for expr in event.walk():
                if expr.kind == "subscript" and expr.args[0].kind == "attribute":
                    yield from self._special(event, expr.args[0], "__getitem__", env)
                elif expr.kind == "call" and expr.args[0].dotted == "iter" and len(expr.args) == 2:
                    yield from self._special(event, expr.args[1], "__iter__", env)

    def _special(self, event: Event, expr: Expr, name: str, env: Env) -> Iterator[Edge]:
        for value in self.evaluator.values(expr, env):
            method = self.evaluator.classes.method(value, name) if isinstance(value, Inst) else None
            if method is not None:
                yield Edge(event, self.evaluator.activations.activation(method.func, None, None, value), expr)

    def _run(self, value: Value, call: Expr, env: Env) -> Iterator[Env]:
        activations = self.evaluator.activations
        match value:
            case Func():
                for receiver in self._on(value, call, env):
                    yield activations.activation(value, call, env, receiver, int(takes_object(value)))
            case Method(owner=owner, func=func):
                yield activations.activation(func, call, env, owner)
            case Inst():
                method = self.evaluator.classes.method(value, "__call__") or self.evaluator.classes.method(
                    value, "forward"
                )
                if method is not None:
                    yield activations.activation(method.func, call, env, value)
            case Klass():
                yield from activations.init_envs(Inst(value, call, env)).values()
            case ExtInst():
                for inner in self.callables_in(value):
                    yield from self._run(inner, call, env)

    def _on(self, value: Value, call: Expr, env: Env) -> tuple[Value | None, ...]:
        """The objects on which a call runs a function."""
        return self.evaluator.calls.receivers(value, call, env) if isinstance(value, Func) else (None,)

    def _run_given(self, at: int | str, call: Expr, env: Env) -> Iterator[Env]:
        """What a library's function calls of its arguments: the one with a name, or at a place."""
        given = call.keyword(at) if isinstance(at, str) else next(iter(call.args[at + 1 : at + 2]), None)
        for called in self.evaluator.values(given, env) if given is not None else ():
            for part in self.callables_in(called) if isinstance(called, ExtInst) else (called,):
                made = self.entered_by(part)
                yield from (made,) if made is not None else ()

    def entered_by(self, value: Value) -> Env | None:
        """The activation of a function, a method or a callable object that a library calls."""
        method = self.evaluator.classes.method(value, "__call__") if isinstance(value, Inst) else value
        func, owner = (method.func, method.owner) if isinstance(method, Method) else (method, None)
        return self.evaluator.activations.activation(func, None, None, owner) if isinstance(func, Func) else None

    def callables_in(self, made: ExtInst, depth: int = 4) -> Values:
        """The functions that calling an external object (a Compose, a partial) calls in turn."""
        return self.evaluator.ask(self._inside, (made, depth), (), self._find_callables, made, depth)

    def _find_callables(self, made: ExtInst, depth: int) -> Values:
        return unique(self._callables_in(made, depth))

    def _callables_in(self, made: ExtInst, depth: int) -> Iterator[Value]:
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

    def _property(self, expr: Expr, env: Env) -> Iterator[Env]:
        for base in self.evaluator.values(expr.args[0], env):
            method = self.evaluator.classes.method(base, expr.name) if isinstance(base, Inst) else None
            if method is not None and any(item.name == "property" for item in method.func.facts.decorators):
                yield self.evaluator.activations.activation(method.func, None, None, base)

    @cached_property
    def _properties(self) -> frozenset[str]:
        """The names of all properties of the project."""
        return frozenset(
            function.name
            for module in self.evaluator.index
            for function in module.model.functions
            if any(item.name == "property" for item in function.decorators)
        )


def _code(env: Env, of_object: bool = False) -> _Code:
    """What an activation runs: a function, on an object of a class, or on this very object."""
    receiver = env.receiver
    own = receiver.klass if isinstance(receiver, Inst) else None
    return env.module.path, env.function, receiver if of_object else own


def _goes_on(env: Env, called: Env) -> bool:
    """Whether a stream goes over another one of its class."""
    same = called.function == env.function and called.module is env.module
    return same and called.function >= 0 and called.facts.name == "__iter__"


def calls_of(event: Event) -> Iterator[Expr]:
    """Every call in an event."""
    for root in (event.value, event.target):
        for expr in root.walk() if root is not None else ():
            if expr.kind == "call":
                yield expr
