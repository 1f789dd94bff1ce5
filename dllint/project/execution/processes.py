"""Processes that a project starts without a loader: what they are sent, what they run, whether they are daemonic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from dllint.finding import Note
from dllint.knowledge import CONTEXTS, POOL_METHODS, PROCESSES, SPAWN_UNLESS_TOLD, Starter
from dllint.model.facts import Expr
from dllint.project.escape.loaders_way import LoadersWay
from dllint.project.escape.set_later import SetLater
from dllint.project.escape.shipped import Held, Shipped
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import (
    TOP,
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Inst,
    Seq,
    Value,
)
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.execution.branches import Branches
from dllint.project.execution.call_graph import Reach, Running
from dllint.project.execution.called_with import call_in_process
from dllint.project.loaders.boundaries import Boundaries
from dllint.project.program.guards import only_in_main
from dllint.project.program.module import Site, kept_locally
from dllint.start_methods import ALL_METHODS, SPAWN

_CONTEXT = "multiprocessing.get_context"
_SPAWNERS = frozenset({"torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"})
_PARENTS_OWN = frozenset({"callback", "error_callback", "chunksize"})
_WITH_ARGUMENTS = frozenset({"apply", "apply_async", "submit", "schedule"})
"""Methods that send arguments as they are; the others iterate them in the main process."""


class Task(msgspec.Struct, frozen=True, eq=False):
    """A call that sends a function to a process."""

    env: Env
    call: Expr
    name: str
    """The callable, as a user would say it: `Process`, `Pool.map`."""
    targets: tuple[Argument, ...]
    """The functions that run in the process."""
    sent: tuple[Argument, ...]
    """The values sent there, its targets included."""
    iterated: tuple[Argument, ...]
    """What the main process goes through, to send each of the elements."""
    methods: frozenset[str]
    """The start methods its processes may get on the declared targets."""
    chosen: bool
    """The code itself chooses the start method."""
    always: bool
    """Whether values are pickled under every start method, as a pool's tasks are."""
    daemonic: bool
    """Its processes are surely daemonic: they may have no children."""
    starter: Starter | None = None
    """What is known of the call where it starts the processes itself."""
    platforms: tuple[str, ...] | None = None
    """The declared targets whose default start methods are those of its processes; None: all of them."""
    decided: bool = True
    """Whether the call is known to be reached, and to be this call: a pool of threads may take its place."""

    @property
    def path(self) -> str:
        return self.env.module.path

    @property
    def note(self) -> Note:
        return Note(self.path, self.call.span, f"`{self.name}(...)` sends it to a process here")


