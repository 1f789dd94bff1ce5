"""When the workers of loaders start, in the order in which code runs: before a statement, after it, or around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dllint.model.facts import Event
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env
from dllint.project.execution.call_graph import Running
from dllint.project.execution.main_code import MainCode
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Module, Site

MAX_CALLERS = 3
"""Callers of callers that are asked what they started before a call."""

Starts = tuple[tuple[Event, Loader], ...]


class LoaderStarts:
    """Answers which loaders a piece of code starts, and when."""

    def __init__(self, evaluator: Evaluator, main_code: MainCode) -> None:
        self.evaluator = evaluator
        self.main_code = main_code
        self._known: dict[tuple[str, int], Starts] = {}

    def of(self, module: Module, function: int) -> Starts:
        """The events of a function, or of a module's own code, that start workers, themselves or by calls."""
        return self.evaluator.ask(self._known, (module.path, function), (), self._starts, module, function)

    def _starts(self, module: Module, function: int) -> Starts:
        env = self.evaluator.generic(module, function)
        return tuple((event, loader) for event, loader in self._of(env) if not loader.in_tests)

    def before_and_after(self, site: Site, callers: int = MAX_CALLERS) -> Loader | None:
        """A loader that has workers when a call runs, or one that is started after it when another was before."""
        alive = self._alive(site)
        if alive is not None:
            return alive
        earlier = [loader for event, loader in self.of(site.module, site.function) if event.start < site.event.start]
        later = self.after(site)
        if earlier and later is not None:
            return later
        return self._at_callers(site, callers, self.before_and_after)

    def around(self, site: Site, callers: int = MAX_CALLERS) -> Loader | None:
        """A loader that has workers when a call runs, in its function or where that is called."""
        return self._alive(site) or self._at_callers(site, callers, self.around)

    def after(self, site: Site) -> Loader | None:
        """A loader whose workers are started after a call, in its function."""
        events = self.of(site.module, site.function)
        return next((loader for event, loader in events if event.start > site.event.start), None)

    def _at_callers(self, site: Site, callers: int, ask: Callable[[Site, int], Loader | None]) -> Loader | None:
        if site.function < 0 or not callers:
            return None
        others = (other for other, _ in self.evaluator.call_sites.callers(site.module, site.function))
        return next((found for other in others if (found := ask(other, callers - 1)) is not None), None)

    def _alive(self, site: Site) -> Loader | None:
        """Whose workers live: the call is in the loop over the loader, or before a further use of its iterator."""
        for event, loader in self.of(site.module, site.function):
            if event.kind == "for" and _is_in_body(site.module, event, site.event):
                return loader
            if event.kind == "assign" and event.target is not None and event.start < site.event.start:
                if _is_used_later(site, event.target.dotted):
                    return loader
        return None

    def _of(self, env: Env) -> Iterator[tuple[Event, Loader]]:
        for event, begun in self.main_code.begun_by(env):
            if begun.loader is not None:
                yield event, begun.loader
        here, reach = Running(env, ()), self.main_code.reach
        for edge in reach.edges(env):
            called = reach.entered(here, edge)
            started = map(self._started_by, reach.walk([called] if called is not None else []))
            found = next(filter(None, started), None)
            if found is not None:
                yield edge.event, found

    def _started_by(self, running: Running) -> Loader | None:
        """The first loader that code starts; behind a limit, what is decided alone is known to run."""
        decided = self.evaluator.conditions.decided
        for event, begun in self.main_code.begun_by(running.env):
            if begun.loader is not None and not (running.truncated and not decided(running.env, event.start)):
                return begun.loader
        return None


def _is_in_body(module: Module, loop: Event, event: Event) -> bool:
    return any(module.block(index).test is loop.value for index in module.enclosing(event.block))


def _is_used_later(site: Site, name: str) -> bool:
    later = (event for event in site.module.events(site.function) if event.start > site.event.start)
    return bool(name) and any(part.dotted == name for event in later for part in event.walk())
