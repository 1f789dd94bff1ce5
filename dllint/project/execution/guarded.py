"""Names that only the main process has: spawned workers import the script, skip its guarded part and call nothing.

These are names that the guarded part binds, and those that functions set under `global`: functions that start workers,
or that calls of such a function lead to.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import NamedTuple

from dllint.finding import Note
from dllint.model.facts import Event, Expr, Function
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import UNKNOWN, Env, Ext, ExtInst, Func, Inst, Klass, Method, Mod, Value
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.execution.call_graph import Running
from dllint.project.execution.own_code import OwnCodes
from dllint.project.program.events import event_names
from dllint.project.program.guards import only_in_main, under_main_guard
from dllint.project.program.handlers import End, end_of_error
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand
from dllint.source import Span

_BUILT_IN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__spec__", "__package__", "__builtins__"}
_NEEDING = frozenset(
    {"len", "iter", "next", "enumerate", "sorted", "reversed", "list", "tuple", "set", "sum", "min", "max"}
)
"""Functions that raise if they are given None alone."""
_DYNAMIC = frozenset({"globals", "exec"})
_OF_OBJECTS = frozenset({"vars", "setattr"})
"""Functions that reach the names of the object that they are given; without one, `vars()` reaches those around it."""
_MODULES = ("sys.modules", "importlib.", "builtins.__import__", "inspect.getmodule")
"""What gives a module by its name; not `__main__`, as no function of a spawned script reads its names there."""
_NOT_READ: tuple[None, str, End] = (None, "", "handled")
_AMISS: tuple[End, ...] = ("raised", "reported")


class Guarded(NamedTuple):
    """A name that is bound under the main guard only, where it is bound, and where workers read it."""

    name: str
    kind: str
    """class, function or name."""
    module: Module
    span: Span
    notes: tuple[Note, ...]
    read: bool = False
    """Code reads it; else pickle looks it up."""
    decided: bool = True
    """Whether it is surely read, or sent."""
    setter: str = ""
    """The function that sets it, where a function does that also starts the workers."""
    error: str = ""
    """What `None` raises where it is read, if importing the module leaves the name `None`."""
    reported: bool = False
    """A handler around the read reports the error, and the worker goes on."""


class GuardedNames:
    """Answers which of a script's names spawned processes do not have."""

    def __init__(
        self, evaluator: Evaluator, own_codes: OwnCodes, in_children: Callable[[], frozenset[tuple[str, int]]]
    ) -> None:
        self.evaluator = evaluator
        self._own_codes = own_codes
        self._in_children = in_children
        self._on_import = AtRest(self.evaluator, self._run_on_import)
        self._binding = OnDemand(_may_bind)
        self._known: dict[tuple[str, str], Event | None] = {}
        self._elsewhere: AtRest[tuple[Module, str], bool] = AtRest(self.evaluator, self._find_set_elsewhere)
        self._dynamic = AtRest(self.evaluator, self._is_dynamic)
        self._leading = AtRest(self.evaluator, self._find_leading)

    def defined(self, value: Value, start: Env | None = None) -> Guarded | None:
        """The class or function that a shipped value is pickled by, where only the main process has it.

        `start`: the activation that starts the workers.
        """
        if isinstance(value, (Inst, Method)):
            value = value.klass if isinstance(value, Inst) else value.func
        if not isinstance(value, (Func, Klass)) or value.facts.owner >= 0:
            return None
        parent = value.module.function_at(value.facts.parent)
        if parent is not None and value.facts.name not in parent.globals:
            return None
        if isinstance(value, Func) and value.facts.kind == "lambda":
            return None
        kind, name = "class" if isinstance(value, Klass) else "function", value.facts.name
        setter = self._setter(value.module, name, start)
        missing = setter is not None or self.missing(value.module, name) is not None
        if not missing or not self._is_bound(value):
            return None
        by = setter[0].qualname if setter is not None else ""
        return Guarded(name, kind, value.module, value.facts.header, (), setter=by)

    def _is_bound(self, value: Func | Klass) -> bool:
        """Whether one of the bindings of its name is its own definition."""
        module, name = value.module, value.facts.name
        kind = "class" if isinstance(value, Klass) else "def"
        events = [item.event for item in module.bindings[-1, -1].get(name, ())]
        events += [event for _, event in module.writers_of_globals.get(name, [])]
        return any(event is not None and event.kind == kind and event.ref == value.index for event in events)

    def read_by(self, running: Running, start: Env | None = None) -> Iterator[Guarded]:
        """The names that worker code reads and that only the main process has; `start` as in `defined`."""
        module = running.env.module
        if running.env.function < 0 or module.notebook or not (self._binding[module] or module.writers_of_globals):
            return  # what a notebook defines, workers do not even find
        facts = running.env.facts
        wanted = facts.loads - facts.bound - _BUILT_IN
        parent = facts.parent
        while parent >= 0:
            wanted = wanted - module.model.functions[parent].bound
            parent = module.model.functions[parent].parent
        for name in sorted(wanted):
            left = _is_left_none(module, name)
            setter = self._setter(module, name, start, left)
            event = setter[1] if setter is not None else self.missing(module, name)
            at, error, end = self._read(running, name, left) if event is not None else _NOT_READ
            if event is not None and at is not None:
                span = event.target.span if event.target is not None else Span(event.start, event.end)
                kinds = {"class": "class", "def": "function"}
                note = running.note(at, f"reads `{name}`")
                surely = running.decided and self.evaluator.conditions.decided(running.env, at.start)
                kind, route = kinds.get(event.kind, "name"), (note, *running.route)
                by = setter[0].qualname if setter is not None else ""
                surely = surely and not running.truncated
                yield Guarded(name, kind, module, span, route, True, surely, by, error, end == "reported")

    def _read(self, running: Running, name: str, left: bool) -> tuple[Expr | None, str, End]:
        """Where code reads a name, what that raises if importing the module has `left` it None, and what comes of it.

        Where a handler deals with the error, nothing is amiss.
        """
        module, function = running.env.module, running.env.function
        live = [event for event in running.events if self._is_live(running, event)]
        if left and _asks_for_none(live, name):
            return _NOT_READ
        for wanted in _AMISS:
            met = [event for event in live if end_of_error(module, function, event) == wanted]
            at, error = _failing_with_none(met, name) if left else (_first_read(met, name), "")
            if at is not None:
                return at, error, wanted
        return _NOT_READ

    def _is_live(self, running: Running, event: Event) -> bool:
        """Whether an event may run in workers."""
        if only_in_main(running.env.module, running.env.function, event):
            return False
        return self.evaluator.conditions.may_run(running.env, event.start)

    def _setter(
        self, module: Module, name: str, start: Env | None, left: bool = False
    ) -> tuple[Function, Event] | None:
        """The function that sets a name for workers which importing the module leaves unset.

        It starts the workers itself, or calls of a function that does lead to it. `left`: importing the module leaves
        the name `None`.
        """
        if not left and module.bindings[-1, -1].get(name):
            return None
        writers = [item for item in module.writers_of_globals.get(name, ()) if not _sets_none(item[1])]
        around = set(_functions_around(start)) if writers else set()
        own = next((item for item in writers if (module.path, item[0]) in around), None)
        own = own or next((item for item in writers if self._is_led_to(around, module, item[0])), None)
        if own is None or self._is_set_elsewhere(module, name):
            return None
        elsewhere = self._on_import[module] | self._in_children()
        if any((module.path, function) in elsewhere for function, _ in writers):
            return None
        return module.model.functions[own[0]], own[1]

    def _is_led_to(self, functions: set[tuple[str, int]], module: Module, function: int) -> bool:
        """Whether the calls of one of some functions lead to a function that no import runs."""
        if not functions or functions.isdisjoint(self._leading[module, function]):
            return False
        importers = self.evaluator.index.importers(module.path)
        modules = (self.evaluator.index.modules[path] for path in importers)
        return not any((module.path, function) in self._on_import[importer] for importer in modules)

    def _find_leading(self, called: tuple[Module, int]) -> frozenset[tuple[str, int]]:
        """The functions whose calls lead to one, and the scripts (-1) whose guarded parts do."""
        found: set[tuple[str, int]] = set()
        following = [called]
        while following:
            for site, _ in self.evaluator.call_sites.callers(*following.pop()):
                caller = site.module.path, site.function
                if (site.function < 0 and not under_main_guard(site.module, -1, site.event)) or caller in found:
                    continue
                found.add(caller)
                if site.function >= 0:
                    following.append((site.module, site.function))
        return frozenset(found)

    def _is_set_elsewhere(self, module: Module, name: str) -> bool:
        """Whether code sets a name of a module as its attribute, or a star import or names that are computed may."""
        return self._dynamic[module] or self._may_be_starred(module, name) or self._elsewhere[module, name]

    def _may_be_starred(self, module: Module, name: str) -> bool:
        modules = self.evaluator.names.starred(module) if module.star_imports else ()
        return modules is None or any(
            self._dynamic[inner] or name in inner.bindings[-1, -1] or name in inner.writers_of_globals
            for inner in modules
        )

    def _find_set_elsewhere(self, question: tuple[Module, str]) -> bool:
        module, name = question
        writes = self.evaluator.index.outside_writes.get(name, ())
        return any(self._may_be(module, write.target.args[0], other, write.function) for other, write in writes)

    def _may_be(self, module: Module, expr: Expr, place: Module, function: int) -> bool:
        """Whether what code names is, as far as is known, a module of its program, and may be this one."""
        if not self.evaluator.programs.share(place, module):
            return False
        values = self.evaluator.values(expr, self.evaluator.generic(place, function))
        return any(_may_be_module(value, module) for value in values)

    def _is_dynamic(self, module: Module) -> bool:
        """Whether not all names of a file are seen: code goes through its dictionary."""
        if _DYNAMIC & module.calls.keys():
            return True
        given = ((site, site.expr.args[1:2]) for name in _OF_OBJECTS for site in module.calls.get(name, ()))
        return any(not arg or self._may_be(module, arg[0], module, site.function) for site, arg in given)

    def missing(self, module: Module, name: str) -> Event | None:
        """The first binding of a module's name when only the script's own process executes any; else None."""
        if not self._binding[module]:
            return None
        key = (module.path, name)
        return self.evaluator.kept(self._known, key, self._first_guarded, module, name)

    def may_be_known_to(self, path: str) -> bool:
        """Whether a script that imports a file, or is that file, may have names of this kind."""
        index = self.evaluator.index
        importers = [index.modules[importer] for importer in index.importers(path)]
        return any(self._binding[module] or module.writers_of_globals for module in importers)

    def _first_guarded(self, module: Module, name: str) -> Event | None:
        if self._is_set_elsewhere(module, name) and not module.notebook:
            return None
        bindings = [item.event for item in module.bindings[-1, -1].get(name, ())]
        if _is_left_none(module, name):
            bindings = [event for event in bindings if event is not None and not _sets_none(event)]
            if not bindings:
                return None
        if not all(event is not None and under_main_guard(module, -1, event) for event in bindings):
            return None
        writers = module.writers_of_globals.get(name, [])
        if any(not self.only_for_main(module, function) for function, _ in writers):
            return None
        return next((event for event in (*bindings, *(event for _, event in writers)) if event is not None), None)

    def only_for_main(self, module: Module, function: int) -> bool:
        """Whether the guarded part calls a function that runs neither on import nor in children."""
        place = (module.path, function)
        called = place in self._own_codes.of(module).functions and place not in self._on_import[module]
        return called and place not in self._in_children()

    def scripts_of(self, module: Module, function: int) -> tuple[Module, ...]:
        """The scripts whose guarded parts lead to a function that runs neither on any import nor in children."""
        place = (module.path, function)
        importers = [self.evaluator.index.modules[path] for path in sorted(self.evaluator.index.importers(module.path))]
        scripts = [item for item in importers if not item.is_test and self.has_guarded_part(item)]
        scripts = [item for item in scripts if place in self._own_codes.of(item).functions]
        if not scripts or place in self._in_children() or any(place in self._on_import[item] for item in importers):
            return ()
        return tuple(scripts)

    def _run_on_import(self, module: Module) -> frozenset[tuple[str, int]]:
        env = self.evaluator.env(module, -1)
        entries = [Running(env, (), start=event) for event in _part(module, False)]
        return frozenset(item.function for item in self._own_codes.reach.walk(entries))

    def has_guarded_part(self, module: Module) -> bool:
        """Whether a module has code that only the script's own process executes."""
        return any(True for _ in _part(module, True))