class Processes:
    """Finds them."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.reach = Reach(evaluator, lambda run, event: only_in_main(run.env.module, run.env.function, event))
        self._shipped = Shipped(evaluator, boundaries)
        self._branches = Branches(evaluator)

    @at_rest
    def tasks(self) -> tuple[Task, ...]:
        """Every call that sends a function to a process."""
        makers, pools = self._called(self.boundaries.process_makers), self._called(POOL_METHODS)
        methods = {method for names in POOL_METHODS.values() for method in names}
        pooled = any(True for _ in self.evaluator.index.calls_named(pools))
        found: list[Task] = []
        making = self.evaluator.index.calls_named(sorted(makers | (methods if pooled else set())))
        sites = {id(site.expr): site for site in (*making, *self.boundaries.starting_calls)}
        for site in sites.values():
            if _is_forgotten(site) or self.boundaries.calls_another(site, PROCESSES) or not self._may_start(site):
                continue
            for env in self.boundaries.contexts(site.module, site.function):
                if self.evaluator.conditions.may_run(env, site.expr.start):
                    found += self._tasks(site, env)
        return tuple(found)

    def _may_start(self, site: Site) -> bool:
        """Whether a call is one of these in any activation: cheaper to tell than which activations there are."""
        env = self.evaluator.generic(site.module, site.function)
        called = self.evaluator.values(site.expr.args[0], env)
        return any(value == TOP or self._task(site, env, value) is not None for value in called)

    def _tasks(self, site: Site, env: Env) -> Iterator[Task]:
        """The task of a call in an activation, if it is one."""
        tasks = [self._task(site, env, callee) for callee in self.evaluator.values(site.expr.args[0], env)]
        task = next((task for task in tasks if task is not None), None)
        if task is None:
            return
        left = task.methods & self.boundaries.chosen_methods.asked_for(env, site.expr.start)
        chosen = task.chosen or left != task.methods
        declared = self.boundaries.targets.platforms if task.platforms is None else task.platforms
        platforms = declared if chosen else self.boundaries.reaching(declared, env, site.expr.start)
        left = self.boundaries.on_platforms(left, chosen or platforms == declared, platforms)
        if left:
            decided = None not in tasks and self.boundaries.decided(site.expr, env)
            kept = task.platforms if platforms == declared else platforms
            yield msgspec.structs.replace(task, methods=left, chosen=chosen, decided=decided, platforms=kept)

    def _called(self, names: Iterable[str]) -> set[str]:
        """The last names under which code may call some of a library's names: these, and what imports make of them."""
        last = {name.rpartition(".")[2] for name in names}
        return last.union(*(self.evaluator.index.aliases.get(name, ()) for name in last)) - {""}

    def _task(self, site: Site, env: Env, callee: Value) -> Task | None:
        match callee:
            case Ext(name=name) if name in PROCESSES:
                return self._made(site, env, name, None)
            case ExtMethod(base=ExtInst(name=context) as base, attribute=attribute) if context == _CONTEXT:
                name = f"multiprocessing.{attribute}"
                return self._made(site, env, name, base) if name in PROCESSES else None
            case ExtMethod(base=ExtInst() as base, attribute=attribute):
                known = self.boundaries.starter(site.expr, env, callee)
                if known is not None:
                    return self._of_starter(site, env, attribute, known)
                pool = base.name.replace(f"{_CONTEXT}().", "multiprocessing.")
                if attribute in POOL_METHODS.get(pool, ()):
                    return self._pooled(site, env, pool, base, attribute)
        return None

    def _made(self, site: Site, env: Env, name: str, context: ExtInst | None) -> Task:
        boundary = PROCESSES[name]
        arguments = {
            key: tuple(self.evaluator.arguments.argument(site.expr, env, boundary.parameters.index(key), key)[0])
            if key in boundary.parameters
            else ()
            for key in boundary.ships
        }
        if name in _SPAWNERS:
            methods, chosen = self._named(self._argument(site, env, 5, "start_method")) or frozenset({SPAWN}), True
            daemonic = self._surely(self._argument(site, env, 4, "daemon"))
        elif name in SPAWN_UNLESS_TOLD:
            (methods, chosen), daemonic = self.boundaries.chosen_methods.of_call(site.expr, env), False
        else:
            methods, chosen = self._methods(site, env, name, context)
            daemonic = name.endswith("Process") and self._daemon(site, env)
        first = boundary.ships[0]
        sent = tuple(pair for pairs in arguments.values() for pair in pairs)
        daemonic = daemonic or name == "multiprocessing.Pool"
        return Task(env, site.expr, _shown(name), arguments[first], sent, (), methods, chosen, False, daemonic)

    def _of_starter(self, site: Site, env: Env, attribute: str, known: Starter) -> Task:
        target = tuple(self._argument(site, env, 0, known.function))
        methods, chosen = self.boundaries.chosen_methods.of(env.module.path, known.module)
        platforms = self.boundaries.chosen_methods.platforms(known.module)
        sent = () if known.by_value else target
        return Task(env, site.expr, attribute, target, sent, (), methods, chosen, False, False, known, platforms)

    def _pooled(self, site: Site, env: Env, pool: str, base: ExtInst, attribute: str) -> Task:
        target = tuple(self._argument(site, env, 0, POOL_METHODS[pool][attribute]))
        given = [arg for arg in site.expr.args[2:] if arg.kind != "star"]
        given += [value for key, value in site.expr.keywords if key not in _PARENTS_OWN and key != "**"]
        arguments = [(arg, env) for arg in given]
        as_they_are = attribute in _WITH_ARGUMENTS
        sent = [*target, *arguments] if as_they_are else target
        context = base.base if isinstance(base.base, ExtInst) else None
        where = Site(base.env.module, base.env.function, site.event, base.call)
        methods, chosen = self._methods(where, base.env, pool, context)
        name = f"{pool.rpartition('.')[2]}.{attribute}"
        daemonic = pool == "multiprocessing.Pool"
        iterated = () if as_they_are else tuple(arguments)
        return Task(env, site.expr, name, target, tuple(sent), iterated, methods, chosen, True, daemonic)

    def _argument(self, site: Site, env: Env, position: int | None, name: str) -> list[Argument]:
        return self.evaluator.arguments.argument(site.expr, env, position, name)[0]

    def _surely(self, found: list[Argument]) -> bool:
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        return bool(values) and all(isinstance(value, Const) and value.value is True for value in values)

    def _named(self, found: list[Argument]) -> frozenset[str]:
        """The start methods that expressions name, where all of them do."""
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        names = {value.value for value in values if isinstance(value, Const)}
        return frozenset(str(name) for name in names) if values and names <= ALL_METHODS else frozenset()

    def _methods(self, site: Site, env: Env, name: str, context: ExtInst | None) -> tuple[frozenset[str], bool]:
        contexts: list[Value] = [context] if context is not None else []
        if name in CONTEXTS:
            position = PROCESSES[name].parameters.index(CONTEXTS[name])
            given = self._argument(site, env, position, CONTEXTS[name])
            contexts += [value for pair in given for value in self.evaluator.values(*pair)]
        for value in contexts:
            if isinstance(value, ExtInst) and value.name == _CONTEXT and len(value.call.args) > 1:
                named = self._named([(value.call.args[1], value.env)])
                if named:
                    return named, True
        return self.boundaries.chosen_methods.of(env.module.path)

    def _daemon(self, site: Site, env: Env) -> bool:
        if self._surely(self._argument(site, env, None, "daemon")):
            return True
        for write in site.module.attribute_writes.get("daemon", ()):
            if write.function == site.function and write.event.value is not None:
                made = self.evaluator.values(write.target.args[0], env)
                if any(isinstance(value, ExtInst) and value.call is site.expr for value in made):
                    return self._surely([(write.event.value, env)])
        return False

    def held(self, task: Task) -> Iterator[Held]:
        """Everything that a task's process is sent; the first steps of the routes end at the call."""
        for held in self._held(task):
            if not self._branches.never_meet(task.call, task.env, _may_make_process, held.value):
                yield held

    def _held(self, task: Task) -> Iterator[Held]:
        way = LoadersWay(self.evaluator, task.env, task.call)
        later = SetLater(self.evaluator, task.call, task.env) if task.name == "Process" else None
        for expr, env in task.sent:
            values = tuple(value for value in self.evaluator.values(expr, env) if self._gets(task, value))
            yield from self._shipped.by_process(values, task.note, way, later)
        for pair in task.iterated:
            for container in self.evaluator.values(*pair):
                if isinstance(container, Seq) and container.expr.kind != "dict":
                    elements = self.evaluator.containers.elements(container)
                    yield from self._shipped.by_process(elements, task.note, way, later)

    def _gets(self, task: Task, value: Value) -> bool:
        """Whether a process may be started where the branch was taken that makes a function."""
        env = self._branches.of(value, task.env)
        if env is None:
            return True
        events = task.env.module.events(task.env.function)
        event = next((item for item in events if any(part is task.call for part in item.walk())), None)
        if event is None:
            return True
        site = Site(env.module, env.function, event, task.call)
        return self.evaluator.conditions.may_run(env, task.call.start) and any(self._tasks(site, env))

    def _refuses(self, task: Task, target: Expr, value: Value) -> bool:
        """Whether a function can't be called with what the process passes: none of its code runs."""
        made = call_in_process(task, target)
        return made is not None and self.evaluator.calls.signatures.refuses(value, made)

    def running(self, task: Task) -> Iterator[Running]:
        """The code that a task's process runs."""
        called = map(self.reach.entered_by, self.functions(task))
        entries = [Running(env, (task.note,)) for env in called if env is not None]
        return self.reach.walk(entries)

    def functions(self, task: Task) -> Iterator[Value]:
        """What a task's process calls, functions and callable objects; of a `partial`, what is in it."""
        for pair in task.targets:
            for value in self.evaluator.values(*pair):
                if not self._gets(task, value) or self._refuses(task, pair[0], value):
                    continue
                if isinstance(value, ExtInst):
                    first = [item for arg in value.call.args[1:2] for item in self.evaluator.values(arg, value.env)]
                    inside = self.reach.callables_in(value)
                    # What a `partial` fills in is an argument: an object there isn't called, though it may be callable.
                    yield from (item for item in inside if not isinstance(item, Inst) or item in first)
                else:
                    yield value


def _shown(name: str) -> str:
    """What makes processes, as a user would say it."""
    last = name.rpartition(".")[2]
    return name if name in SPAWN_UNLESS_TOLD else f"mp.{last}" if name in _SPAWNERS else last


def _may_make_process(value: Value) -> bool:
    return isinstance(value, ExtMethod) or (isinstance(value, Ext) and value.name in PROCESSES)


def _is_forgotten(site: Site) -> bool:
    """Whether a process gets a local name that nothing reads: it is never started."""
    name, inside = kept_locally(site) if site.expr.args[0].name.endswith("Process") else ("", [])
    return bool(name) and not any(name in item.loads for item in inside)
