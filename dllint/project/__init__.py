"""All modules together: what is shipped to workers, what runs there, where the workers start. Rules ask this."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from dllint.finding import Certainty, Note
from dllint.model.facts import Expr, ModuleModel
from dllint.project.escape.handles import Handles
from dllint.project.escape.library import Library
from dllint.project.escape.routes import Routes
from dllint.project.escape.shipped import Held
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Value, Values
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.execution.call_graph import Running, calls_of
from dllint.project.execution.cuda import Devices
from dllint.project.execution.guarded import GuardedNames
from dllint.project.execution.loader_starts import LoaderStarts
from dllint.project.execution.main_code import Begun, MainCode, Start
from dllint.project.execution.own_code import OwnCodes
from dllint.project.execution.passes import Passes
from dllint.project.execution.processes import Processes, Task
from dllint.project.execution.worker_code import WorkerCode, never_in_workers
from dllint.project.loaders.arguments import Given
from dllint.project.loaders.boundaries import Boundaries, Loader, known_loaders
from dllint.project.loaders.demanded import Asked
from dllint.project.loaders.launched import Launched
from dllint.project.loaders.open_loaders import OpenLoaders
from dllint.project.loaders.option_defaults import Declared
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.guards import asks_for_process, only_in_main
from dllint.project.program.index import Index
from dllint.project.program.module import Module, Site
from dllint.project.program.on_demand import OnDemand
from dllint.source import Source, Span
from dllint.start_methods import PICKLING, SPAWN
from dllint.targets import Targets

if TYPE_CHECKING:
    from dllint.documents.containers.container import Container
    from dllint.syntax.parse import Tree

RECURSION_LIMIT = 10_000

Analysis = TypeVar("Analysis")

__all__ = ["Held", "Loader", "Project", "Running", "Targets", "Task", "Workers"]


class Lists(Asked, Protocol):
    """How long the lists in files are, and what files that aren't modules say about options and data."""

    def longest(self, pattern: str, /) -> tuple[str, int, int] | None:
        """Of the files that a pattern means the one with most elements: its path, elements and bytes."""

    def data_set(self, folder: str, /) -> tuple[str, str, int] | None:
        """The largest public data set that the README nearest to a folder names: its path, the name, the items."""


