"""The command lines of the project that its own Python files start: launchers of experiments, sweeps over options.

In a file that starts programs, each text or list that says a command line counts, wherever it goes from there. What
tests start, users don't.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import PROGRAM_STARTERS
from dllint.model.facts import Event, Expr, ImportedName
from dllint.project.program.index import Index
from dllint.project.program.module import Module
from dllint.source import Source

if TYPE_CHECKING:
    from dllint.documents.demands import Command, Demand, Passed

_LARGEST = 1 << 16
"""Characters of a file; what is longer is data."""


class _Launcher(NamedTuple):
    """A file that starts programs: its text, and the command lines in it."""

    path: str
    text: str
    commands: list[Command]


class Launched:
    """Finds what these command lines give to options, as `Lists` does for those in other files."""

    def __init__(self, index: Index, read: Callable[[str], Source]) -> None:
        self.index = index
        self._read = read

    def demands(self, names: str) -> tuple[Demand, ...]:
        """The numbers above 0 that are given to an option by any of its names, which spaces separate."""
        from dllint.documents.demands import demanded  # most projects start no programs

        asked = frozenset(names.split())
        return tuple(
            demand
            for path, text, commands in self._launchers
            for demand in demanded(path, text, commands, asked)
            if demand.number
        )

    def passed(self, names: str) -> tuple[Passed, ...]:
        """The texts that are given to such an option."""
        from dllint.documents.demands import given

        asked = frozenset(names.split())
        return tuple(text for path, _, commands in self._launchers for text in given(path, commands, asked))

    @cached_property
    def _launchers(self) -> list[_Launcher]:
        """The files that have such command lines."""
        starting = (module for module in self.index if not module.settings and _starts_programs(module))
        found = (self._launcher(module) for module in starting if not module.is_test)
        return [launcher for launcher in found if launcher.commands]

    def _launcher(self, module: Module) -> _Launcher:
        from dllint.documents.launches import launched

        text = self._read(module.path).text
        scopes = module.scopes if len(text) <= _LARGEST else ()
        said = (expr for _, _, events in scopes for event in events for expr in _saying(event))
        commands = [command for expr in said for command in launched(text, expr.start, expr.end)]
        return _Launcher(module.path, text, commands)


def _starts_programs(module: Module) -> bool:
    if any(_is_starting(imported) for imported in module.model.imports):
        return True
    calls = (call for name in ("system", "popen") for call in module.calls.get(name, ()))
    return any(call.expr.args[0].dotted in PROGRAM_STARTERS for call in calls)


def _is_starting(imported: ImportedName) -> bool:
    names = (imported.module, f"{imported.module}.{imported.attribute}")
    return not imported.level and any(name in PROGRAM_STARTERS for name in names)


def _saying(event: Event) -> Iterator[Expr]:
    """The expressions of an event that may say a command line: the outermost texts, and lists; no docstring."""
    waiting = [expr for expr in (event.value, event.target) if expr is not None]
    if event.kind == "expr" and waiting and isinstance(waiting[0].value, str):
        return
    while waiting:
        expr = waiting.pop()
        if _is_text(expr):
            yield expr
            continue
        if expr.kind in ("list", "tuple"):
            yield expr
        waiting += [*(value for _, value in expr.keywords), *expr.args]


def _is_text(expr: Expr) -> bool:
    """Whether an expression is a text, also one that is joined: `"python " + script`, `" ".join(words)`."""
    joins = expr.args[0].name == "join" if expr.kind == "call" else (expr.kind, expr.name) == ("binop", "+")
    return joins or expr.kind == "fstring" or isinstance(expr.value, str)
