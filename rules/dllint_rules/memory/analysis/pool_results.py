"""Tensors that the tasks of a pool return: each comes in shared memory, and the main process keeps all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.data.growth import Growth
from dllint.project.evaluate.abstract_values import ExtInst, Func, Method, Seq, Value
from dllint.project.execution.processes import Task
from dllint.project.program.events import PROGRESS

if TYPE_CHECKING:
    from dllint.project import Project

_AT_ONCE = frozenset({"Pool.map", "Pool.starmap", "Pool.map_async", "Pool.starmap_async"})
"""Methods whose result has what all tasks return."""
_ONE_BY_ONE = frozenset({"Pool.imap", "Pool.imap_unordered", "ProcessPoolExecutor.map"})
_LISTS = frozenset({"list", "tuple", "sorted", "dict"}) | PROGRESS
_MAKERS = frozenset({
    "torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.zeros", "torch.ones", "torch.full", "torch.empty",
    "torch.rand", "torch.randn", "torch.randint", "torch.arange", "torch.linspace", "torch.stack", "torch.cat",
    "torch.Tensor", "torch.FloatTensor", "torch.LongTensor", "torchvision.io.read_image",
    "torchvision.io.decode_image", "torchvision.transforms.functional.to_tensor",
    "torchvision.transforms.functional.pil_to_tensor",
})  # fmt: skip
_AUDIO = "torchaudio.load()[]"
"""A part of what this returns: the recording, or its rate."""
_GIVE_TENSORS = frozenset({
    "float", "double", "half", "long", "int", "bool", "to", "type", "cpu", "clone", "detach", "contiguous", "view",
    "reshape", "flatten", "squeeze", "unsqueeze", "permute", "transpose", "t", "mean", "sum", "div", "mul", "add",
})  # fmt: skip
"""Methods of tensors that give tensors."""
MAX_NESTED = 2


class Kept(NamedTuple):
    """A call of a pool that collects tensors, and the function that returns them."""

    task: Task
    func: Func


class PoolResults:
    """Answers which pools' results have a tensor for each of many tasks."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.processes = project.processes
        self.growth = project.analysis(Growth)

    def kept(self) -> list[Kept]:
        """The calls that keep the results of as many tasks as there are files, lines or rows, by their places."""
        return sorted(self._kept(), key=_place)

    def _kept(self) -> Iterator[Kept]:
        for task in self.processes.tasks:
            if task.name not in _AT_ONCE and not (task.name in _ONE_BY_ONE and _is_listed(task)):
                continue
            if any(self.growth.loops(*pair) for pair in task.iterated):
                functions = (_function(value) for value in self.processes.functions(task))
                yield from (Kept(task, func) for func in functions if func is not None and self._gives_tensor(func))

    def _gives_tensor(self, func: Func) -> bool:
        return any(self._has_tensor(value, MAX_NESTED) for value in self.evaluator.calls.returned(func, None, None))

    def _has_tensor(self, value: Value, depth: int) -> bool:
        """Whether something is a tensor, or a row that has one."""
        if isinstance(value, Seq) and value.expr.kind in ("tuple", "list", "dict") and depth:
            parts = (part for pair in self.evaluator.containers.items(value) for part in self.evaluator.values(*pair))
            return any(self._has_tensor(part, depth - 1) for part in parts)
        return _is_tensor(value)


def _function(value: Value) -> Func | None:
    func = value.func if isinstance(value, Method) else value
    return func if isinstance(func, Func) else None


def _place(kept: Kept) -> tuple[str, int, str, int]:
    task, func = kept
    return task.path, task.call.start, func.module.path, func.index


def _is_tensor(value: Value | None) -> bool:
    if not isinstance(value, ExtInst):
        return False
    if value.name == _AUDIO:
        return value.call.kind == "subscript" and value.call.args[1].value == 0
    base, method = value.base, value.name.rpartition(".")[2]
    of_tensor = method in _GIVE_TENSORS and (_is_tensor(base) or (isinstance(base, ExtInst) and base.name == _AUDIO))
    return value.name in _MAKERS or of_tensor


def _is_listed(task: Task) -> bool:
    """Whether a list is made of the results, as they come: `list(tqdm(pool.imap(load, paths)))`."""
    calls = [part for event in task.env.module.events(task.env.function) for part in event.walk() if _lists(part)]
    return any(call.args[0].name not in PROGRESS and _leads_to(call.args[1], task.call) for call in calls)


def _lists(part: Expr) -> bool:
    return part.kind == "call" and part.args[0].name in _LISTS and len(part.args) > 1


def _leads_to(given: Expr, wanted: Expr) -> bool:
    return given is wanted or (_lists(given) and _leads_to(given.args[1], wanted))
