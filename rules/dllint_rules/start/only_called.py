"""Functions of a script that its workers are never given: nothing is done with them but calls in the main process."""

from __future__ import annotations

from collections.abc import Iterator, Set

from dllint import Event, Expr, Module, Project
from dllint_rules.start.worker_view import Code

_LOOKED_UP = {"globals", "exec", "eval"}
_APPLYING = {"filter", "map"}
_GOING_THROUGH = {"enumerate", "iter", "list", "reversed", "set", "sorted", "tqdm", "tuple", "zip"}
"""Functions that go through what they are given, or give something that does."""


class OnlyCalled:
    """Looks at all that a program says of the functions of one of its files."""

    def __init__(self, project: Project, module: Module, program: frozenset[str]) -> None:
        self.project = project
        self.module = module
        self.program = program
        self.bindings = module.bindings[-1, -1]

    def mentions(self, name: str) -> Iterator[tuple[str, int]]:
        """The places of the program that read a name or an attribute."""
        for path in self.program:
            places = (part for part in _expressions(self.project.index.modules[path]) if part.name == name)
            yield from ((path, part.start) for part in places if part.kind in ("name", "attribute"))

    def along_with(self, main_only: Set[Code]) -> set[Code]:
        """The functions that run in the main process, with those that only these and the statements of the file call.

        So does `map`, where the main process goes through what it gives.
        """
        path = self.module.path
        plain = [item for item in self.module.model.functions if item.kind == "def" and item.parent == item.owner == -1]
        plain = [item for item in plain if not item.decorators and len(self.bindings.get(item.name, [])) == 1]
        if any(map(looks_up, _expressions(self.module))):
            return {*main_only}
        found, applied = {*main_only}, {expr.start for expr in self._applied()}
        while True:
            inside = [-1, *(index for where, index in found if where == path)]
            called = {start for index in inside for event in self.module.events(index) for start in _called(event)}
            allowed = {(path, start) for start in called | applied}
            said = {item.index: {*self.mentions(item.name)} for item in plain if (path, item.index) not in found}
            more = {(path, index) for index, places in said.items() if places and places <= allowed}
            if not more:
                return found
            found |= more

    def _applied(self) -> Iterator[Expr]:
        """What `map` calls for elements that the statements of the file go through."""
        tasks = [task for task in self.project.processes.tasks if task.path == self.module.path]
        waiting = [event.value for event in self.module.model.events if event.kind == "for" and event.value]
        waiting += [expr for task in tasks if task.env.function < 0 for expr, _ in task.iterated]
        passed = {expr.start for expr in waiting}
        while waiting:
            expr = waiting.pop()
            if expr.kind == "name":
                waiting += self._kept(expr.name, passed)
            elif expr.kind == "call" and self._is_known(callee := expr.args[0]):
                waiting += expr.args[1 + (callee.name in _APPLYING) :]
                yield from expr.args[1:2] if callee.name in _APPLYING else ()

    def _is_known(self, callee: Expr) -> bool:
        """Whether a function is one of Python's, or `tqdm`."""
        own = any(callee.name != "tqdm" or not item.imported for item in self.bindings.get(callee.name, []))
        return callee.kind == "name" and callee.name in _APPLYING | _GOING_THROUGH and not own

    def _kept(self, name: str, passed: Set[int]) -> Iterator[Expr]:
        """What a name is bound to, where it is bound once and nothing else is done with that: only its methods run."""
        events = self.module.model.events
        parts = (part for event in events for part in event.walk() if part.kind == "call")
        methods = {callee.args[0].start for part in parts if (callee := part.args[0]).kind == "attribute"}
        made = [event for event in events if event.kind == "assign" and event.target and event.target.name == name]
        if len(made) == len(self.bindings.get(name, [])) == 1 and made[0].value and made[0].target:
            used = {*self.mentions(name)} - {(self.module.path, made[0].target.start)}
            if used <= {(self.module.path, start) for start in passed | methods}:
                yield made[0].value


def looks_up(expr: Expr) -> bool:
    """Whether a call reads names that are not written there."""
    name = expr.args[0].name if expr.kind == "call" and expr.args[0].kind == "name" else ""
    return name in _LOOKED_UP or (name == "vars" and len(expr.args) == 1)


def _expressions(module: Module) -> Iterator[Expr]:
    """Every expression of a file, those of headers among them."""
    yield from (part for _, _, events in module.scopes for event in events for part in event.walk())
    given = [parameter.default for item in module.model.functions for parameter in item.parameters]
    given += [part for item in module.model.functions for part in item.decorators]
    for item in module.model.classes:
        given += (*item.decorators, *item.bases, *(value for _, value in item.keywords))
    yield from (part for expr in given if expr is not None for part in expr.walk())


def _called(event: Event) -> Iterator[int]:
    """Where the names begin that something calls."""
    return (part.args[0].start for part in event.walk() if part.kind == "call" and part.args[0].kind == "name")
