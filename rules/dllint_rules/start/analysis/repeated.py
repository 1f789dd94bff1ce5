"""Work that a script does on import, outside its guard, and that so every spawned worker of its does again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.data.per_item import steps
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.evaluate.platforms import WITH_CUDA
from dllint.project.execution.call_graph import Reach, Running
from dllint.project.execution.main_code import Begun, MainCode, Start
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module
from dllint.source import Span
from dllint.start_methods import PICKLING
from dllint_rules.start.analysis.determined import Step
from dllint_rules.start.analysis.once import CUDA, EMPTIES, Once
from dllint_rules.start.analysis.same_again import SameAgain

if TYPE_CHECKING:
    from dllint.project import Project

Effect = tuple[Running, Expr, str]
"""A call that runs on import: its code, the call, what it does, in words."""
_Place = tuple[str, Span]


class Repeated(NamedTuple):
    """A call that every spawned worker makes again, and the workers in question."""

    running: Running
    call: Expr
    what: str
    begun: Begun
    path: str
    """Where the workers start."""
    script: str
    """The main script of these workers, whose imports lead to the call."""
    surely: bool
    """Whether importing the script is known to do it: of a module, it must have parameters that may move to CUDA."""

    @property
    def imported(self) -> bool:
        """Whether it is another module's code, which the script imports."""
        return (self.running.route[-1].path if self.running.route else self.running.path) != self.script

    @property
    def on_cuda(self) -> bool:
        """Whether it happens only where there is CUDA: not on macOS."""
        return self.what.endswith(CUDA)


