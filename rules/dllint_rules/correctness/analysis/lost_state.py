"""What the main process tells a dataset, and workers that live on with their own copy never hear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Inst, Method, Value
from dllint.project.execution.call_graph import Running
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module, Write
from dllint.project.program.roles import is_test

if TYPE_CHECKING:
    from dllint.project import Project

_SHARED = ("torch.", "multiprocessing.", "ctypes.")
"""What these make may be memory that workers share."""
_SETTERS = ("set_epoch", "set_step", "set_stage", "set_seed", "set_iteration")


class Unheard(NamedTuple):
    """A change of a dataset in the main process, of an attribute that worker code reads."""

    path: str
    at: Expr
    attribute: str
    read: Running
    loader: Loader


class LostState:
    """Answers which changes do not reach the workers."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self.given = project.given

    def unheard(self, loader: Loader, shipped: Iterable[Held], code: Iterable[Running]) -> Iterator[Unheard]:
        """Changes of what a loader with persistent workers ships; `code` is what its workers run."""
        if not self._persistent(loader):
            return
        insts = [held.value for held in shipped if isinstance(held.value, Inst)]
        running = list(code)
        functions = {item.function for item in running}
        for path, at, inst, attributes in (*self._told(loader, insts, functions), *self._set(loader, insts, functions)):
            for attribute in sorted(attributes):
                read = next((item for item in running if self._reads(item, inst, attribute)), None)
                if read is not None and not self._is_shared(inst, attribute):
                    yield Unheard(path, at, attribute, read, loader)
                    break

    def _persistent(self, loader: Loader) -> bool:
        items = self.given.alternatives(loader, "persistent_workers")
        return bool(items) and all(isinstance(item.value, Const) and item.value.value is True for item in items)

    def _told(
        self, loader: Loader, insts: list[Inst], workers: set[tuple[str, int]]
    ) -> Iterator[tuple[str, Expr, Inst, set[str]]]:
        """Calls of setters of the dataset, with the attributes that these set."""
        for site in self.evaluator.index.calls_named(_SETTERS):
            callee = site.expr.args[0]
            if callee.kind != "attribute" or (site.module.path, site.function) in workers or is_test(site.module.path):
                continue
            env = self.evaluator.generic(site.module, site.function)
            for inst in self._meant(callee.args[0], env, loader, insts):
                method = self.evaluator.classes.method(inst, callee.name)
                if method is not None:
                    yield site.module.path, site.expr, inst, self._written(method)

    def _set(
        self, loader: Loader, insts: list[Inst], workers: set[tuple[str, int]]
    ) -> Iterator[tuple[str, Expr, Inst, set[str]]]:
        """`loader.dataset.attribute = value` in a loop, because the workers started in an earlier round."""
        for name, writes in self.evaluator.index.outside_writes.items():
            for module, write in writes:
                if (module.path, write.function) in workers or is_test(module.path) or not _in_loop(module, write):
                    continue
                if _made_each_round(module, write):
                    continue
                env = self.evaluator.generic(module, write.function)
                for inst in self._meant(write.target.args[0], env, loader, insts):
                    yield module.path, write.target, inst, {name}

    def _meant(self, expr: Expr, env: Env, loader: Loader, insts: list[Inst]) -> Iterator[Inst]:
        """The shipped objects that an expression of the main process may be: the dataset, or `loader.dataset`."""
        if expr.kind == "attribute" and expr.name == "dataset":
            made = loader.instance.call if loader.instance is not None else loader.call
            values = self.evaluator.values(expr.args[0], env)
            if any(isinstance(value, (ExtInst, Inst)) and value.call is made for value in values):
                yield from insts[:1]
                return
        for value in self.evaluator.values(expr, env):
            yield from (inst for inst in insts if _same(inst, value))

    def _written(self, method: Method) -> set[str]:
        module, index = method.func.module, method.func.index
        receiver = module.receiver_name(index)
        return {
            event.target.name
            for event in method.func.facts.events
            if event.kind in ("assign", "augment") and event.target is not None
            if event.target.kind == "attribute" and event.target.args[0].name == receiver
        }

    def _reads(self, running: Running, inst: Inst, attribute: str) -> bool:
        """Whether running code of the object reads the attribute."""
        receiver = running.env.receiver
        if not isinstance(receiver, Inst) or receiver.klass != inst.klass:
            return False
        name = running.env.module.receiver_name(running.env.function)
        return any(
            part.kind == "attribute" and part.name == attribute and part.args[0].name == name
            for event in running.events
            if event.value is not None
            for part in event.value.walk()
        )

    def _is_shared(self, inst: Inst, attribute: str) -> bool:
        values = [
            value
            for stored in self.evaluator.attributes.stored(inst, attribute)
            for value in self.evaluator.attributes.stored_values(stored)
        ]
        return any(isinstance(value, ExtInst) and value.name.startswith(_SHARED) for value in values)


def _same(inst: Inst, value: Value) -> bool:
    """Whether two values are one object, as far as their constructions tell."""
    if not isinstance(value, Inst) or value.klass != inst.klass:
        return False
    return inst.call is None or value.call is None or inst.call is value.call


def _made_each_round(module: Module, write: Write) -> bool:
    """Whether the loop around a write rebinds the name that it goes through: `loader = build()`."""
    root = write.target
    while root.kind == "attribute":
        root = root.args[0]
    loops = (module.block(index) for index in module.enclosing(write.event.block))
    loop = next((block for block in loops if block.kind in LOOPS), None)
    bindings = module.bindings[write.function, -1].get(root.name, ())
    return loop is not None and any(
        binding.kind == "assign" and loop.start <= binding.start <= write.event.start for binding in bindings
    )


def _in_loop(module: Module, write: Write) -> bool:
    return any(module.block(index).kind in LOOPS for index in module.enclosing(write.event.block))
