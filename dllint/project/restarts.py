"""Iterators of loaders that are made in a loop, each for one batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.model.facts import Expr
from dllint.project.boundaries import Loader
from dllint.project.evaluate import Evaluator
from dllint.project.flow import LOOPS
from dllint.project.main_code import MainCode
from dllint.project.module import Site
from dllint.project.passes import Passes
from dllint.project.reach import Running
from dllint.project.values import Env
from dllint.source import Span

MAX_REACHED = 60


class Restart(NamedTuple):
    """An iterator of a loader that is made in a loop for one batch."""

    path: str
    call: Expr
    loop: Span
    loader: Loader


class Restarts:
    """Answers where iterators are made again."""

    def __init__(self, evaluator: Evaluator, main_code: MainCode, passes: Passes) -> None:
        self.evaluator = evaluator
        self.main_code = main_code
        self.passes = passes

    def restarts(self) -> Iterator[Restart]:
        """`next(iter(loader))`, or an iterator that gives one batch, in a loop."""
        for site in self.evaluator.index.calls_named(("iter",)):
            if len(site.expr.args) != 2:
                continue
            env = self.evaluator.generic(site.module, site.function)
            loop = self._loop_around(site)
            if loop is None or not self._for_one_batch(site, loop) or self._changes_in(site, loop):
                continue
            loader = self.passes.loader(site.expr.args[1], env)
            if loader is not None and not self._is_epoch(site, loop, env):
                yield Restart(site.module.path, site.expr, loop, loader)

    def _loop_around(self, site: Site) -> Span | None:
        """The innermost loop, when nothing between it and the call makes the call an exception."""
        for root in (site.event.value, site.event.target):
            for part in root.walk() if root is not None else ():
                if part.kind == "comprehension" and any(inner is site.expr for inner in part.args[0].walk()):
                    return part.span
        for index in site.module.enclosing(site.event.block):
            block = site.module.block(index)
            if block.kind in LOOPS:
                head = (
                    item.start for item in site.module.events(site.function) if item.value is block.test is not None
                )
                return Span(min((block.start, *head)), block.end)
            if block.kind != "with" and block.kind != "try":
                return None
        return None

    def _for_one_batch(self, site: Site, loop: Span) -> bool:
        """`next(iter(x))`, or `it = iter(x)` whose only use in the loop is one `next(it)` beside it."""
        event = site.event
        for part in event.walk():
            if part.kind == "call" and part.args[0].name == "next" and site.expr in part.args[1:2]:
                return True
        if event.kind != "assign" or event.value is not site.expr or event.target is None or not event.target.dotted:
            return False
        uses = []
        for other in site.module.events(site.function):
            for part in other.walk() if loop.start <= other.start < loop.end else ():
                if part.dotted == event.target.dotted and part is not event.target:
                    uses.append((other, part))
        if len(uses) != 1:
            return False
        other, use = uses[0]
        return other.block == event.block and any(
            part.kind == "call" and part.args[0].name == "next" and use in part.args[1:2] for part in other.walk()
        )

    def _changes_in(self, site: Site, loop: Span) -> bool:
        """Whether the loader itself is another one at each turn."""
        for part in site.expr.args[1].walk():
            if part.kind == "name":
                bindings = site.module.bindings[site.function, -1].get(part.name, ())
                if any(loop.start <= item.start < loop.end for item in bindings):
                    return True
                if any(
                    comprehension.span == loop and part.name in {x.name for x in target.walk()}
                    for comprehension, target, _ in site.module.comprehensions.get(site.function, ())
                ):
                    return True
            elif part.kind == "attribute":
                writes = site.module.attribute_writes.get(part.name, ())
                if any(loop.start <= write.event.start < loop.end for write in writes):
                    return True
            elif part.kind == "call":
                return True
        return False

    def _is_epoch(self, site: Site, loop: Span, env: Env) -> bool:
        """Whether the loop's body also passes over a loader: then a look at a batch costs little beside it."""
        entries = []
        for event in site.module.events(site.function):
            if not loop.start <= event.start < loop.end:
                continue
            if event.kind == "for" and event.value is not None:
                if event.start > loop.start and self.passes.loader(event.value, env) is not None:
                    return True
                if event.target is not None and "epoch" in "".join(x.name.lower() for x in event.target.walk()):
                    return True
            entries += [Running(edge.env, ()) for edge in self.main_code.reach.edges(env) if edge.event is event]
        for count, running in enumerate(self.main_code.reach.walk(entries)):
            if count > MAX_REACHED:
                return True
            if any(
                event.kind == "for"
                and event.value is not None
                and self.passes.loader(event.value, running.env) is not None
                for event in running.events
            ):
                return True
        return False
