"""The code that a module runs when it is imported or started, and the workers that this starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

import msgspec

from dllint.finding import Note
from dllint.knowledge import AT_ONCE, CONTEXTS, POOL_METHODS, PROCESS_CLASSES, SPAWN_UNLESS_TOLD
from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Inst,
    Klass,
    Opaque,
    Seq,
    Super,
    Value,
)
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.execution.call_graph import Edge, Reach, Running
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.events import WRAPPERS, iterated_by
from dllint.project.program.guards import is_survived, under_main_guard
from dllint.project.program.index import Index
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand
from dllint.source import Span
from dllint.start_methods import SPAWN

_OF_WRAPPERS = frozenset({"per_device_loader"})
"""Methods of what wraps a loader whose result goes over the loader."""
_ASKING = frozenset({
    "builtins.enumerate", "builtins.filter", "builtins.map", "builtins.zip", "itertools.cycle", "itertools.islice",
})  # fmt: skip
"""What asks for the iterators of its arguments as it is made; `tqdm` and `chain` do so later."""
_HOOKS_OF = {
    "fit": frozenset({"train_dataloader", "val_dataloader"}),
    "validate": frozenset({"val_dataloader"}),
    "test": frozenset({"test_dataloader"}),
    "predict": frozenset({"predict_dataloader"}),
}
"""The methods of a Lightning trainer that go over loaders, and the hooks that they ask for these."""
RUNS = frozenset(_HOOKS_OF)
_TRAINS = frozenset({"train", "evaluate", "predict"})
HOOKS = frozenset().union(*_HOOKS_OF.values())


class Start(msgspec.Struct, frozen=True, eq=False):
    """A statement that starts workers when its module is imported or run."""

    path: str
    event: Event
    what: str
    """A description of what is started."""
    methods: frozenset[str]
    chosen: bool
    """The code itself chooses the start method."""
    loader: Loader | None
    route: tuple[Note, ...]
    surely: bool
    """Nothing that is not known, such as an environment variable, decides whether it runs."""
    platforms: tuple[str, ...] | None = None
    """The declared targets whose default start methods are those of the workers; None: all of them."""


_Methods = tuple[frozenset[str], bool]
"""Possible start methods, and whether the code itself chooses them."""


class Begun(NamedTuple):
    """Workers that an expression starts: in words, with the possible start methods."""

    at: Expr
    what: str
    methods: frozenset[str]
    chosen: bool
    """The code itself chooses the start method."""
    loader: Loader | None = None
    platforms: tuple[str, ...] | None = None
    """The declared targets whose default start methods these are; None: all of them."""

    @property
    def here(self) -> str:
        """What a note at the expression says."""
        return f"{self.what} {'starts' if self.what.startswith('a ') else 'start'} here"


class _Parts(NamedTuple):
    """The parts of an event that may start workers, in any context."""

    event: Event
    iterated: list[Expr]
    calls: list[Expr]


class MainCode:
    """Follows module-level code."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.index: Index = evaluator.index
        self._begun: dict[int, list[tuple[Event, Begun]]] = {}
        self._iterated: dict[Value, tuple[Loader, ...]] = {}
        self._asked = OnDemand(_parts)
        self.reach = Reach(evaluator, lambda running, event: self._guarded(running.env, event), more=self._datasets)
        self._fatal = copy(self.reach)
        """The code in which a worker that starts workers dies of it."""
        self._fatal.skips = lambda running, event: self._goes_on(running.env, event)

    def _guarded(self, env: Env, event: Event) -> bool:
        return under_main_guard(env.module, env.function, event)

    def _goes_on(self, env: Env, event: Event) -> bool:
        """Whether a worker never runs an event, or survives that it starts workers there."""
        return self._guarded(env, event) or is_survived(env.module, env.function, event)

    def _datasets(self, env: Env) -> Iterator[Edge]:
        """What code runs of a dataset where it takes batches of a loader without workers: `iter` takes none yet."""
        for event, iterated, calls in self._asked[env.module, env.function]:
            kept = [call.args[1] for call in calls if call.args[0].name == "iter" and len(call.args) == 2]
            for expr in iterated if self.evaluator.conditions.may_run(env, event.start) else ():
                for loader in self.loaders_in(expr, env) if expr not in kept else ():
                    if loader.workers is Workers.NONE:
                        yield from (Edge(event, run, expr, False) for run in self._items_of(loader))

    def _items_of(self, loader: Loader) -> Iterator[Env]:
        """The methods of a loader's datasets that give its items."""
        for given, where in self.boundaries.argument(loader, "dataset")[0]:
            for value in self.evaluator.values(given, where):
                for name in ("__getitem__", "__iter__") if isinstance(value, Inst) else ():
                    method = self.evaluator.classes.method(value, name)
                    if method is not None:
                        yield self.evaluator.activations.activation(method.func, None, None, value)

    def runs_on_import(self, module: Module) -> bool:
        """Whether a worker's import of the main script may run a module's own code.

        A module that is only imported in functions or under guards is not imported again. One that is never imported is
        a script, except for tests: the main script is what runs them. Workers never import a package's `__main__.py`
        (read in `multiprocessing.spawn`).
        """
        if _is_run_by_tests(module) or module.path.rpartition("/")[2] == "__main__.py":
            return False
        statements = self.index.import_statements.get(module.path, [])
        return not statements or any(
            imported.function < 0 and not self._import_guarded(importer, imported.span)
            for importer, imported in statements
        )

    def _import_guarded(self, importer: Module, span: Span) -> bool:
        env = self.evaluator.env(importer, -1)
        return any(self._guarded(env, event) for event in importer.model.events if event.start == span.start)

    def entries(self, module: Module) -> Iterator[Running]:
        """The module-level statements that run on import."""
        env = self.evaluator.env(module, -1)
        for event in module.model.events:
            if event.kind not in ("def", "class", "import", "global") and not self._guarded(env, event):
                yield Running(env, (), start=event)

    def running(self, module: Module) -> Iterator[Running]:
        """Module-level code and all it calls, per statement."""
        return self.reach.walk(self.entries(module))

    def starts(self, module: Module) -> Iterator[Start]:
        """The module-level statements that start workers, each once; none of a program that always forks them."""
        if module.path in self.boundaries.chosen_methods.for_python_2 or not self.may_start(module):
            return
        done: set[int] = set()
        for running in self._fatal.walk(self.entries(module)):
            assert running.start is not None
            if running.start.start in done:
                continue
            for event, begun in self.begun_by(running.env):
                outside = running.env.function >= 0 or event is running.start
                decided = self.evaluator.conditions.decided(running.env, event.start)
                if not outside or self._goes_on(running.env, event) or (running.truncated and not decided):
                    continue
                if begun.loader is not None and not self.boundaries.has_workers_in(module, begun.loader):
                    continue
                done.add(running.start.start)
                yield self._start(running, begun, decided and running.decided and not running.truncated)
                break

    def may_start(self, module: Module) -> bool:
        """Whether anything that a module imports, directly or not, makes a loader or starts processes."""
        reaches = self.evaluator.programs.reaches
        return any(reaches(module, other) for other in self._starting_modules)

    @at_rest
    def _starting_modules(self) -> list[Module]:
        names = {*self.boundaries.process_makers, "multiprocessing.Manager", "multiprocessing.get_context"}
        last = {name.rpartition(".")[2] for name in names}
        sites = self.index.calls_named(sorted(self.boundaries.also_called(last)))
        making = [self.index.modules[loader.path] for loader in self.boundaries.loaders]
        starting = (site.module for site in sites if not self.boundaries.calls_another(site, names))
        return list(dict.fromkeys((*making, *starting, *(site.module for site in self.boundaries.starting_calls))))

    def begun_by(self, env: Env) -> list[tuple[Event, Begun]]:
        """The events of an activation that start workers, with the first of what each starts."""
        return self.evaluator.kept(self._begun, id(env), self._find_begun, env)

    def _find_begun(self, env: Env) -> list[tuple[Event, Begun]]:
        asked = self._asked[env.module, env.function]
        firsts = ((parts.event, next(self._started_by(env, parts), None)) for parts in asked)
        found = (
            (event, self._as_asked(env, event, begun))
            for event, begun in firsts
            if begun is not None and self.evaluator.conditions.may_run(env, event.start)
        )
        return [(event, begun) for event, begun in found if begun.methods]

    def _as_asked(self, env: Env, event: Event, begun: Begun) -> Begun:
        """What an event starts, under the start methods that the tests around it leave, where code comes to it."""
        left = begun.methods & self.boundaries.chosen_methods.asked_for(env, event.start)
        if left != begun.methods:
            return begun._replace(methods=left, chosen=True)
        return self.without(begun, self.boundaries.missing(env, event.start))

    def without(self, begun: Begun, missing: frozenset[str]) -> Begun:
        """What is begun on other platforms than these."""
        declared = self.boundaries.targets.platforms if begun.platforms is None else begun.platforms
        platforms = tuple(name for name in declared if name not in missing)
        if begun.chosen or platforms == declared:
            return begun
        methods = self.boundaries.on_platforms(begun.methods, False, platforms)
        return begun._replace(methods=methods, platforms=platforms)

    def _started_by(self, env: Env, parts: _Parts) -> Iterator[Begun]:
        for expr in parts.iterated:
            if self._goes_on_with(expr, env) or self._takes_apart(parts.event, expr, env):
                continue
            for loader in self.loaders_in(expr, env):
                if loader.workers is not Workers.NONE:
                    yield _of_loader(expr, loader)
        for call in parts.calls:
            yield from self._started_by_call(env, call)

    def _goes_on_with(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is an iterator that this code or its callers have made: workers started there."""
        values = self.evaluator.values(expr, env) if expr.kind == "name" and self.by_call else ()
        around = {id(scope) for scope in _scopes(env)}
        return bool(values) and all(
            isinstance(value, ExtInst) and value.name == "builtins.iter" and id(value.env) in around for value in values
        )

    def _takes_apart(self, event: Event, expr: Expr, env: Env) -> bool:
        """Whether several names get the items of a list: `return loaders[0] if len(loaders) == 1 else loaders`.

        Who gives a loader instead has only one, and these names can't be its batches.
        """
        unpacked = event.kind != "for" and expr is event.value and bool(self.by_call)
        return unpacked and any(isinstance(value, Seq) for value in self.evaluator.values(expr, env))

    def _started_by_call(self, env: Env, call: Expr) -> Iterator[Begun]:
        if call.args[0].name not in self._starting:
            return
        for value in self.evaluator.values(call.args[0], env):
            match value:
                case Ext(name=name) if name in AT_ONCE:
                    yield Begun(call, AT_ONCE[name], *self._of_call(name, call, env))
                case Ext(name=name) if name in _ASKING:
                    yield from self._begun_loaders(call, list(self._asked_at_once(call, env)))
                case ExtInst(name="functools.partial", call=made, env=where):
                    targets = self.evaluator.values(made.args[1], where) if len(made.args) > 1 else ()
                    names = [target.name for target in targets if isinstance(target, Ext) and target.name in AT_ONCE]
                    yield from (Begun(call, AT_ONCE[name], *self._of_call(name, call, env)) for name in names)
                case ExtMethod(base=Super(owner=Inst(klass=klass)), attribute="start"):
                    yield from self._own_process(klass, call, env)
                case Opaque(expr=callee, env=where) if callee.kind == "attribute" and callee.name == "start":
                    for owner in self.evaluator.values(callee.args[0], where):
                        if isinstance(owner, Inst) and self.evaluator.classes.method(owner, "start") is None:
                            yield from self._own_process(owner.klass, call, env)
                case ExtMethod(base=ExtInst() as base, attribute=attribute):
                    known = self.boundaries.starter(call, env, value)
                    if known is not None:
                        methods = self.boundaries.chosen_methods
                        started = *methods.of(env.module.path, known.module), None, methods.platforms(known.module)
                        yield Begun(call, "processes", *started)
                    yield from self._started_by_method(env, call, base, attribute)

    def _own_process(self, klass: Klass, call: Expr, env: Env) -> Iterator[Begun]:
        """What starts an object of a class that has `start` from the library's class of processes."""
        if self.evaluator.classes.is_a(klass, PROCESS_CLASSES) is Answer.YES:
            yield Begun(call, "a process", *self.boundaries.process_methods(klass, env.module.path))

    @at_rest
    def _starting(self) -> set[str]:
        """The last names of calls that may start workers."""
        starters = {name.rpartition(".")[2] for name in (*_ASKING, *AT_ONCE)}
        starters |= {method for pool in CONTEXTS for method in POOL_METHODS[pool]}
        starters |= {site.expr.args[0].name for site in self.boundaries.starting_calls}
        return self.boundaries.also_called({*starters, "start", *RUNS, *_TRAINS})

    def _of_call(self, name: str, call: Expr, env: Env) -> _Methods:
        if name in SPAWN_UNLESS_TOLD:
            return self.boundaries.chosen_methods.of_call(call, env)
        return (frozenset({SPAWN}), True) if name.endswith(".spawn") else self._default_methods(env.module.path)

    def _started_by_method(self, env: Env, call: Expr, base: ExtInst, attribute: str) -> Iterator[Begun]:
        path = env.module.path
        if base.name.endswith("get_context") and attribute in ("Pool", "Manager"):
            yield Begun(call, AT_ONCE[f"multiprocessing.{attribute}"], *self._context_methods(base, path))
        elif attribute == "start" and base.name.endswith("Process"):
            context = base.base if isinstance(base.base, ExtInst) else base
            yield Begun(call, "a process", *self._context_methods(context, path))
        elif base.name in CONTEXTS and attribute in POOL_METHODS[base.name]:
            context = next((item for item in self._context_values(base) if isinstance(item, ExtInst)), base)
            yield Begun(call, "a process pool", *self._context_methods(context, path))
        elif base.name == "lightning.Trainer" and attribute in RUNS:
            yield from self._begun_loaders(call, list(self._given_to_trainer(call, env, _HOOKS_OF[attribute])))
        elif base.name.startswith("transformers.") and attribute in _TRAINS:
            yield from self._begun_loaders(call, self.by_call.get(id(base.call), []))

    def _given_to_trainer(self, call: Expr, env: Env, hooks: frozenset[str]) -> Iterator[Loader]:
        """The loaders that a trainer is given, and those that the hooks of the objects it is given make."""
        for expr in (*call.args[1:], *(value for _, value in call.keywords)):
            for value in self.evaluator.values(expr, env):
                parts = self.evaluator.containers.elements(value) if isinstance(value, Seq) else (value,)
                for part in parts:
                    yield from self._as_loader(part)
                    if isinstance(part, Inst):
                        chain = self.evaluator.classes.mro(part.klass)
                        yield from (item for item in self.boundaries.loaders if self._made_in_hook(item, chain, hooks))

    def _made_in_hook(self, loader: Loader, chain: tuple[Klass, ...], hooks: frozenset[str]) -> bool:
        """Whether code that leads to a loader is one of these hooks, of one of these classes."""
        env: Env | None = loader.env
        while env is not None and env.function >= 0:
            owner = env.module.method_owner(env.function)
            if owner >= 0 and env.facts.name in hooks and self.evaluator.klass(env.module, owner) in chain:
                return True
            env = env.caller
        return False

    def _begun_loaders(self, call: Expr, loaders: list[Loader]) -> Iterator[Begun]:
        for loader in loaders:
            if loader.workers is not Workers.NONE:
                yield _of_loader(call, loader)

    def _start(self, running: Running, begun: Begun, surely: bool) -> Start:
        assert running.start is not None
        note = running.note(begun.at, begun.here)
        path = running.path if not running.route else running.route[-1].path
        route = (note, *running.route)
        told = begun.what, begun.methods, begun.chosen, begun.loader
        return Start(path, running.start, *told, route, surely, begun.platforms)

    def _default_methods(self, path: str) -> _Methods:
        return self.boundaries.chosen_methods.of(path)

    def _context_values(self, executor: ExtInst) -> Iterable[Value]:
        context = executor.call.keyword(CONTEXTS[executor.name])
        return self.evaluator.values(context, executor.env) if context is not None else ()

    def _context_methods(self, context: ExtInst, path: str) -> _Methods:
        if context.name.endswith("get_context") and len(context.call.args) > 1:
            for value in self.evaluator.values(context.call.args[1], context.env):
                if isinstance(value, Const) and isinstance(value.value, str):
                    return frozenset({value.value}), True
        return self._default_methods(path)

    @at_rest
    def by_call(self) -> dict[int, list[Loader]]:
        """Loaders by the call expression that makes them."""
        found: dict[int, list[Loader]] = defaultdict(list)
        for loader in self.boundaries.loaders:
            made = loader.instance.call if loader.instance is not None else loader.call
            found[id(made)].append(loader)
        return found

    @at_rest
    def _with_loaders(self) -> frozenset[str]:
        """The files in whose programs a loader is made: no other code gets one."""
        loaders = self.boundaries.loaders
        made = (loader.instance.env for loader in loaders if loader.instance is not None)
        makers = {env.module for env in (*(loader.env for loader in loaders), *made) if env is not None}
        return frozenset(module.path for maker in makers for module in self.evaluator.programs.sharing(maker))

    def loaders_in(self, expr: Expr, env: Env) -> Iterator[Loader]:
        """The loaders that iterating an expression iterates, each once."""
        if env.module.path not in self._with_loaders:
            return  # no program of this file makes one, whatever the expression may be
        found = (loader for value in self.evaluator.values(expr, env) for loader in self._loaders_of(value))
        yield from dict.fromkeys(found)

    def _loaders_of(self, value: Value) -> tuple[Loader, ...]:
        """The loaders that iterating a value iterates: itself, or what it wraps."""
        return self.evaluator.ask(self._iterated, value, (), self._find_loaders, value)

    def _find_loaders(self, value: Value) -> tuple[Loader, ...]:
        found = tuple(self._as_loader(value))
        return found or (tuple(dict.fromkeys(self._wrapped(value))) if isinstance(value, ExtInst) else ())

    def _as_loader(self, value: Value) -> Iterator[Loader]:
        match value:
            case ExtInst(name=name) if name.endswith("[]"):
                return  # what it yields
            case ExtInst(call=call, env=env) | Inst(call=call, env=env) if call is not None and env is not None:
                known = self.by_call.get(id(call), [])
                exact = [loader for loader in known if loader.env is env or loader.instance == value]
                alike = [loader for loader in known if loader.env is known[0].env]
                yield from exact or [self.boundaries.in_activation(loader, value) for loader in alike]

    def _wrapped(self, wrapper: ExtInst) -> Iterator[Loader]:
        """The loaders that are iterated where what wraps them is."""
        method = wrapper.name.rpartition(".")[2]
        if method in _OF_WRAPPERS and wrapper.base is not None:
            yield from self._loaders_of(wrapper.base)
        for value in self._given(wrapper.call, wrapper.env) if method in WRAPPERS and self.by_call else ():
            yield from self._loaders_of(value)

    def _asked_at_once(self, call: Expr, env: Env) -> Iterator[Loader]:
        """The loaders among the arguments of a call: what wraps one may ask for its iterator later."""
        for value in self._given(call, env) if self.by_call else ():
            yield from self._as_loader(value)

    def _given(self, call: Expr, env: Env) -> Iterator[Value]:
        """What a call gets, each of several in one place."""
        for arg in call.args[1:]:
            if arg.kind != "star":
                yield from self.evaluator.values(arg, env)
                continue
            for given in self.evaluator.values(arg.args[0], env):
                yield from self.evaluator.containers.elements(given)


def _scopes(env: Env | None) -> Iterator[Env]:
    """An activation and those of the calls that lead there."""
    while env is not None:
        yield env
        env = env.caller


def _parts(scope: tuple[Module, int]) -> list[_Parts]:
    """The events of a function that iterate or call anything."""
    module, function = scope
    found = (
        _Parts(event, list(iterated_by(event)), [part for part in event.walk() if part.kind == "call"])
        for event in module.events(function)
        if event.value is not None or event.target is not None
    )
    return [parts for parts in found if parts.iterated or parts.calls]


def _is_run_by_tests(module: Module) -> bool:
    """Whether a file is for a test runner: by its name, and by what is in it."""
    name = module.path.rpartition("/")[2]
    return module.is_test and module.has_tests and (name.startswith("test_") or name.endswith("_test.py"))


def _of_loader(at: Expr, loader: Loader) -> Begun:
    return Begun(at, f"`{loader.name}` workers", loader.methods, loader.chosen, loader, loader.platforms)
