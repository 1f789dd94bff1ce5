"""Loops, some of which go through loaders, and loaders that itertools keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import NOT_FOLLOWED, Env, Ext, ExtInst
from dllint.project.execution.main_code import MainCode
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.module import Site


class Loop(NamedTuple):
    """A `for` loop: its event, what it goes through, the block of its body, the names that hold each step's element."""

    env: Env
    event: Event
    iterable: Expr
    block: int
    names: frozenset[str]


class Passes:
    """Answers where the main process goes through loaders."""

    def __init__(self, evaluator: Evaluator, main_code: MainCode) -> None:
        self.evaluator = evaluator
        self.main_code = main_code

    def loader(self, expr: Expr, env: Env) -> Loader | None:
        """The first of the loaders that iterating an expression iterates."""
        return next(self.main_code.loaders_in(expr, env), None)

    def loops(self) -> Iterator[Loop]:
        """The `for` loops that fill containers, whatever they go through."""
        for module in self.evaluator.index:
            for function in range(-1, len(module.model.functions)):
                loops = [event for event in module.events(function) if event.kind == "for"]
                changed = module.mutations[function] if loops else ()
                filling = {block for item in changed for block in module.enclosing(item.event.block)}
                bodies = {id(module.block(block).test): block for block in filling}
                for event in loops:
                    block = bodies.get(id(event.value), -1)
                    if block >= 0 and event.value is not None and event.target is not None:
                        env = self.evaluator.generic(module, function)
                        yield Loop(env, event, event.value, block, batch_names(event.target, event.value))

    def replayed(self) -> Iterator[tuple[Site, str, Loader | None]]:
        """`itertools.cycle` and `tee` over a loader, by value or by a name that says loader."""
        for site in self.evaluator.index.calls_named(self._names_of("cycle", "tee")):
            env = self.evaluator.generic(site.module, site.function)
            callees = [value.name for value in self.evaluator.values(site.expr.args[0], env) if isinstance(value, Ext)]
            wanted = next((name for name in callees if name in ("itertools.cycle", "itertools.tee")), "")
            if wanted and len(site.expr.args) > 1:
                given = site.expr.args[1]
                loader = self.loader(given, env)
                if loader is not None or self._named_loader(given, env):
                    yield site, wanted, loader

    def _names_of(self, *names: str) -> list[str]:
        aliases = self.evaluator.index.aliases
        return sorted({*names, *(alias for name in names for alias in aliases.get(name, ()))})

    def _named_loader(self, expr: Expr, env: Env) -> bool:
        """Whether an expression that cannot be followed is called a loader."""
        last = expr.args[0].name if expr.kind == "subscript" else expr.name
        if not last.lower().rstrip("s0123456789_").endswith(("loader", "_dl")):
            return False
        values = self.evaluator.values(expr, env)
        return all(
            isinstance(value, NOT_FOLLOWED)
            or (isinstance(value, ExtInst) and not value.name.startswith(("builtins.", "itertools.")))
            for value in values
        )


def batch_names(target: Expr, iterable: Expr) -> frozenset[str]:
    """The names that hold the batch; the number that `enumerate` counts is none."""
    counted = any(part.kind == "call" and part.args[0].name == "enumerate" for part in iterable.walk())
    if counted and target.kind in ("tuple", "list") and len(target.args) == 2:
        target = target.args[1]
    return frozenset(part.name for part in target.walk() if part.kind == "name")
