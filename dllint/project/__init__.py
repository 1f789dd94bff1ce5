"""All modules together: what is shipped to workers, what runs there, where the workers start. Rules ask this."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from dllint.finding import Certainty, Note
from dllint.knowledge import DATA_ROOTS
from dllint.model.facts import Expr, ModuleModel
from dllint.project.escape.handles import Handles
from dllint.project.escape.library import Library
from dllint.project.escape.shipped import Held, Holder, Shipped
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import NOT_FOLLOWED, Env, ExtInst, Inst, Klass, Value, Values
from dllint.project.evaluate.conditions import is_none
from dllint.project.execution.call_graph import Running, calls_of
from dllint.project.execution.cuda import Devices
from dllint.project.execution.guarded import GuardedNames
from dllint.project.execution.loader_starts import LoaderStarts
from dllint.project.execution.main_code import Begun, MainCode
from dllint.project.execution.own_code import OwnCodes
from dllint.project.execution.passes import Passes
from dllint.project.execution.processes import Processes, Task
from dllint.project.execution.worker_code import WorkerCode, never_in_workers
from dllint.project.loaders.arguments import Given, event_of
from dllint.project.loaders.boundaries import Boundaries, Loader, known_loaders
from dllint.project.loaders.option_defaults import Declared
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.guards import asks_for_process, only_in_main, under_main_guard
from dllint.project.program.index import Index
from dllint.project.program.module import Module, Site
from dllint.project.program.roles import is_kept_aside, is_test
from dllint.source import Source, Span
from dllint.start_methods import PICKLING
from dllint.targets import Targets

if TYPE_CHECKING:
    from dllint.documents.containers.container import Container
    from dllint.syntax.parse import Tree

RECURSION_LIMIT = 10_000

Analysis = TypeVar("Analysis")

__all__ = ["Held", "Loader", "Project", "Running", "Targets", "Task", "Workers"]


Sent = tuple[Value, Holder, tuple[Note, ...]]
"""Something that the project's users send to workers: the value, how, the way to it."""


