"""Forked children that use CUDA, and what their parents did to CUDA before."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from dllint.finding import Note
from dllint.model.facts import Event, Expr
from dllint.project.boundaries import Boundaries
from dllint.project.devices import Devices
from dllint.project.evaluate import Evaluator
from dllint.project.main_code import MainCode
from dllint.project.module import Module, Site
from dllint.project.reach import Reach, Running
from dllint.project.values import Const, Env, ExtInst, Func, Method
from dllint.targets import FORK


class Child(msgspec.Struct, frozen=True, eq=False):
    """Code that uses CUDA in a forked process. `site` is the call that makes the process (None: a loader does)."""

    running: Running
    site: Site | None


def calls_of(event: Event) -> Iterator[Expr]:
    """Every call in an event."""
    for root in (event.value, event.target):
        for expr in root.walk() if root is not None else ():
            if expr.kind == "call":
                yield expr


class Forks:
    """Joins children to their parents."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries, devices: Devices, main_code: MainCode) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.devices = devices
        self.main_code = main_code
        self.reach = Reach(evaluator)

    def process_children(self) -> Iterator[Child]:
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
        return self.boundaries.chosen_methods.of(path)[0]

    def _users(self, func: Func, owner: object, site: Site) -> Iterator[Child]:
        env = self.evaluator.activations.activation(func, None, None, owner)  # type: ignore[arg-type]
        note = Note(site.module.path, site.expr.span, "the process is made here")
        for running in self.reach.walk([Running(env, (note,))]):
            if any(self.devices.use(call, running.env) for event in running.events for call in calls_of(event)):
                yield Child(running, site)
                return

    def before(self, child: Child) -> Iterator[tuple[Running, Expr, str]]:
        """What initialises CUDA in the parent before the child is forked."""
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