def _functions_around(env: Env | None) -> Iterator[tuple[str, int]]:
    """The functions whose calls have led to an activation, its own first."""
    while env is not None:
        yield env.module.path, env.function
        env = env.caller


def _may_be_module(value: Value, module: Module) -> bool:
    match value:
        case Mod():
            return value.module is module
        case Ext(name=name) | ExtInst(name=name):
            return name.startswith(_MODULES)
    return isinstance(value, UNKNOWN)


def _sets_none(event: Event) -> bool:
    value = event.value
    return event.kind == "assign" and value is not None and value.kind == "constant" and value.value is None


def _is_left_none(module: Module, name: str) -> bool:
    """Whether importing a module binds a name to `None`, and to nothing else."""
    events = [item.event for item in module.bindings[-1, -1].get(name, ())]
    run = [event for event in events if event is None or not under_main_guard(module, -1, event)]
    return bool(run) and all(event is not None and _sets_none(event) for event in run)


def _first_read(events: list[Event], name: str) -> Expr | None:
    parts = (part for event in events for part in event.walk() if part is not event.target)
    return next((part for part in parts if _is_name(part, name)), None)


def _failing_with_none(events: list[Event], name: str) -> tuple[Expr | None, str]:
    """Where events read a name and raise if it is None, and what."""
    return next(((expr, error) for expr, error in failing_with_none(events) if _is_name(expr, name)), (None, ""))