class Project:
    """The questions that rules may ask. Everything is computed on first use and kept.

    Of a `former` project, what was learned of single files that are still the same is kept, too. Projects of the same
    files that only differ in their targets have one evaluator: that of the `others`, where names mean the same in both.
    """

    def __init__(
        self,
        models: Mapping[str, ModuleModel],
        targets: Targets,
        read: Callable[[str], Source],
        containers: Sequence[Container] = (),
        former: Project | None = None,
        lists: Lists | None = None,
        others: Sequence[Project] = (),
    ) -> None:
        # Following a value costs some twenty Python frames a step; MAX_DEPTH bounds the steps.
        sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))
        self.models = models
        self.targets = targets
        self._read = read
        self._sources: dict[str, Source] = {}
        self._trees: dict[str, Tree] = {}
        self._executed = OnDemand(_executed)
        if former is not None:
            self._trees = {
                path: tree for path, tree in former._trees.items() if models.get(path) is former.models[path]
            }
        same = (other.evaluator for other in others if other._means_the_same(models, targets))
        self.evaluator: Evaluator = next(same, None) or Evaluator(
            Index(models, targets.src, former.index if former is not None else ()), known_loaders(targets)
        )
        self.index: Index = self.evaluator.index
        launched = Launched(self.index, self.source)
        declared = Declared(self.evaluator, (launched,) if lists is None else (lists, launched))
        self.boundaries = Boundaries(self.evaluator, targets, declared)
        self.given = Given(self.evaluator, self.boundaries, declared)
        self.handles = Handles(self.evaluator)
        self.library = Library(self.evaluator, targets, self.boundaries.unnamed)
        self._open = OpenLoaders(self.evaluator, self.boundaries)
        self._routes = Routes(self.evaluator, self.boundaries, self.library, self._open, self._runs_per_item)
        self.main_code = MainCode(self.evaluator, self.boundaries)
        self.processes = Processes(self.evaluator, self.boundaries)
        self.own_codes = OwnCodes(self.evaluator)
        self.guarded = GuardedNames(self.evaluator, self.own_codes, lambda: self._in_children)
        self.passes = Passes(self.evaluator, self.main_code)
        self.loader_starts = LoaderStarts(self.evaluator, self.main_code)
        self.devices = Devices(self.evaluator, declared)
        self.declared = declared
        self.lists = lists
        self.containers = tuple(containers)
        self._container_files = {container.path for container in containers}
        self._analyses: dict[Callable[[Project], object], object] = {}

    def _means_the_same(self, models: Mapping[str, ModuleModel], targets: Targets) -> bool:
        """Whether expressions evaluate to the same in a project with these targets."""
        return (
            models is self.models
            and targets.src == self.targets.src
            and known_loaders(targets) == self.evaluator.loaders
        )

    def analysis(self, kind: Callable[[Project], Analysis]) -> Analysis:
        """An analysis that rules share: `project.analysis(Sharding)` makes it when it is first asked for.

        `kind` is a class that takes the project. Analyses of one family are beside its rules, in `analysis/`.
        """
        return cast("Analysis", self.evaluator.kept(self._analyses, kind, kind, self))

    # Files.

    def source(self, path: str) -> Source:
        """A file's text."""
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def tree(self, path: str) -> Tree:
        """A file's tree, made again on demand. Raises NotParsed."""
        if path not in self._trees:
            from dllint.syntax.parse import parse

            self._trees[path] = parse(self.source(path))
        return self._trees[path]

    def fixable(self, path: str) -> bool:
        """Whether LibCST prints a file back unchanged, which it does not with form feeds. Raises NotParsed."""
        return path in self._container_files or self.tree(path).faithful

    def text(self, path: str, span: Span) -> str:
        """The text of a span."""
        return self.source(path).text[span.start : span.end]

    # Loaders.

    @property
    def loaders(self) -> tuple[Loader, ...]:
        """Every loader the project makes, once per activation of the code around it."""
        return self.boundaries.loaders

    def starts_workers(self, loader: Loader) -> bool:
        """Whether a loader may get workers: not known to have none. Tests and examples prove nothing."""
        return loader.workers is not Workers.NONE

    @property
    def open_loaders(self) -> tuple[Loader, ...]:
        """Loaders whose dataset could not be followed: any dataset may be theirs."""
        return self._open.every

    def never_asks(self, loader: Loader) -> bool:
        """Whether a loader never has workers, whatever callers choose; a default of 0 doesn't guarantee that."""
        return self._open.never_asks(loader)

    def may_ask(self, loader: Loader) -> bool:
        """Whether a loader that takes any dataset has workers, or callers choose: not programs by an option's 0."""
        return self._open.may_ask(loader)

    def is_demo(self, loader: Loader) -> bool:
        """Whether a loader without workers shows what a file of an installed package has, when that is run."""
        return self._routes.is_demo(loader)

    # What is shipped.

    def shipped_by(self, loader: Loader) -> tuple[Held, ...]:
        """Everything that one loader hands to its workers."""
        return self._routes.by(loader)

    def every_route(self) -> Iterator[Held]:
        """Everything that any loader ships, those without workers too, and what users would ship."""
        return self._routes.every()

    @property
    def shipped(self) -> tuple[Held, ...]:
        """Everything that goes to workers, once per place where it is made, by its best route."""
        return self._routes.best

    def shipped_at(self, place: Callable[[Held], tuple[str, Span] | None]) -> tuple[Held, ...]:
        """What goes to workers and has a place of another kind, once per such place, by its best route."""
        return self._routes.best_at(place)

    @property
    def in_memory(self) -> tuple[Held, ...]:
        """The attributes of objects in forked workers, `__getstate__` or not: one entry per attribute and value."""
        return self._routes.in_memory

    @property
    def users_datasets(self) -> tuple[tuple[Value, Note], ...]:
        """Datasets that no loader of the project takes, with where that is seen: its users' loaders do."""
        return self._routes.users_datasets

    def place(self, value: Value) -> tuple[str, Span] | None:
        """Where a value is made."""
        return self._routes.pickled.place(value)

    # What runs in workers.

    @cached_property
    def _worker_code(self) -> WorkerCode:
        return WorkerCode(self.evaluator)

    @at_rest
    def running(self) -> tuple[Running, ...]:
        """Worker code: every function that runs in workers of a loader that may have some."""
        found: list[Running] = []
        for loader, items in self._routes.by_loader:
            if self.starts_workers(loader):
                found += self._worker_code.of(items, loader)
        return tuple(found)

    @at_rest
    def running_if_asked(self) -> tuple[Running, ...]:
        """Worker code, also of loaders that have no workers by default: an option's default is 0."""
        code = self._worker_code
        asked = ((loader, items) for loader, items in self._routes.by_loader if not self.starts_workers(loader))
        more = [item for loader, items in asked if not self.never_asks(loader) for item in code.of(items, loader)]
        return (*self.running, *more)

    @at_rest
    def _running_functions(self) -> set[tuple[str, int]]:
        return {item.function for item in self.running}

    def _runs_per_item(self, module: Module, function: int) -> bool:
        """Whether a function runs per item: in workers, or from any class's `__call__` or `__getitem__`."""
        in_workers = (module.path, function) in self._running_functions
        return in_workers or self._worker_code.is_per_item(module, function)

    @at_rest
    def users_running(self) -> tuple[Running, ...]:
        """The code that would run in the workers of the project's users."""
        return tuple(self._worker_code.of(self._routes.by_users, None))

    def executed_calls(self, running: Running) -> Sequence[Expr]:
        """The calls in worker code that do run in workers; many rules ask, of all workers' code."""
        may_run = self.evaluator.conditions.may_run
        executed = self._executed[running.env.module, running.env.function]
        return [call for call in executed if may_run(running.env, call.start)]

    def certainty(self, running: Running, at: Expr) -> Certainty:
        """How sure it is that a part of running code runs."""
        decided = self.evaluator.conditions.decided(running.env, at.start)
        return running.certainty if decided else Certainty.LIKELY

    def surely_runs(self, site: Site) -> bool:
        """Whether every condition on the way to a place is known to let it run, in one of the ways that lead there."""
        env = self.evaluator.generic(site.module, site.function)
        return self.evaluator.reached.always(env, site.expr.start)

    @at_rest
    def _in_children(self) -> frozenset[tuple[str, int]]:
        """The functions that run in workers or in processes of the project's own."""
        own = (running for task in self.processes.tasks for running in self.processes.running(task))
        return frozenset(item.function for item in (*self.running, *own))

    def started_in(self, running: Running) -> Iterator[Begun]:
        """The workers and processes that running code surely starts where it runs, in workers as well."""
        for event, begun in self.main_code.begun_by(running.env):
            module = running.env.module
            here = (module, running.env.function, event)
            asked = only_in_main(*here) or asks_for_process(*here)
            if not asked and (begun.loader is None or begun.loader.workers is Workers.SOME):
                yield begun

    def why(self, path: str, row: int, named: Callable[[str], str] = str) -> list[str]:
        """Why a line is quiet, in sentences, with paths as `named` writes them; none where nothing on it matters.

        Raises KeyError for a file that was not analyzed.
        """
        from dllint.project.why import why

        return why(self, path, row, named)

    def kept_from(self, path: str, row: int) -> set[tuple[str, Span]]:
        """Where code sets the attributes that keep what a line makes, or a container that it fills."""
        from dllint.project.why import kept_from

        return kept_from(self, path, row)

    # Values.

    def values(self, expr: Expr, env: Env) -> Values:
        """The values that an expression may have."""
        return self.evaluator.values(expr, env)

    def failing(self, held: Held, methods: frozenset[str] = PICKLING) -> frozenset[str]:
        """Those of the start methods under which a hazard shows that this route may meet."""
        loader = held.loader
        return (loader.methods if loader is not None else self._open.methods_of_users(held.path)) & methods

    def where(self, starter: Loader | Task | Begun | Start | None, failing: frozenset[str]) -> str:
        """Where what starts workers fails, in words: "on macOS, Windows and Python 3.14+", or the method it names."""
        if isinstance(starter, Task) and starter.name.startswith("mp.") and failing == {SPAWN}:
            return "on every platform, as it always spawns"
        if starter is not None and starter.chosen:
            return "with start method " + " or ".join(sorted(failing))
        platforms = starter.platforms if starter is not None else None
        targets = self.targets if platforms is None else self.targets.on(platforms)
        return targets.where(failing) or ("with start method " + " or ".join(sorted(failing)) if failing else "")


def _executed(scope: tuple[Module, int]) -> tuple[Expr, ...]:
    """The calls of a function that workers may run, whatever the activation."""
    module, function = scope
    events = (event for event in module.events(function) if not never_in_workers(module, function, event))
    return tuple(call for event in events for call in calls_of(event))
