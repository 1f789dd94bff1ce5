"""Iterators of loaders that are made in a loop, each for one batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Block, Expr
from dllint.project.evaluate.abstract_values import Env
from dllint.project.execution.call_graph import TOO_MANY_FUNCTIONS, Running
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Site
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_ITEM_METHODS = frozenset({"__getitem__", "__next__"})
MAX_EVERY = 20
"""What is done once in so many turns of a loop is still done often."""


class Restart(NamedTuple):
    """An iterator of a loader that is made in a loop for one batch."""

    path: str
    call: Expr
    loop: Span
    loader: Loader
    method: str = ""
    """The method that is asked for items, where that is what runs the call again: no loop."""


class Restarts:
    """Answers where iterators are made again."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.main_code = project.main_code
        self.passes = project.passes

    def restarts(self) -> Iterator[Restart]:
        """`next(iter(loader))`, `next(enumerate(loader))`, or an iterator that gives one batch, in a loop."""
        for site in self.evaluator.index.calls_named(("enumerate", "iter")):
            if len(site.expr.args) != 2 and not _enumerates(site.expr):
                continue
            env = self.evaluator.generic(site.module, site.function)
            loop = self._repeats(site)
            if loop is None or not self._for_one_batch(site, loop):
                continue
            loader = self.passes.loader(site.expr.args[1], env)
            if loader is not None and not self._is_epoch(site, loop, env):
                facts = site.module.function_at(site.function)
                method = facts.name if facts is not None and facts.span == loop else ""
                yield Restart(site.module.path, site.expr, loop, loader, method)

    def _repeats(self, site: Site) -> Span | None:
        """What runs a call again and again, on the same loader: a loop, or whoever asks an object for its items."""
        loop = self._loop_around(site)
        if loop is not None:
            return None if self._changes_in(site, loop) else loop
        facts = site.module.function_at(site.function)
        asked = facts is not None and facts.owner >= 0 and facts.name in _ITEM_METHODS and site.event.block < 0
        return facts.span if facts is not None and asked else None

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
            if block.kind not in ("with", "try") and not _is_frequent(block):
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
            # Whatever may run counts, decided or not: an epoch keeps the rule quiet.
            entries += [Running(edge.env, ()) for edge in self.main_code.reach.edges(env) if edge.event is event]
        return any(self._passes_over_loader(running) for running in self.main_code.reach.walk(entries))

    def _passes_over_loader(self, running: Running) -> bool:
        if running.truncated is TOO_MANY_FUNCTIONS:
            return True
        loops = (event.value for event in running.events if event.kind == "for" and event.value is not None)
        return any(self.passes.loader(value, running.env) is not None for value in loops)


def _is_frequent(block: Block) -> bool:
    """`if step % 10 == 0:` is no exception."""
    test = block.test if block.kind == "if" else None
    if test is None or test.kind != "compare" or test.name != "==" or test.args[0].kind != "binop":
        return False
    remainder = test.args[0]
    every = remainder.args[1].value
    return remainder.name == "%" and isinstance(every, int) and every <= MAX_EVERY


def _enumerates(call: Expr) -> bool:
    """Whether a call is `enumerate(x)`, `enumerate(x, 1)`: its first batch starts the workers, too."""
    return call.args[0].name == "enumerate" and len(call.args) in (2, 3)
