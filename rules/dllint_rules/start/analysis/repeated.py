"""Work that a script does on import, outside its guard, and that so every spawned worker of its does again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.data.per_item import steps
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst
from dllint.project.evaluate.platforms import WITH_CUDA
from dllint.project.execution.call_graph import Reach, Running
from dllint.project.execution.main_code import Begun, MainCode
from dllint.project.program.flow import ends_before
from dllint.project.program.guards import under_main_guard
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand
from dllint.source import Span
from dllint.start_methods import PICKLING
from dllint_rules.start.analysis.new_names import NewNames

if TYPE_CHECKING:
    from dllint.project import Project

_TRACKERS = frozenset({
    "wandb.init", "mlflow.start_run", "neptune.init", "neptune.init_run", "comet_ml.Experiment", "aim.Run",
    "torch.utils.tensorboard.SummaryWriter", "tensorboardX.SummaryWriter", "clearml.Task.init", "swanlab.init",
    "torch.utils.tensorboard.writer.SummaryWriter",
})  # fmt: skip
_CUDA = "initializes CUDA"
_EXISTENCE = frozenset({"exists", "lexists", "isfile", "is_file", "isdir", "is_dir", "listdir", "glob", "getsize"})
_MISSING = frozenset({"FileNotFoundError", "OSError", "IOError"})
"""What a file that isn't there raises."""
_OPENERS: dict[str, tuple[int | None, str, str]] = {
    "builtins.open": (1, "mode", "file"), "gzip.open": (1, "mode", "filename"), "h5py.File": (1, "mode", "name"),
    "logging.FileHandler": (1, "mode", "filename"), "logging.basicConfig": (None, "filemode", "filename"),
}  # fmt: skip
"""What opens files, the parameter that says whether it empties them, and the one that names them."""
_APPENDING = frozenset({"logging.FileHandler", "logging.basicConfig"})
"""What opens files to append to them, unless its mode says otherwise."""
_MAKERS = {"os.mkdir": "path", "os.makedirs": "name"}
"""What makes folders, and the parameter that names them."""


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
        return self.what.endswith(_CUDA)


