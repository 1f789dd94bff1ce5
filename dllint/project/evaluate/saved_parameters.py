"""Lightning's `self.hparams`: what `save_hyperparameters()` keeps of the arguments that an object is made with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr, Function
from dllint.project.evaluate.abstract_values import Env, Inst, Value

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_SAVED = frozenset({"hparams", "hparams_initial"})
_SAVE = "save_hyperparameters"


class SavedParameters:
    """Answers what such attributes hold."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def read(self, expr: Expr, env: Env) -> Iterator[Value]:
        """The values of `self.hparams.size`; nothing for what is read elsewhere, or isn't a saved parameter."""
        mapping = expr.args[0]
        if mapping.kind != "attribute" or mapping.name not in _SAVED:
            return
        for owner in self.evaluator.values(mapping.args[0], env):
            if isinstance(owner, Inst) and self.evaluator.classes.method(owner, _SAVE) is None:
                yield from self._of(owner, expr.name)

    def _of(self, owner: Inst, name: str) -> Iterator[Value]:
        """What the constructor that saves its arguments gets under a name: the nearest one counts."""
        classes = self.evaluator.classes.mro(owner.klass)
        saving = {
            (klass.module.path, klass.facts.methods["__init__"])
            for klass in classes
            if "__init__" in klass.facts.methods
            and _saves(klass.module.model.functions[klass.facts.methods["__init__"]], name)
        }
        if not saving:
            return
        for place, init in self.evaluator.activations.init_envs(owner).items():
            if place in saving:
                yield from self.evaluator.arguments.parameter(init, name)
                return


def _saves(init: Function, name: str) -> bool:
    """Whether a constructor saves a parameter: it has it, saves those of this name or all, and doesn't ignore it."""
    if not any(item.name == name and item.kind not in ("args", "kwargs") for item in init.parameters[1:]):
        return False
    calls = [
        part for event in init.events for part in event.walk() if part.kind == "call" and part.args[0].name == _SAVE
    ]
    return any(_takes(call, name) for call in calls)


def _takes(call: Expr, name: str) -> bool:
    given = call.args[1:]
    ignored = call.keyword("ignore")
    if ignored is not None and any(part.value == name for part in ignored.walk()):
        return False
    return not given or any(part.value == name for part in given)
