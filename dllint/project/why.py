"""Why a line has no finding: what is on it, the route that was tried, and where it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import DROP_STATE
from dllint.model.facts import Event, Expr
from dllint.project.data.growth import Growth
from dllint.project.escape.pickle_state import left_out
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import (
    MANY_RESULTS,
    UNKNOWN,
    Env,
    Free,
    Func,
    Inst,
    Klass,
    Method,
    Top,
    Value,
)
from dllint.project.evaluate.shapes import MAX_DERIVED, MAX_VALUES
from dllint.project.loaders.boundaries import Loader
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.events import iterated_by
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module
from dllint.source import Span
from dllint.start_methods import PICKLING

if TYPE_CHECKING:
    from dllint.project import Project

_WORKERS = {
    Workers.NONE: "has no workers: nothing is shipped",
    Workers.SOME: "has workers",
    Workers.UNKNOWN: "has a number of workers that is not known",
}
_STEPS = 3
"""How many steps of a route are listed: the last ones, which end at the loader."""


class _Arrival(NamedTuple):
    """The fate of values on the line, and the steps that lead there."""

    verb: str
    """For one value and for several, separated by a slash."""
    end: str
    steps: tuple[str, ...]

    def lines(self, values: list[str]) -> list[str]:
        """A sentence on all values that arrive like this, and a line for each step."""
        verb = self.verb.split("/")[len(values) > 1]
        return [f"{' and '.join(values)} {verb} {self.end}:", *(f"  {step}" for step in self.steps)]


class Why:
    """Explains one line of a project."""

    def __init__(self, project: Project, module: Module, row: int, named: Callable[[str], str]) -> None:
        self.project = project
        self.module = module
        self.row = row
        self._named = named
        self.source = project.source(module.path)

    def lines(self) -> list[str]:
        """One sentence for each thing on the line that could matter; an indented line is a step of a route."""
        after = dict.fromkeys((*self._unshipped(), *self._classes(), *self._main_code(), *self._limits()))
        return [*self._replaced(), *dict.fromkeys(self._loaders()), *self._shipped(), *after]

    def _here(self, span: Span) -> bool:
        return self.source.location(span.start)[0] == self.row

    def _inside(self, span: Span) -> bool:
        return self.source.location(span.start)[0] <= self.row <= self.source.location(span.end)[0]

    def _at(self, path: str, span: Span) -> str:
        return f"{self._named(path)}:{self.project.source(path).place(span.start)}"

    def _replaced(self) -> Iterator[str]:
        if any(map(self._inside, self.module.model.replaced)):
            yield "this never runs: a later definition of the same name replaces it before anything uses it"

    def _loaders(self) -> Iterator[str]:
        for loader in self.project.loaders:
            if loader.path == self.module.path and self._here(loader.span):
                yield f"`{loader.name}(...)` {_WORKERS[loader.workers]}"
                for name in loader.boundary.ships:
                    for expr, env in self.project.boundaries.argument(loader, name)[0]:
                        unknown = [value for value in self.project.values(expr, env) if isinstance(value, UNKNOWN)]
                        if unknown or not self.project.values(expr, env):
                            place = self._at(env.module.path, expr.span)
                            reasons = sorted(filter(None, map(self._limit_of, unknown))) or ["UNKNOWN"]
                            yield f"its `{name}` at {place} could not be followed: {'; '.join(dict.fromkeys(reasons))}"
                env = loader.env
                beyond = self.project.boundaries.told_apart.of(env.module, env.function).truncated
                if beyond is not None:
                    yield f"{beyond.reason}: nothing behind it is certain"

    def _limit_of(self, value: Value) -> str:
        """The limit because of which a value is not known, if it is one."""
        if value == MANY_RESULTS:
            return f"it is what libraries give for their own results in more than {MAX_DERIVED} ways"
        if isinstance(value, Top):
            return f"it has more than {MAX_VALUES} values, or they come and go without end"
        if not isinstance(value, Free):
            return ""
        limit = self.project.evaluator.arguments.limit(value.module, value.function)
        return limit.reason if limit is not None else ""

    def _limits(self) -> Iterator[str]:
        """The limits that code on the line has met: what is found behind them is never certain."""
        for running in (*self.project.running, *self.project.users_running):
            if running.truncated is None or running.path != self.module.path or running.env.function < 0:
                continue
            if self._inside(running.env.facts.span):
                yield f"{running.truncated.reason}: nothing behind it is certain"

    def _shipped(self) -> Iterator[str]:
        arrivals: dict[_Arrival, dict[str, None]] = {}
        ended: dict[str, None] = {}
        for held in self.project.every_route():
            if held.path == self.module.path and self._here(held.span):
                text = self.project.text(held.path, held.span).splitlines()[0][:60]
                arrivals.setdefault(self._arrival(held), {})[f"`{text}`"] = None
                if held.truncated is not None:
                    ended[f"`{text}`: {held.truncated.reason}"] = None
        for arrival, values in arrivals.items():
            yield from arrival.lines(list(values))
        yield from ended

    def _arrival(self, held: Held) -> _Arrival:
        steps = tuple(f"{note.text} ({self._at(note.path, note.span)})" for note in held.route[-_STEPS:])
        loader = held.loader
        if loader is None:
            return _Arrival("is/are", "shipped only by users of this project", steps)
        if loader.workers is Workers.NONE:
            end = f"the `{loader.name}` at {self._at(loader.path, loader.span)}, which starts no workers"
            return _Arrival("reaches/reach", end + self._unlike_others(loader), steps[:-1])
        if not loader.methods & PICKLING:
            return _Arrival("is/are", "shipped, but workers are started by fork here, which pickles nothing", steps)
        return _Arrival("is/are", "shipped to workers", steps)

    def _unlike_others(self, loader: Loader) -> str:
        """Which call of the function around a loader gives it no workers, where another call does."""
        env, place = loader.env, (loader.path, loader.span)
        others = (other.workers for other in self.project.loaders if (other.path, other.span) == place)
        if env.call is None or env.caller is None or Workers.SOME not in others:
            return ""
        return f" as called at {self._at(env.caller.module.path, env.call.span)}"

    def _unshipped(self) -> Iterator[str]:
        shipped = {(held.path, held.span) for held in self.project.every_route()}
        for function, _, events in self.module.scopes:
            for event in events:
                for root in (event.value, event.target):
                    for expr in root.walk() if root is not None else ():
                        if expr.kind == "lambda" and self._here(expr.span):
                            if (self.module.path, expr.span) not in shipped:
                                yield self._consumer(function, event, expr)

    def _consumer(self, function: int, event: Event, wanted: Expr) -> str:
        """A sentence on the call or target that takes a lambda that nothing ships."""
        holder = None
        for root in (event.value, event.target):
            for expr in root.walk() if root is not None else ():
                if expr.kind == "call" and any(
                    part is wanted for part in (*expr.args[1:], *(value for _, value in expr.keywords))
                ):
                    holder = expr
        if holder is not None:
            text = self.project.text(self.module.path, holder.args[0].span)
            limits = sorted(self._limits_of_call(holder, self.project.evaluator.generic(self.module, function)))
            ended = limits[0] if limits else "no route from there to something that is shipped was found"
            return f"`lambda` is given to `{text}(...)`: {ended}"
        target = self.project.text(self.module.path, event.target.span) if event.target is not None else ""
        kept = f" kept as `{target}`" if target else ""
        return f"`lambda`{kept}: no loader, dataset or transform that is shipped was found to keep it"

    def _limits_of_call(self, call: Expr, env: Env) -> Iterator[str]:
        """The limits because of which what a call passes is not followed."""
        for callee in self.project.evaluator.calls.callees(call, env):
            func = callee.func if isinstance(callee, Method) else callee
            if isinstance(func, Func):
                limit = self.project.boundaries.told_apart.of(func.module, func.index).truncated
                limit = limit or self.project.evaluator.arguments.limit(func.module, func.index)
                if limit is not None:
                    yield limit.reason

    def _classes(self) -> Iterator[str]:
        instances = [held for held in self.project.every_route() if isinstance(held.value, Inst)]
        instances.sort(key=_workers)
        reached = {held.value.klass: held for held in instances if isinstance(held.value, Inst)}
        for item in self.module.model.classes:
            if not self._inside(item.span):
                continue
            klass = self.project.evaluator.klass(self.module, item.index)
            yield from self._class(klass, reached.get(klass))

    def _class(self, klass: Klass, held: Held | None) -> Iterator[str]:
        name = klass.facts.name
        custom = [item for item in DROP_STATE if self.project.evaluator.classes.method(klass, item) is not None]
        dropped = left_out(self.project.evaluator, klass)
        if dropped:
            yield f"`{name}` leaves {', '.join(f'`{item}`' for item in sorted(dropped))} out of its pickle"
        elif custom:
            yield f"`{name}` decides by `{custom[0]}` what is pickled: its attributes are not judged"
        if held is not None and held.loader is not None:
            place = self._at(held.loader.path, held.loader.span)
            verb = "reaches" if held.loader.workers is Workers.NONE else "is shipped by"
            yield f"`{name}` {verb} the loader at {place}, which {_WORKERS[held.loader.workers]}"
        elif held is not None:
            yield f"`{name}` is shipped by no loader of this project, only by its users"
        elif not custom:
            dataset = "a dataset that" if self.project.library.is_dataset(klass) else "not known to be a dataset, and"
            yield f"`{name}` is {dataset} no loader in this project is seen to ship"

    def _main_code(self) -> Iterator[str]:
        for event in self.module.model.events:
            if self._here(Span(event.start, event.end)) and list(iterated_by(event)):
                env = self.project.evaluator.env(self.module, -1)
                for expr in iterated_by(event):
                    found = list(self.project.main_code.loaders_in(expr, env))
                    if found and under_main_guard(self.module, -1, event):
                        where = "in a notebook" if self.module.notebook else "under the main guard"
                        yield f"starts workers {where}: spawned workers do not run it again"
                    elif not found:
                        yield f"`{self.project.text(self.module.path, expr.span)}` is not seen to be a loader"


def _workers(held: Held) -> int:
    """Orders what is shipped by how much is known to happen to it: users, no workers, unknown, workers."""
    order = (None, Workers.NONE, Workers.UNKNOWN, Workers.SOME)
    return order.index(held.loader.workers if held.loader else None)


def why(project: Project, path: str, row: int, named: Callable[[str], str]) -> list[str]:
    """The reasons for one line. Raises KeyError for a file that is not part of the analysis.

    `named` says how the path of a file is written.
    """
    return Why(project, project.index.modules[path], row, named).lines()


def kept_from(project: Project, path: str, row: int) -> set[tuple[str, Span]]:
    """Where code sets the attributes that keep what a line makes, or a container that it fills: findings are there."""
    source, growth = project.source(path), project.analysis(Growth)

    def is_here(start: int, end: int) -> bool:
        return source.location(start)[0] <= row <= source.location(end)[0]

    def is_from_here(held: Held) -> bool:
        made = held.path == path and is_here(held.span.start, held.span.end)
        return made or any(
            filling.env.module.path == path and is_here(filling.event.start, filling.event.end)
            for filling in growth.fillings(held.value)
        )

    in_file = [held for held in project.in_memory if held.route[0].path == path]
    kept = {held.holder for held in in_file if is_from_here(held)}
    return {(path, held.route[0].span) for held in in_file if held.holder in kept}
