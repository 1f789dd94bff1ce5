"""What worker code reads of modules: names that must mean the same to a spawned worker, which imports them afresh."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dllint import Const, Event, Expr, Ext, ExtInst, Func, Inst, Klass, Mod, Module, Project, Value

_TOLD = ("logging.", "re.", "tqdm.")
"""What is made by these is called for what it does elsewhere."""
Name = tuple[str, str]
"""A module-level name: the file that binds it, and the name."""
Code = tuple[str, int]
"""A function: its file and its index."""


class WorkerView:
    """The functions that workers may run in a program, and the module-level names that they read.

    Where it is not known what workers are given, every function may be theirs, but for those in `main_only`.
    """

    def __init__(
        self, project: Project, program: frozenset[str], known: bool, main_only: frozenset[Code] = frozenset()
    ) -> None:
        self.project = project
        self.modules = {path: project.index.modules[path] for path in program}
        self.known = known
        self.main_only = main_only
        self.reader = "worker code" if known else "code that workers may run"
        """What reads the names, in words."""

    @cached_property
    def code(self) -> set[Code]:
        """What workers run, what that names, and the methods of every class among it."""
        if not self.known:
            every = ((path, item.index) for path, module in self.modules.items() for item in module.model.functions)
            return {code for code in every if code not in self.main_only}
        found: set[Code] = set()
        waiting = [running.function for running in self.project.running if running.function[1] >= 0]
        for held in self.project.shipped:
            if isinstance(held.value, Inst):
                waiting += self._methods(held.value.klass)
        while waiting:
            code = waiting.pop()
            if code not in found and code[0] in self.modules:
                found.add(code)
                waiting += self._named_by(*code)
        return found

    def _methods(self, klass: Klass) -> list[Code]:
        mro = self.project.evaluator.classes.mro(klass)
        return [(item.module.path, index) for item in mro for index in item.facts.methods.values()]

    def _named_by(self, path: str, function: int) -> Iterator[Code]:
        """The functions that a function has inside it or can call by their names."""
        module = self.modules[path]
        yield from ((path, item.index) for item in module.model.functions if item.parent == function)
        for name in self._global_loads(module, function):
            for value in self.project.evaluator.names.global_name(module, name) or ():
                if isinstance(value, Func):
                    yield value.module.path, value.index
                elif isinstance(value, Klass | Inst):
                    yield from self._methods(value.klass if isinstance(value, Inst) else value)

    @cached_property
    def libraries(self) -> frozenset[str]:
        """The packages of others that the files of worker code import, and those of the objects that workers get."""
        imported = (
            item.module.partition(".")[0]
            for path in {path for path, _ in self.code}
            for item in self.modules[path].model.imports
            if not item.level and self.project.index.find(path, item.module, 0) is None
        )
        sent = (held.value for held in self.project.shipped)
        given = (value.name.partition(".")[0] for value in sent if isinstance(value, (Ext, ExtInst)))
        return frozenset([*imported, *given]) - {"builtins"}

    def _global_loads(self, module: Module, function: int) -> set[str]:
        """The module's names that a function reads."""
        facts = module.model.functions[function]
        names = set(facts.loads) - (facts.bound - facts.globals)
        outer = facts.parent
        while outer >= 0:
            names -= module.model.functions[outer].bound
            outer = module.model.functions[outer].parent
        return names

    @cached_property
    def reads(self) -> dict[Name, str]:
        """The names that worker code reads, each with a function that does."""
        found: dict[Name, str] = {}
        for path, function in sorted(self.code):
            module = self.modules[path]
            reader = module.model.functions[function].qualname
            for name in self._global_loads(module, function):
                found.setdefault(self.origin(module, name), reader)
            fresh: set[str] = set()
            for event in module.events(function):
                for expr in event.walk():
                    for place in self.attribute(module, function, expr):
                        if expr.args[0].name not in fresh:
                            found.setdefault(place, reader)
                fresh |= _reloaded(event)
        return found

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names of all attributes that worker code mentions."""
        events = (event for path, function in self.code for event in self.modules[path].events(function))
        return frozenset(expr.name for event in events for expr in event.walk() if expr.kind == "attribute")

    def attribute(self, module: Module, function: int, expr: Expr) -> Iterator[Name]:
        """The name that `module.name` reads."""
        if expr.kind == "attribute" and expr.args[0].kind == "name":
            for value in self.project.values(expr.args[0], self.project.evaluator.generic(module, function)):
                if isinstance(value, Mod):
                    yield self.origin(value.module, expr.name)

    def origin(self, module: Module, name: str, depth: int = 8) -> Name:
        """The file that binds a name which a module may only import."""
        bindings = module.bindings[-1, -1].get(name, [])
        imported = bindings[0].imported if len(bindings) == 1 else None
        if imported is None or not imported.attribute or depth == 0:
            return module.path, name
        target = self.project.index.find(module.path, imported.module, imported.level)
        return self.origin(target, imported.attribute, depth - 1) if target is not None else (module.path, name)

    @cached_property
    def objects(self) -> dict[Value, Name]:
        """The objects that worker code reads by these names: what others change about them, it must see."""
        found: dict[Value, Name] = {}
        for path, name in self.reads:
            module = self.project.index.modules.get(path)
            for value in (self.project.evaluator.names.global_name(module, name) or ()) if module else ():
                told = isinstance(value, ExtInst) and value.name.startswith(_TOLD)
                if not told and not isinstance(value, (Const, Ext, Func, Klass, Mod)):
                    found.setdefault(value, (path, name))
        return found


def _reloaded(event: Event) -> set[str]:
    """The module that a statement runs again, in every case: whatever changed in it before is gone."""
    call = event.value
    if call is None or call.kind != "call" or event.block >= 0 or len(call.args) != 2:
        return set()
    return {call.args[1].name} if call.args[0].dotted in ("importlib.reload", "reload") else set()


def events_of(module: Module, function: int, start: Event | None) -> tuple[Event, ...]:
    """The events of running code: of a module's own code only the statement that is meant."""
    events = module.events(function)
    return events if function >= 0 or start is None else tuple(event for event in events if event is start)
