"""Calls of `set_start_method`: which raise, because the method is unknown, set already, or has been used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from dllint.finding import Note
from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, Ext
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module
from dllint.start_methods import ALL_METHODS, PICKLING

if TYPE_CHECKING:
    from dllint.project import Project

_SETTER = "multiprocessing.set_start_method"
_USES = frozenset({
    f"multiprocessing.{name}"
    for name in (
        "Queue", "SimpleQueue", "JoinableQueue", "Lock", "RLock", "Event", "Condition", "Semaphore",
        "BoundedSemaphore", "Barrier", "Value", "Array", "Manager", "Pool", "get_context", "get_start_method",
    )
})  # fmt: skip
"""Calls after which the default start method is settled (read in multiprocessing.context, and run)."""
_ASKS = frozenset({"get_start_method", "get_context"})


class Setting(msgspec.Struct, frozen=True, eq=False):
    """A call of `set_start_method` that raises where it is settled already: neither forced nor caught."""

    env: Env
    event: Event
    call: Expr
    methods: frozenset[str]
    """What it sets, as far as that is known."""

    @property
    def module(self) -> Module:
        return self.env.module


class StartMethodProblem(NamedTuple):
    """A setting that raises: kind is name, twice, late or again (in each worker, which runs the script too)."""

    setting: Setting
    kind: str
    what: str
    notes: tuple[Note, ...]
    surely: bool = True


class StartMethods:
    """Answers for start methods."""

    def __init__(self, project: Project) -> None:
        self.main_code = project.main_code
        self.processes = project.processes
        self.evaluator = project.main_code.evaluator
        self.index = project.main_code.index

    @at_rest
    def wrong(self) -> tuple[StartMethodProblem, ...]:
        """Every setting that raises, each once, by its first reason."""
        found = []
        for setting in self._settings(("set_start_method", "get_context")):
            problem = self._unknown(setting)
            if problem is None and setting.call.args[0].name == "set_start_method" and not self._tolerant(setting):
                problem = self._settled(setting) or self._again(setting)
            if problem is not None:
                found.append(problem)
        return tuple(found)

    def _settings(self, names: tuple[str, ...]) -> Iterator[Setting]:
        for site in self.index.calls_named(names):
            env = self.evaluator.generic(site.module, site.function)
            if self._is(site.expr, env, {f"multiprocessing.{name}" for name in names}):
                found = self.evaluator.arguments.argument(site.expr, env, 0, "method")[0]
                values = [value for pair in found for value in self.evaluator.values(*pair)]
                known = bool(values) and all(isinstance(value, Const) and value.value for value in values)
                methods = {str(value.value) for value in values if isinstance(value, Const)} if known else set()
                yield Setting(env, site.event, site.expr, frozenset(methods))

    def _is(self, call: Expr, env: Env, names: set[str] | frozenset[str]) -> bool:
        return any(isinstance(value, Ext) and value.name in names for value in self.evaluator.values(call.args[0], env))

    def _unknown(self, setting: Setting) -> StartMethodProblem | None:
        unknown = setting.methods - ALL_METHODS
        if not unknown or len(setting.methods) > 1 or self._inside_try(setting):
            return None
        return StartMethodProblem(setting, "name", f"`{min(unknown)}`", ())

    def _inside_try(self, setting: Setting) -> bool:
        module = setting.module
        return any(module.block(index).kind == "try" for index in module.enclosing(setting.event.block))

    def _tolerant(self, setting: Setting) -> bool:
        """Whether a call is forced, caught, or made only after asking for the method."""
        forced = len(setting.call.args) > 2 or any(key in ("force", "**") for key, _ in setting.call.keywords)
        module, start = setting.module, setting.event.start
        asked = any(
            expr.kind == "call" and expr.args[0].name == "get_start_method"
            for event in module.events(setting.env.function)
            if event.kind == "test" and event.start <= start
            for expr in event.walk()
        )
        return forced or asked or self._inside_try(setting)

    def _settled(self, setting: Setting) -> StartMethodProblem | None:
        """What surely settles the start method before."""
        for env, event in self._before(setting):
            for expr in event.walk():
                if expr.kind == "call" and expr is not setting.call:
                    if self._is(expr, env, {_SETTER}):
                        note = Note(env.module.path, expr.span, "it is set here before")
                        return StartMethodProblem(setting, "twice", "", (note,))
                    if self._is(expr, env, _USES) and not self._harmless(expr):
                        return self._late(setting, env, expr)
            for at in self._started(env, event):
                return self._late(setting, env, at)
        return None

    def _late(self, setting: Setting, env: Env, at: Expr) -> StartMethodProblem:
        note = Note(env.module.path, at.span, "this uses the start method, and settles it")
        return StartMethodProblem(setting, "late", at.args[0].name if at.kind == "call" else "a loop", (note,))

    def _harmless(self, call: Expr) -> bool:
        """`get_context("spawn")` and `get_start_method(allow_none=True)` settle nothing."""
        return call.args[0].name in _ASKS and (len(call.args) > 1 or bool(call.keywords))

    def _started(self, env: Env, event: Event) -> Iterator[Expr]:
        for at, begun in self.main_code.begun_by(env):
            loader = begun.loader
            if at is event and loader is not None and loader.workers is Workers.SOME:
                if loader.call.keyword("multiprocessing_context") is None:
                    yield begun.at

    def _before(self, setting: Setting) -> Iterator[tuple[Env, Event]]:
        """What surely runs before a setting: in its own code, in its module's, in those that this imports."""
        module, function = setting.module, setting.env.function
        around = set(module.enclosing(setting.event.block)) | {-1}
        for event in module.events(function):
            if event.start < setting.event.start and event.block in around:
                yield setting.env, event
        if function >= 0:
            env = self.evaluator.generic(module, -1)
            for event in module.events(-1):
                if event.block < 0 and event.start < setting.env.facts.span.start:
                    yield env, event
        yield from self._imported(module)

    def _imported(self, module: Module) -> Iterator[tuple[Env, Event]]:
        for path, statements in self.index.import_statements.items():
            if any(importer is module and item.function < 0 and item.block < 0 for importer, item in statements):
                other = self.index.modules[path]
                env = self.evaluator.generic(other, -1)
                if other is not module:
                    yield from ((env, event) for event in other.events(-1) if event.block < 0)

    def _again(self, setting: Setting) -> StartMethodProblem | None:
        """A script's own setting that its spawned workers run again, where it is settled for them."""
        module = setting.module
        if setting.env.function >= 0 or under_main_guard(module, -1, setting.event):
            return None
        if not setting.methods or setting.methods - PICKLING or self.index.import_statements.get(module.path):
            return None
        reached = self.index.imports(module.path)
        loaders = [loader for loader in self.main_code.boundaries.loaders if loader.path in reached]
        surely = any(loader.workers is Workers.SOME for loader in loaders)
        surely = surely or any(task.path in reached and task.starter is None for task in self.processes.tasks)
        if not surely and all(loader.workers is Workers.NONE for loader in loaders):
            return None
        return StartMethodProblem(setting, "again", "", (), surely)
