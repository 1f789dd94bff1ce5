"""What a program does once: uses CUDA, writes a file, begins a run's record; and code that looks whether it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Const, Env, Ext, ExtInst
from dllint.project.program.flow import ends_before
from dllint_rules.start.analysis.new_names import NewNames

if TYPE_CHECKING:
    from dllint.project import Project

_TRACKERS = frozenset({
    "wandb.init", "mlflow.start_run", "neptune.init", "neptune.init_run", "comet_ml.Experiment", "aim.Run",
    "torch.utils.tensorboard.SummaryWriter", "tensorboardX.SummaryWriter", "clearml.Task.init", "swanlab.init",
    "torch.utils.tensorboard.writer.SummaryWriter", "tensorboard_logger.configure", "tensorboard_logger.Logger",
})  # fmt: skip
CUDA = "initializes CUDA"
EMPTIES = "empties the file that it opens"
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


class Once:
    """Answers which calls are not to be made again, and where they are not."""

    def __init__(self, project: Project) -> None:
        self.devices = project.devices
        self.evaluator = project.evaluator
        self.new_names = NewNames(project.evaluator)

    def effect(self, call: Expr, env: Env) -> str:
        """What a call does that is not to be done twice, in words."""
        used = self.devices.use(call, env)
        if used:
            return f"`{used}` {CUDA}"
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
        return EMPTIES if all("w" in str(mode) for mode in modes) else ""

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

    def looks_first(self, env: Env, event: Event) -> bool:
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
