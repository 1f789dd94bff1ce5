"""What all loaders of a project send, and what its users would send: each value by its best route.

No loader of a library takes most of its datasets. Those that nothing takes are its users' to load, and so is what tests
load without workers. An application has no users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from dllint.finding import Note
from dllint.project.escape.library import Library
from dllint.project.escape.shipped import Held, Holder, Shipped
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Inst, Klass, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.loaders.arguments import event_of
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.loaders.open_loaders import OpenLoaders
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module
from dllint.project.program.roles import is_kept_aside, is_test
from dllint.source import Span
from dllint.start_methods import PICKLING

Sent = tuple[Value, Holder, tuple[Note, ...]]
"""Something that the project's users send to workers: the value, how, the way to it."""


class Routes:
    """Finds them. `per_item` tells whether a function of a file runs once an item, by what is sent."""

    def __init__(
        self,
        evaluator: Evaluator,
        boundaries: Boundaries,
        library: Library,
        open_loaders: OpenLoaders,
        per_item: Callable[[Module, int], bool],
    ) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.index = evaluator.index
        self.library = library
        self.open = open_loaders
        self.pickled = Shipped(evaluator, boundaries)
        self._per_item = per_item

    @at_rest
    def by_loader(self) -> list[tuple[Loader, list[Held]]]:
        """What each loader sends, or would send if it had workers."""
        return [
            (loader, self.pickled.by(loader)) for loader in self.boundaries.loaders if not self._is_repeated(loader)
        ]

    def _is_repeated(self, loader: Loader) -> bool:
        """Whether a test makes a loader without workers of a class of which other code makes one that may have some."""
        if not loader.in_tests or loader.instance is None or _may_start(loader):
            return False
        return loader.instance.klass in self._loader_classes

    @at_rest
    def _loader_classes(self) -> frozenset[Klass]:
        """The project's own classes of loaders of which other code than its tests makes one that may have workers."""
        own = (loader.instance for loader in self.boundaries.loaders if not loader.in_tests and _may_start(loader))
        return frozenset(instance.klass for instance in own if instance is not None)

    def by(self, loader: Loader) -> tuple[Held, ...]:
        """Everything that one loader hands to its workers."""
        return next((tuple(items) for other, items in self.by_loader if other is loader), ())

    def every(self) -> Iterator[Held]:
        """Everything that any loader ships, those without workers too, and what users would ship."""
        for _, items in self.by_loader:
            yield from items
        yield from self.by_users

    @at_rest
    def best(self) -> tuple[Held, ...]:
        """Everything that goes to workers, once per place where it is made, by its best route."""
        return tuple(best_routes(self._every_shipped))

    def best_at(self, place: Callable[[Held], tuple[str, Span] | None]) -> tuple[Held, ...]:
        """What goes to workers and has a place of another kind, once per such place, by its best route."""
        placed = ((held, place(held)) for held in self._every_shipped)
        return tuple(best_routes([held.at(*found) for held, found in placed if found is not None]))

    @at_rest
    def _every_shipped(self) -> list[Held]:
        every = [
            held
            for loader, items in self.by_loader
            if _may_start(loader)
            for held in items
            if not _left_in_test(held, loader)
        ]
        return [*every, *self.by_users]

    @at_rest
    def in_memory(self) -> tuple[Held, ...]:
        """The attributes of objects in forked workers, `__getstate__` or not: one entry per attribute and value.

        By the best route, as all that goes to workers.
        """
        every: dict[tuple[Holder, Note, object], list[Held]] = defaultdict(list)
        for held in self._inherited():
            if held.holder.kind == "attribute":
                every[held.holder, held.route[0], held.value].append(held)
        return tuple(min(items, key=_rank) for items in every.values())

    def _inherited(self) -> Iterator[Held]:
        """Everything that forked workers have: walked again where pickle would leave something out."""
        pickled, forked = self.pickled, self.pickled.when_forked()
        for loader, items in self.by_loader:
            if _may_start(loader):
                yield from items if pickled.in_full(items) else forked.by(loader)
        for sent, items in self._sent_by_users:
            yield from items if pickled.in_full(items) else forked.by_users(*sent)
        yield from self._sent_in_tests()

    @at_rest
    def by_users(self) -> list[Held]:
        """The values that users of the project would ship."""
        return [*(held for _, items in self._sent_by_users for held in items), *self._sent_in_tests()]

    @at_rest
    def _sent_by_users(self) -> list[tuple[Sent, list[Held]]]:
        return [(sent, self.pickled.by_users(*sent)) for sent in self._offered()]

    def _offered(self) -> Iterator[Sent]:
        """The values that the project offers to its users, how these send them, and the route."""
        for value, note in self.users_datasets:
            yield value, Holder("argument", "dataset"), (note,)
        if not self._quiet_library:
            for value, note in self.library.returned(self._per_item, self._runs):
                yield value, Holder("returned"), (note,)
            yield from self.library.default_lambdas(self._runs)

    def _sent_in_tests(self) -> Iterator[Held]:
        """The values that tests use without workers and that the project's users send to workers: no test's own.

        An application that isn't installed has no users.
        """
        runs = any(not loader.in_tests for loader in self.boundaries.loaders)
        for loader, items in self.by_loader:
            if loader.in_tests and not _may_start(loader) and loader.instance is not None:
                yield from (held.for_users() for held in items if self._has_users(held.path, runs))

    def _has_users(self, path: str, runs: bool) -> bool:
        """Whether users may have what is in a file; `runs`: whether the project has loaders of its own."""
        if self.index.modules[path].is_test:
            return False
        return not runs or self.boundaries.unnamed.is_installed(path)

    @at_rest
    def users_datasets(self) -> tuple[tuple[Value, Note], ...]:
        """Datasets that no loader of the project takes, with where that is seen: its users' loaders do."""
        if self._quiet_library and not self.library.gives_away:
            return ()
        known = bool(self.boundaries.loaders) and not self.open.every
        made = self.library.made(self._reached, known, self.boundaries.has_used)
        found = (*self.library.datasets(self._reached, self._runs), *made)
        return tuple(item for item in found if self.library.gives(item[0])) if self._quiet_library else found

    @property
    def _runs(self) -> bool:
        """Whether loaders of the project do something: what it has besides for nobody, an application does without."""
        return bool(self._reached) or self.boundaries.has_used or self.boundaries.has_handed_on

    @at_rest
    def _quiet_library(self) -> bool:
        """The project's own loaders take any dataset and never have workers, or always fork them."""
        own = [loader for loader in self.boundaries.loaders if not loader.in_tests]
        if own and all(loader.chosen and not loader.methods & PICKLING for loader in own):
            return True
        return bool(self.open.every) and all(self.open.never_asks(loader) for loader in self.open.every)

    @at_rest
    def _reached(self) -> set[Klass]:
        """Classes of what some loader ships, or has where it has no workers, with their bases."""
        found: set[Klass] = set()
        for loader, items in self.by_loader:
            if loader.in_tests and not _may_start(loader):
                continue
            home = loader.path if self.is_demo(loader) else ""
            for held in (*items, *self.pickled.without_workers(loader)):
                if isinstance(held.value, Inst) and held.value.klass.module.path != home:
                    found |= set(self.evaluator.classes.mro(held.value.klass))
        idle = [*self.boundaries.unused, *(loader for loader in self.boundaries.forgotten if not loader.in_tests)]
        kept = (held.value for loader in idle for held in self.pickled.by(loader))
        return found | {
            klass for value in kept if isinstance(value, Inst) for klass in self.evaluator.classes.mro(value.klass)
        }

    def is_demo(self, loader: Loader) -> bool:
        """Whether a loader without workers shows what a file of an installed package has, when that is run."""
        if _may_start(loader) or loader.env.function >= 0 or not self.boundaries.unnamed.is_installed(loader.path):
            return False
        event = event_of(loader.env, loader.call)
        return event is not None and under_main_guard(loader.env.module, -1, event)


def _may_start(loader: Loader) -> bool:
    return loader.workers is not Workers.NONE


def _left_in_test(held: Held, loader: Loader) -> bool:
    """Whether a test makes a value, and only code that is not known to start workers gets it."""
    return loader.workers is not Workers.SOME and not loader.in_tests and is_test(held.path)


def best_routes(every: list[Held]) -> Iterator[Held]:
    """One route for each place and holder: through code in use first, a certain one, to who trains, the shortest."""
    groups: dict[tuple[str, Span, str], list[Held]] = defaultdict(list)
    for held in every:
        kind = held.holder.kind
        own = kind in ("default_factory", "owner") or (
            kind == "argument" and held.holder.name not in ("dataset", "process")
        )
        groups[held.path, held.span, kind if own else "kept"].append(held)
    for items in groups.values():
        yield min(items, key=_rank)


def _rank(held: Held) -> tuple[bool, bool, tuple[bool, ...], int]:
    aside = any(is_kept_aside(note.path) for note in held.route)
    return held.loader is None, aside, held.rank, len(held.route)