class RepeatedWork:
    """Answers what spawned workers do again."""

    def __init__(self, project: Project) -> None:
        self.boundaries = project.boundaries
        self.main_code = project.main_code
        self.devices = project.devices
        self.evaluator = project.main_code.evaluator
        self.reach = Reach(project.main_code.evaluator)
        self.new_names = NewNames(project.main_code.evaluator)
        self._effects: OnDemand[Module, list[Effect]] = OnDemand(lambda module: list(self._find(module)))
        self._with_cuda = OnDemand(self._find_with_cuda)

    def repeated(self) -> Iterator[Repeated]:
        """The calls of scripts that use CUDA, empty files or begin a run's record, once more in each worker."""
        for module in self.main_code.index:
            if module.path in self.boundaries.chosen_methods.for_python_2 or not self.main_code.may_start(module):
                continue
            guarded = [event for event in module.events(-1) if under_main_guard(module, -1, event)]
            if not guarded or module.notebook or self.main_code.index.import_statements.get(module.path):
                continue
            if any(self.main_code.starts(module)):
                continue  # its workers die, or start more of them
            effects = [
                effect
                for part in self._imported(module)
                for effect in self._effects[part]
                if part is module or self._always(*effect[:2]) or _place(effect) in self._with_cuda[part]
            ]
            started = self._begun(module, guarded) if effects else None
            if started is not None:
                for running, call, what in effects:
                    surely = self._always(running, call) and self.devices.surely(call, running.env)
                    yield Repeated(running, call, what, started[1], started[0], module.path, surely)

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
        places = {_place(effect) for effect in self._effects[module] if effect[2].endswith(_CUDA)}
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

    def _find(self, module: Module) -> Iterator[Effect]:
        for running in self.main_code.running(module):
            for event in running.events:
                if running.env.function < 0 and event is not running.start:
                    continue
                if under_main_guard(running.env.module, running.env.function, event):
                    continue
                if not self.evaluator.conditions.may_run(running.env, event.start):
                    continue
                if any(self._looks_first(env, step) for env, step in steps(running, event)):
                    continue
                for call in event.walk():
                    what = self._effect(call, running.env) if call.kind == "call" else ""
                    if what:
                        yield running, call, what

    def _effect(self, call: Expr, env: Env) -> str:
        """What a call does that is not to be done twice, in words."""
        used = self.devices.use(call, env)
        if used:
            return f"`{used}` {_CUDA}"
        for value in self.evaluator.values(call.args[0], env):
            if isinstance(value, Ext) and value.name in _TRACKERS:
                return f"`{value.name.rpartition('.')[2]}` begins a record of its own"
            if isinstance(value, Ext) and value.name in _OPENERS:
                written = self._written(value.name, call, env)
                if written:
                    return f"`{value.name.rpartition('.')[2]}` {written}"
        if self._makes_new(call, env):
            return f"`{call.args[0].name}` makes a folder that has another name each time"
        return ""

    def _written(self, name: str, call: Expr, env: Env) -> str:
        """What a call does to a file that it opens, in words: workers may append to a shared one on purpose."""
        position, parameter, named = _OPENERS[name]
        if any(part.name == "devnull" for arg in call.args[1:2] for part in arg.walk()):
            return ""
        found = self.evaluator.arguments.argument(call, env, position, parameter)[0]
        modes = [value.value for pair in found for value in self.evaluator.values(*pair) if isinstance(value, Const)]
        modes = modes or (["a"] if name in _APPENDING and not found else [])
        if not modes or not all(isinstance(mode, str) and set(mode) & set("wax") for mode in modes):
            return ""
        if self._is_new(call, env, None if position is None else 0, named):
            return "opens a file that has another name each time"
        return "empties the file that it opens" if all("w" in str(mode) for mode in modes) else ""

    def _makes_new(self, call: Expr, env: Env) -> bool:
        """Whether a call makes a folder that the first process has not made: it would have another name there."""
        callee = call.args[0]
        if callee.kind == "attribute" and callee.name == "mkdir" and self.new_names.is_new(callee.args[0], env):
            return True
        names = [value.name for value in self.evaluator.values(callee, env) if isinstance(value, Ext)]
        return any(name in _MAKERS and self._is_new(call, env, 0, _MAKERS[name]) for name in names)

    def _is_new(self, call: Expr, env: Env, position: int | None, parameter: str) -> bool:
        found = self.evaluator.arguments.argument(call, env, position, parameter)[0]
        return bool(found) and all(self.new_names.is_new(*pair) for pair in found)

    def _begun(self, module: Module, guarded: list[Event]) -> tuple[str, Begun] | None:
        """Workers that a script starts under its guard and that may be spawned."""
        env = self.evaluator.env(module, -1)
        for running in self.reach.walk(Running(env, (), start=event) for event in guarded):
            for event, begun in self.main_code.begun_by(running.env):
                here = running.env.function >= 0 or event is running.start
                if here and not running.truncated and begun.methods & PICKLING:
                    return running.path, begun
        return None

    def _looks_first(self, env: Env, event: Event) -> bool:
        """Whether code runs only where its work isn't done yet, and so in the first process.

        `if not os.path.exists(path):` around it, `if os.path.exists(path): return` above it, or a handler of the error
        that a missing file raises.
        """
        module, function = env.module, env.function
        blocks = map(module.block, module.enclosing(event.block))
        caught = (block.test for block in blocks if block.kind == "except" and block.test is not None)
        ends = ends_before(module, function, event.start, module.ending[function])
        return (
            any(part.name in _MISSING for kinds in caught for part in kinds.walk())
            or any(self._is_there(*test, env) is not None for test in module.tests_around[event.block])
            or any(self._is_there(*test, env) for end, tests in ends if end.kind != "assert" for test in tests)
        )

    def _is_there(self, test: Expr, holds: bool, env: Env) -> bool | None:
        """Whether the outcome of a test says that something is there already; None: it doesn't ask."""
        if test.kind == "unary" and test.name == "not":
            return self._is_there(test.args[0], not holds, env)
        if test.kind == "boolop":
            answers = {self._is_there(part, holds, env) for part in test.args} - {None}
            return True in answers if answers else None
        parts = list(test.walk())
        known = not any(self._asks_for_new(part, env) for part in parts)
        return holds if known and any(self._asks_for_it(part, env) for part in parts) else None

    def _asks_for_it(self, part: Expr, env: Env) -> bool:
        values = self.evaluator.values(part, env) if part.kind in ("name", "call") else ()
        answers = (value.name.rpartition(".")[2] for value in values if isinstance(value, ExtInst))
        return part.name in _EXISTENCE or any(name in _EXISTENCE for name in answers)

    def _asks_for_new(self, part: Expr, env: Env) -> bool:
        """Whether a part of a test asks for what has another name in each process, and so is never there."""
        if part.kind != "call" or part.args[0].name not in _EXISTENCE:
            return False
        return any(self.new_names.is_new(asked, env) for asked in (*part.args[0].args, *part.args[1:]))


def _place(effect: Effect) -> _Place:
    running, call, _ = effect
    return running.path, call.span


def _always(evaluator: Evaluator, running: Running, call: Expr) -> bool:
    """Whether an import that leads to running code surely runs a call there."""
    return running.decided and not running.truncated and evaluator.conditions.decided(running.env, call.start)