class Lists(Protocol):
    """How long the lists in files are."""

    def longest(self, pattern: str, /) -> tuple[str, int, int] | None:
        """Of the files that a pattern means the one with most elements: its path, elements and bytes."""


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
        self._executed: dict[tuple[Module, int], tuple[Expr, ...]] = {}
        if former is not None:
            self._trees = {
                path: tree for path, tree in former._trees.items() if models.get(path) is former.models[path]
            }
        same = (other.evaluator for other in others if other._means_the_same(models, targets))
        self.evaluator: Evaluator = next(same, None) or Evaluator(
            Index(models, targets.src, former.index if former is not None else ()), known_loaders(targets)
        )
        self.index: Index = self.evaluator.index
        declared = Declared(self.evaluator)
        self.boundaries = Boundaries(self.evaluator, targets, declared)
        self.given = Given(self.evaluator, self.boundaries, declared)
        self.handles = Handles(self.evaluator)
        self.library = Library(self.evaluator, targets, self.boundaries.unnamed)
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
        if kind not in self._analyses:
            self._analyses[kind] = kind(self)
        return cast("Analysis", self._analyses[kind])

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

    # Boundaries.

    @property
    def loaders(self) -> tuple[Loader, ...]:
        """Every loader the project makes, once per activation of the code around it."""
        return self.boundaries.loaders

    def starts_workers(self, loader: Loader) -> bool:
        """Whether a loader may get workers: not known to have none. Tests and examples prove nothing."""
        return loader.workers is not Workers.NONE

    @cached_property
    def open_loaders(self) -> tuple[Loader, ...]:
        """Loaders whose dataset could not be followed: any dataset may be theirs."""
        return tuple(loader for loader in self.loaders if not loader.in_tests and self._dataset_unknown(loader))

    def _dataset_unknown(self, loader: Loader) -> bool:
        if "dataset" not in loader.boundary.ships:
            return False
        found, surely = self.boundaries.argument(loader, "dataset")
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        # None is no dataset: something that isn't seen replaces it, as `setattr(self, name, dataset)` does.
        return not surely or any(map(_is_unknown, values)) or all(map(is_none, values))

    # What is shipped.

    @cached_property
    def _pickled(self) -> Shipped:
        return Shipped(self.evaluator, self.boundaries)

    @cached_property
    def _held_by_loader(self) -> list[tuple[Loader, list[Held]]]:
        return [(loader, self._pickled.by(loader)) for loader in self.loaders if not self._is_repeated(loader)]

    def _is_repeated(self, loader: Loader) -> bool:
        """Whether a test makes a loader without workers of a class of which other code makes one that may have some."""
        if not loader.in_tests or loader.instance is None or self.starts_workers(loader):
            return False
        return loader.instance.klass in self._loader_classes

    @cached_property
    def _loader_classes(self) -> frozenset[Klass]:
        """The project's own classes of loaders of which other code than its tests makes one that may have workers."""
        own = (loader.instance for loader in self.loaders if not loader.in_tests and self.starts_workers(loader))
        return frozenset(instance.klass for instance in own if instance is not None)

    def shipped_by(self, loader: Loader) -> tuple[Held, ...]:
        """Everything that one loader hands to its workers."""
        return next((tuple(items) for other, items in self._held_by_loader if other is loader), ())

    def every_route(self) -> Iterator[Held]:
        """Everything that any loader ships, those without workers too, and what users would ship."""
        for _, items in self._held_by_loader:
            yield from items
        yield from self._held_by_users

    @cached_property
    def shipped(self) -> tuple[Held, ...]:
        """Everything that goes to workers, once per place where it is made, by its best route."""
        return tuple(best_routes(self._every_shipped))

    def shipped_at(self, place: Callable[[Held], tuple[str, Span] | None]) -> tuple[Held, ...]:
        """What goes to workers and has a place of another kind, once per such place, by its best route."""
        placed = ((held, place(held)) for held in self._every_shipped)
        return tuple(best_routes([held.at(*found) for held, found in placed if found is not None]))

    @cached_property
    def _every_shipped(self) -> list[Held]:
        every = [
            held
            for loader, items in self._held_by_loader
            if self.starts_workers(loader)
            for held in items
            if not _left_in_test(held, loader)
        ]
        return [*every, *self._held_by_users]

    @cached_property
    def in_memory(self) -> tuple[Held, ...]:
        """The attributes of objects in forked workers, `__getstate__` or not: one entry per attribute and value."""
        every: dict[tuple[Holder, Note, object], Held] = {}
        for held in self._inherited():
            if held.holder.kind == "attribute":
                every.setdefault((held.holder, held.route[0], held.value), held)
        return tuple(every.values())

    def _inherited(self) -> Iterator[Held]:
        """Everything that forked workers have: walked again where pickle would leave something out."""
        pickled, forked = self._pickled, self._pickled.when_forked()
        for loader, items in self._held_by_loader:
            if self.starts_workers(loader):
                yield from items if pickled.in_full(items) else forked.by(loader)
        for sent, items in self._sent_by_users:
            yield from items if pickled.in_full(items) else forked.by_users(*sent)
        yield from self._sent_in_tests()

    @cached_property
    def _held_by_users(self) -> list[Held]:
        """The values that users of the project would ship."""
        return [*(held for _, items in self._sent_by_users for held in items), *self._sent_in_tests()]

    @cached_property
    def _sent_by_users(self) -> list[tuple[Sent, list[Held]]]:
        return [(sent, self._pickled.by_users(*sent)) for sent in self._offered()]

    def _offered(self) -> Iterator[Sent]:
        """The values that the project offers to its users, how these send them, and the route."""
        for value, note in self.users_datasets:
            yield value, Holder("argument", "dataset"), (note,)
        if not self._quiet_library:
            for value, note in self.library.returned(lambda: self._running_functions, self._runs):
                yield value, Holder("returned"), (note,)
            yield from self.library.default_lambdas()

    def _sent_in_tests(self) -> Iterator[Held]:
        """The values that tests use without workers and that the project's users send to workers: no test's own.

        An application that isn't installed has no users.
        """
        runs = any(not loader.in_tests for loader in self.loaders)
        for loader, items in self._held_by_loader:
            if loader.in_tests and not self.starts_workers(loader) and loader.instance is not None:
                yield from (held.for_users() for held in items if self._has_users(held.path, runs))

    def _has_users(self, path: str, runs: bool) -> bool:
        """Whether users may have what is in a file; `runs`: whether the project has loaders of its own."""
        if self.index.modules[path].is_test:
            return False
        return not runs or self.boundaries.unnamed.is_installed(path)

    @cached_property
    def users_datasets(self) -> tuple[tuple[Value, Note], ...]:
        """Datasets that no loader of the project takes, with where that is seen: its users' loaders do."""
        if self._quiet_library and not self.library.gives_away:
            return ()
        known = bool(self.loaders) and not self.open_loaders
        made = self.library.made(self._reached, known, self.boundaries.has_used)
        found = (*self.library.datasets(self._reached, self._runs), *made)
        return tuple(item for item in found if self.library.gives(item[0])) if self._quiet_library else found

    @property
    def _runs(self) -> bool:
        """Whether loaders of the project do something: what it has besides for nobody, an application does without."""
        return bool(self._reached) or self.boundaries.has_used or self.boundaries.has_handed_on

    @cached_property
    def _quiet_library(self) -> bool:
        """The project's own loaders take any dataset and never have workers, or always fork them."""
        own = [loader for loader in self.loaders if not loader.in_tests]
        if own and all(loader.chosen and not loader.methods & PICKLING for loader in own):
            return True
        return bool(self.open_loaders) and all(self.never_asks(loader) for loader in self.open_loaders)

    def never_asks(self, loader: Loader) -> bool:
        """Whether a loader never has workers, whatever callers choose; a default of 0 doesn't guarantee that."""
        given = self.boundaries.argument(loader, loader.boundary.workers)[0]
        return loader.workers is Workers.NONE and all(expr.kind == "constant" for expr, _ in given)

    def may_ask(self, loader: Loader) -> bool:
        """Whether a loader that takes any dataset has workers, or callers choose: not programs by an option's 0."""
        if loader.workers is not Workers.NONE:
            return loader.asked
        given = self.boundaries.argument(loader, loader.boundary.workers)[0]
        return loader.asked and not self.never_asks(loader) and not self.boundaries.counts.rests_on_options(given)

    @cached_property
    def _reached(self) -> set[Klass]:
        """Classes that some loader ships, with their bases."""
        found: set[Klass] = set()
        for loader, items in self._held_by_loader:
            if loader.in_tests and not self.starts_workers(loader):
                continue
            home = loader.path if self.is_demo(loader) else ""
            for held in items:
                if isinstance(held.value, Inst) and held.value.klass.module.path != home:
                    found |= set(self.evaluator.classes.mro(held.value.klass))
        unused = (held.value for loader in self.boundaries.unused for held in self._pickled.by(loader))
        return found | {
            klass for value in unused if isinstance(value, Inst) for klass in self.evaluator.classes.mro(value.klass)
        }

    def is_demo(self, loader: Loader) -> bool:
        """Whether a loader without workers shows what a file of an installed package has, when that is run."""
        if (
            self.starts_workers(loader)
            or loader.env.function >= 0
            or not self.boundaries.unnamed.is_installed(loader.path)
        ):
            return False
        event = event_of(loader.env, loader.call)
        return event is not None and under_main_guard(loader.env.module, -1, event)

    def place(self, value: Value) -> tuple[str, Span] | None:
        """Where a value is made."""
        return self._pickled.place(value)

    # What runs in workers.

    @cached_property
    def _worker_code(self) -> WorkerCode:
        return WorkerCode(self.evaluator)

    @cached_property
    def running(self) -> tuple[Running, ...]:
        """Worker code: every function that runs in workers of a loader that may have some."""
        found: list[Running] = []
        for loader, items in self._held_by_loader:
            if self.starts_workers(loader):
                found += self._worker_code.of(items, loader)
        return tuple(found)

    @cached_property
    def running_if_asked(self) -> tuple[Running, ...]:
        """Worker code, also of loaders that have no workers by default: an option's default is 0."""
        code = self._worker_code
        asked = ((loader, items) for loader, items in self._held_by_loader if not self.starts_workers(loader))
        more = [item for loader, items in asked if not self.never_asks(loader) for item in code.of(items, loader)]
        return (*self.running, *more)

    @cached_property
    def _running_functions(self) -> set[tuple[str, int]]:
        """Functions that run per item: in workers, or from any class's `__call__` or `__getitem__`."""
        code = self._worker_code
        return {item.function for item in (*self.running, *code.per_item(self.evaluator.classes.all_classes))}

    @cached_property
    def users_running(self) -> tuple[Running, ...]:
        """The code that would run in the workers of the project's users."""
        return tuple(self._worker_code.of(self._held_by_users, None))

    def executed_calls(self, running: Running) -> Sequence[Expr]:
        """The calls in worker code that do run in workers; many rules ask, of all workers' code."""
        module, function = running.env.module, running.env.function
        known = self._executed.get((module, function))
        if known is None:
            events = (event for event in running.events if not never_in_workers(module, function, event))
            known = self._executed[module, function] = tuple(call for event in events for call in calls_of(event))
        may_run = self.evaluator.conditions.may_run
        return [call for call in known if may_run(running.env, call.start)]

    def certainty(self, running: Running, at: Expr) -> Certainty:
        """How sure it is that a part of running code runs."""
        decided = self.evaluator.conditions.decided(running.env, at.start)
        return running.certainty if decided else Certainty.LIKELY

    def surely_runs(self, site: Site) -> bool:
        """Whether every condition on the way to a place is known to let it run, in one of the ways that lead there."""
        env = self.evaluator.generic(site.module, site.function)
        return self.evaluator.reached.always(env, site.expr.start)

    @cached_property
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

    # Values.

    def values(self, expr: Expr, env: Env) -> Values:
        """The values that an expression may have."""
        return self.evaluator.values(expr, env)

    def failing(self, held: Held, methods: frozenset[str] = PICKLING) -> frozenset[str]:
        """Those of the start methods under which a hazard shows that this route may meet."""
        loader = held.loader
        return (loader.methods if loader is not None else self._methods_of_users(held.path)) & methods

    def _methods_of_users(self, path: str) -> frozenset[str]:
        """The start methods of whoever loads a dataset of a file: in an application, its loaders that take any."""
        if self._open_methods and not self.boundaries.unnamed.is_installed(path):
            return self._open_methods
        return self.boundaries.chosen_methods.defaults(path)

    @cached_property
    def _open_methods(self) -> frozenset[str]:
        """The start methods of the loaders that take any dataset."""
        return frozenset().union(*(loader.methods for loader in self.open_loaders if self.starts_workers(loader)))

    def where(self, loader: Loader | None, failing: frozenset[str], chosen: bool = False) -> str:
        """Where it fails, in words: "on macOS, Windows and Python 3.14+"; `chosen`: the code names the start method."""
        if chosen or (loader is not None and loader.chosen):
            return "with start method " + " or ".join(sorted(failing))
        targets = self.targets if loader is None else self.targets.on(loader.platforms)
        return targets.where(failing) or ("with start method " + " or ".join(sorted(failing)) if failing else "")


