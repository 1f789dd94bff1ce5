"""What a process only has where nothing starts it: `if debug: self.start = lambda: None; self.clean = lambda x: x`.

An attribute of the object hides the method of its name, so `process.start()` calls what the constructor has put there.
"""

from __future__ import annotations

from dllint.knowledge import PROCESS_CLASSES
from dllint.project.evaluate import Answer, Evaluator
from dllint.project.evaluate.abstract_values import Env, Ext, Func, Inst, Klass, Value
from dllint.project.evaluate.at_rest import AtRest
from dllint.project.program.events import leaves
from dllint.project.program.module import JUMPS, Module, Site, Write


class NeverStarted:
    """Answers which writes to a process leave it with a `start` that starts nothing."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._hiding = AtRest(self.evaluator, self._hiding_start)

    def has(self, inst: Inst, write: Write, env: Env) -> bool:
        """Whether a process has what is written only where its own `start` hides the library's."""
        module, around = env.module, {-1, *env.module.enclosing(write.event.block)}
        return any(
            where is module and hiding.function == write.function and hiding.event.block in around
            and _follows(module, hiding, write)
            for hiding, where in self._hiding[inst]
        )  # fmt: skip

    def _hiding_start(self, inst: Inst) -> tuple[tuple[Write, Module], ...]:
        """The writes of the constructor to `start`, if each of them leaves a function that calls nothing."""
        if self.evaluator.classes.is_a(inst.klass, PROCESS_CLASSES) is not Answer.YES:
            return ()
        found = []
        inits = self.evaluator.activations.init_envs(inst).values()
        for stored in self.evaluator.attributes.stored(inst, "start"):
            write, _, env = stored
            values = self.evaluator.attributes.stored_values(stored)
            if write is None or write.event.kind != "assign" or env not in inits or not all(map(_is_idle, values)):
                return ()
            if values:
                found.append((write, env.module))
        return () if found and self._is_started_by_class(inst) else tuple(found)

    def _is_started_by_class(self, inst: Inst) -> bool:
        """Whether code calls the method whatever the object has: `super().start()`, `Process.start(worker)`."""
        classes = {*self.evaluator.classes.mro(inst.klass), *self.evaluator.classes.subclasses(inst.klass)}
        return any(self._is_of_class(site, classes) for site in self.evaluator.index.calls_named(("start",)))

    def _is_of_class(self, site: Site, classes: set[Klass]) -> bool:
        callee = site.expr.args[0]
        if callee.kind != "attribute":
            return False
        base = callee.args[0]
        if base.kind == "call" and base.args[0].name == "super":
            owner = site.module.method_owner(site.function)
            return owner >= 0 and self.evaluator.klass(site.module, owner) in classes
        values = self.evaluator.values(base, self.evaluator.generic(site.module, site.function))
        return any(value in classes or (isinstance(value, Ext) and value.name in PROCESS_CLASSES) for value in values)


def _follows(module: Module, hiding: Write, write: Write) -> bool:
    """Whether `start` is hidden already, or as soon as something else may use the object or leave the constructor."""
    own = module.receiver_name(hiding.function)
    for event in module.events(hiding.function):
        if event.start >= hiding.event.start:
            continue
        calls = [part for part in event.walk() if part.kind == "call"]
        if any(part.args[0].name == "start" for part in calls):
            return False
        if event.start >= write.event.start and (
            leaves(event) or event.kind in JUMPS or any(part.name == own for call in calls for part in call.walk())
        ):
            return False
    return True


def _is_idle(value: Value) -> bool:
    """Whether a value is a function that calls nothing."""
    return isinstance(value, Func) and not any(
        part.kind == "call" for event in value.facts.events for part in event.walk()
    )