def failing_with_none(events: list[Event]) -> Iterator[tuple[Expr, str]]:
    """The expressions that raise if they are None where events use them, and what they raise."""
    for event in events:
        if event.kind in ("for", "with") and event.value is not None:
            yield event.value, "TypeError"
    for event in events:
        for part in event.walk():
            yield from _needed(part)


def _asks_for_none(events: list[Event], name: str) -> bool:
    """Whether events ask if a name is None, or may do without: who names it alone in a test, or beside another value,
    may have thought of None.
    """
    asked = [event.value for event in events if event.kind in ("test", "assert")]
    asked += [inner for event in events for part in event.walk() if _asks(part) for inner in part.args]
    return any(expr is not None and _is_name(expr, name) for expr in asked)


def _asks(part: Expr) -> bool:
    """Whether an expression may tell None from other values."""
    if part.kind == "compare":
        return any(inner.kind == "constant" and inner.value is None for inner in part.args)
    return part.kind in ("boolop", "ifexp") or (part.kind == "unary" and part.name == "not")


def _needed(part: Expr) -> Iterator[tuple[Expr, str]]:
    """The parts of an expression of which it asks what None does not have, and what it raises then."""
    if part.kind == "attribute":
        yield part.args[0], "AttributeError"
    elif part.kind in ("subscript", "call"):
        yield part.args[0], "TypeError"
        if part.kind == "call" and part.args[0].kind == "name" and part.args[0].name in _NEEDING:
            yield from ((inner, "TypeError") for inner in part.args[1:2])
    elif part.kind == "compare" and part.name in ("<", "<=", ">", ">="):
        yield from ((inner, "TypeError") for inner in part.args)
    elif part.kind == "compare" and part.name in ("in", "not in"):
        yield part.args[1], "TypeError"
    elif part.kind == "binop" and part.name != "%":
        yield from ((inner, "TypeError") for inner in part.args)


def _is_name(expr: Expr, name: str) -> bool:
    return expr.kind == "name" and expr.name == name


def _may_bind(module: Module) -> bool:
    """Whether the guarded part of a module binds names, or may have functions do so."""
    guarded = [event for event in module.model.events if under_main_guard(module, -1, event)]
    return any(map(event_names, guarded)) or bool(guarded and module.writers_of_globals)


def _part(module: Module, guarded: bool) -> Iterator[Event]:
    """The statements of a module under its main guard, or the others."""
    for event in module.model.events:
        if event.kind not in ("def", "class", "import") and under_main_guard(module, -1, event) is guarded:
            yield event