def _is_unknown(value: Value) -> bool:
    """Whether a dataset may be any: what a function of somebody else's returns may be a dataset of the project."""
    while isinstance(value, ExtInst) and value.base is not None:
        value = value.base
    if isinstance(value, ExtInst) and value.call.kind == "call":
        return value.name.rpartition(".")[2].islower() and value.name.partition(".")[0] not in DATA_ROOTS
    return isinstance(value, NOT_FOLLOWED)


def _left_in_test(held: Held, loader: Loader) -> bool:
    """Whether a test makes a value, and only code that is not known to start workers gets it."""
    return loader.workers is not Workers.SOME and not loader.in_tests and is_test(held.path)


def best_routes(every: list[Held]) -> Iterator[Held]:
    """One route for each place and holder: through code in use first, a certain one, to known workers, the shortest."""
    groups: dict[tuple[str, Span, str], list[Held]] = defaultdict(list)
    for held in every:
        kind = held.holder.kind
        own = kind in ("default_factory", "owner") or (
            kind == "argument" and held.holder.name not in ("dataset", "process")
        )
        groups[held.path, held.span, kind if own else "kept"].append(held)
    for items in groups.values():
        yield min(items, key=_rank)


def _rank(held: Held) -> tuple[bool, bool, bool, bool, int]:
    workers = held.loader is not None and held.loader.workers is Workers.SOME
    aside = any(is_kept_aside(note.path) for note in held.route)
    return held.loader is None, aside, held.surely is not Certainty.CERTAIN, not workers, len(held.route)
