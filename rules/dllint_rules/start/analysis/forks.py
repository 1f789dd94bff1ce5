"""Forked children that use CUDA, and what their parents did to CUDA before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from dllint.finding import Note
from dllint.knowledge import FORKING
from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Func, Method
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.execution.call_graph import Reach, Running, calls_of
from dllint.project.execution.processes import Task
from dllint.project.loaders.arguments import event_of
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Module, Site
from dllint.start_methods import FORK

if TYPE_CHECKING:
    from dllint.project import Project


class Child(msgspec.Struct, frozen=True, eq=False):
    """Code that uses CUDA in a forked process. `site` is the call that makes the process (None: a loader does)."""

    running: Running
    site: Site | None
    always: bool = False
    """It is forked under every Python."""


class Forks:
    """Joins children to their parents."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.chosen_methods = project.boundaries.chosen_methods
        self.devices = project.devices
        self.main_code = project.main_code
        self.reach = Reach(project.evaluator)

    @at_rest
    def cuda_users(self) -> tuple[Child, ...]:
        """Code that uses CUDA in a forked process: one entry a loader, one a process."""
        found = []
        seen: set[Loader] = set()
        for running in self.project.running:
            loader = running.loader
            if loader is None or loader in seen or FORK not in loader.methods:
                continue
            if any(self.devices.use(call, running.env) for call in self.project.executed_calls(running)):
                seen.add(loader)
                found.append(Child(running, None))
        return (*found, *self._process_children(), *self._pool_children())

    def _pool_children(self) -> Iterator[Child]:
        """What pools run that uses CUDA, where their processes may be forked: they are when the pool is made."""
        for task in self.project.processes.tasks:
            site = self._started(task) if FORK in task.methods else None
            code = self.project.processes.running(task) if site is not None else ()
            always = task.starter is not None and task.starter.module in FORKING
            yield from islice((Child(running, site, always) for running in code if self._uses(running)), 1)

    def _started(self, task: Task) -> Site | None:
        """The call that starts a task's processes, but for those of `Process`."""
        event = event_of(task.env, task.call) if task.starter is not None else None
        if event is not None:
            return Site(task.env.module, task.env.function, event, task.call)
        return self._pool(task) if task.always else None

    def _pool(self, task: Task) -> Site | None:
        """The call that makes a task's pool."""
        for pool in self.evaluator.values(task.call.args[0].args[0], task.env):
            event = event_of(pool.env, pool.call) if isinstance(pool, ExtInst) else None
            if isinstance(pool, ExtInst) and event is not None:
                return Site(pool.env.module, pool.env.function, event, pool.call)
        return None

    def _uses(self, running: Running) -> bool:
        """Whether code uses CUDA."""
        return any(self.devices.use(call, running.env) for event in running.events for call in calls_of(event))

    def _process_children(self) -> Iterator[Child]:
        """Targets of `Process` that use CUDA where the process may be forked."""
        for site in self.evaluator.index.calls_named(("Process",)):
            env = self.evaluator.generic(site.module, site.function)
            if not self._forks(site, env):
                continue
            for pair in self.evaluator.arguments.argument(site.expr, env, 1, "target")[0]:
                for value in self.evaluator.values(*pair):
                    func = value.func if isinstance(value, Method) else value
                    if isinstance(func, Func):
                        owner = value.owner if isinstance(value, Method) else None
                        yield from self._users(func, owner, site)

    def _forks(self, site: Site, env: Env) -> bool:
        for value in self.evaluator.values(site.expr, env):
            if isinstance(value, ExtInst) and value.name.endswith("Process"):
                context = value.base
                if isinstance(context, ExtInst) and len(context.call.args) > 1:
                    chosen = self.evaluator.values(context.call.args[1], context.env)
                    return all(isinstance(item, Const) and item.value == FORK for item in chosen)
                return value.name == "multiprocessing.Process" and FORK in self._default_methods(site.module.path)
        return False

    def _default_methods(self, path: str) -> frozenset[str]:
        return self.chosen_methods.of(path)[0]

    def _users(self, func: Func, owner: object, site: Site) -> Iterator[Child]:
        env = self.evaluator.activations.activation(func, None, None, owner)  # type: ignore[arg-type]
        note = Note(site.module.path, site.expr.span, "the process is made here")
        for running in self.reach.walk([Running(env, (note,))]):
            if self._uses(running):
                yield Child(running, site)
                return

    def before(self, child: Child) -> Iterator[tuple[Running, Expr, str]]:
        """What initializes CUDA in the parent before the child is forked."""
        if child.site is None:
            yield from self._on_import(child.running)
            return
        module, function = child.site.module, child.site.function
        running = Running(self.evaluator.generic(module, function), ())
        for event in module.events(function):
            if event.start < child.site.event.start:
                yield from self._initialising(running, event)
        if function >= 0:
            yield from self._import_time(module)

    def _on_import(self, child: Running) -> Iterator[tuple[Running, Expr, str]]:
        """Import-time CUDA in the files that a script with the child's loader imports.

        A script's own use of CUDA is what it is for: its workers must do without.
        """
        assert child.loader is not None
        index = self.evaluator.index
        for path in sorted(self.related(child.loader.path) | {child.path}):
            if path in index.import_statements:
                yield from self._import_time(index.modules[path])

    def _import_time(self, module: Module) -> Iterator[tuple[Running, Expr, str]]:
        for entry in self.main_code.entries(module):
            assert entry.start is not None
            yield from self._initialising(entry, entry.start)

    def _initialising(self, running: Running, event: Event) -> Iterator[tuple[Running, Expr, str]]:
        """Uses of CUDA by an event; a mere query counts only where it can be nothing else (see Devices)."""
        for call in calls_of(event):
            how = (
                self.devices.use(call, running.env)
                if running.start is not None
                else self.devices.initialises(call, running.env)
            )
            if how:
                yield running, call, how
                return

    def related(self, path: str) -> set[str]:
        """The files that scripts importing a file import, and all that those import."""
        index = self.evaluator.index
        found: set[str] = set()
        for root in index.importers(path):
            found |= index.imports(root)
        return found