class RepeatedWork:
    """Answers what spawned workers do again."""

    def __init__(self, project: Project) -> None:
        self.boundaries = project.boundaries
        self.main_code = project.main_code
        self.devices = project.devices
        self.evaluator = project.main_code.evaluator
        self.reach = Reach(project.main_code.evaluator)
        self.once = Once(project)
        self._effects = AtRest(self.evaluator, self._find_all)
        self._with_cuda = AtRest(self.evaluator, self._find_with_cuda)

    def repeated(self) -> Iterator[Repeated]:
        """The calls of scripts that use CUDA, empty files or begin a run's record, once more in each worker."""
        for module in self.main_code.index:
            if module.path in self.boundaries.chosen_methods.for_python_2 or not self.main_code.may_start(module):
                continue
            guarded = [event for event in module.events(-1) if under_main_guard(module, -1, event)]
            if not guarded or module.notebook or self.main_code.index.import_statements.get(module.path):
                continue
            fatal = {_optional(module, start) for start in self.main_code.starts(module)}
            if None in fatal:
                continue  # its workers die, or start more of them
            effects = [
                effect
                for part in self._imported(module)
                for effect in self._effects[part]
                if part is module or self._always(*effect[:2]) or _place(effect) in self._with_cuda[part]
                if fatal.isdisjoint(_blocks(module, effect[0].start) if part is module else ())
            ]
            started = self._begun(module, guarded) if effects else None
            if started is not None:
                same_again = self._same_again(module, guarded)
                for running, call, what in effects:
                    if what.endswith(EMPTIES) and same_again.is_left(call, running.env):
                        continue
                    surely = self._always(running, call) and self.devices.surely(call, running.env)
                    begun = self._begun_after(running, started[1])
                    yield Repeated(running, call, what, begun, started[0], module.path, surely)

    def _begun_after(self, running: Running, begun: Begun) -> Begun:
        """The workers of a script that has done something: of no platform that lacks what goes along with it."""
        assert running.start is not None
        module = self.main_code.index.modules[running.route[-1].path if running.route else running.path]
        needs = self.boundaries.needs.beside(self.evaluator.env(module, -1), running.start)
        return self.main_code.without(begun, needs)

    def _always(self, running: Running, call: Expr) -> bool:
        """Whether importing a module surely runs a call: others look who imports them, or what is there already."""
        return _always(self.evaluator, running, call)

    @cached_property
    def _where_cuda_is(self) -> MainCode:
        """The same code where `torch.cuda.is_available()`."""
        evaluator = Evaluator(self.evaluator.index, self.evaluator.loaders, WITH_CUDA, self.evaluator.call_sites)
        return MainCode(evaluator, self.boundaries)

    def _find_with_cuda(self, module: Module) -> frozenset[_Place]:
        """The calls that use CUDA and that importing a module surely runs where there is some."""
        places = {_place(effect) for effect in self._effects[module] if effect[2].endswith(CUDA)}
        if not places:
            return frozenset()
        code = self._where_cuda_is
        return frozenset(
            (running.path, call.span)
            for running in code.running(module)
            for event in running.events
            for call in event.walk()
            if (running.path, call.span) in places and _always(code.evaluator, running, call)
        )

    def _imported(self, script: Module) -> list[Module]:
        """A script and the modules that it imports on every way, and so each of its workers, too."""
        found = {script: None}
        waiting = [script]
        while waiting:
            importer = waiting.pop()
            always = {event.start for event in importer.model.events if event.kind == "import" and event.block < 0}
            for imported in importer.model.imports:
                if imported.function < 0 and imported.span.start in always:
                    paths = self.main_code.index.targets(importer, imported)
                    new = [self.main_code.index.modules[path] for path in paths]
                    waiting += [module for module in new if module not in found]
                    found |= dict.fromkeys(new)
        return list(found)

    def _find_all(self, module: Module) -> list[Effect]:
        return list(self._find(module))

    def _find(self, module: Module) -> Iterator[Effect]:
        for running, event in self._steps(self.main_code.running(module)):
            if under_main_guard(running.env.module, running.env.function, event):
                continue
            if any(self.once.looks_first(env, step) for env, step in steps(running, event)):
                continue
            for call in event.walk():
                what = self.once.effect(call, running.env) if call.kind == "call" else ""
                if what:
                    yield running, call, what

    def _steps(self, code: Iterable[Running]) -> Iterator[Step]:
        """What running code does."""
        for running in code:
            for event in running.events:
                here = running.env.function >= 0 or event is running.start
                if here and self.evaluator.conditions.may_run(running.env, event.start):
                    yield running, event

    def _same_again(self, script: Module, guarded: list[Event]) -> SameAgain:
        """Of what a script and the modules that it imports do in each worker, too."""
        code = (step for module in self._imported(script) for step in self._steps(self.main_code.running(module)))
        again = [step for step in code if not under_main_guard(step[0].env.module, step[0].env.function, step[1])]
        return SameAgain(self.evaluator, again, lambda: self._steps(self._guarded(script, guarded)))

    def _guarded(self, script: Module, guarded: list[Event]) -> Iterator[Running]:
        """What a script runs under its guard."""
        env = self.evaluator.env(script, -1)
        return self.reach.walk(Running(env, (), start=event) for event in guarded)

    def _begun(self, module: Module, guarded: list[Event]) -> tuple[str, Begun] | None:
        """Workers that a script starts under its guard and that may be spawned."""
        for running in self._guarded(module, guarded):
            for event, begun in self.main_code.begun_by(running.env):
                here = running.env.function >= 0 or event is running.start
                if here and not running.truncated and begun.methods & PICKLING:
                    return running.path, begun
        return None


def _optional(module: Module, start: Start) -> int | None:
    """The block in which a script starts workers outside its guard if a test says so: `if args.test:`."""
    tested = (index for index in _blocks(module, start.event) if module.block(index).kind in ("if", "else", "case"))
    return None if start.surely else next(tested, None)


def _blocks(module: Module, event: Event | None) -> tuple[int, ...]:
    return tuple(module.enclosing(event.block)) if event is not None else ()


def _place(effect: Effect) -> _Place:
    running, call, _ = effect
    return running.path, call.span


def _always(evaluator: Evaluator, running: Running, call: Expr) -> bool:
    """Whether an import that leads to running code surely runs a call there."""
    return running.decided and not running.truncated and evaluator.conditions.decided(running.env, call.start)
