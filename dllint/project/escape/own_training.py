"""Programs that train without any loader: their own code goes through their datasets, in the process that trains."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from dllint.model.facts import Expr
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Inst, Klass
from dllint.project.program.module import Module
from dllint.project.program.unnamed import Unnamed

_LOADS = re.compile(r"(?<!down)load(er|ers)(?![a-z])|trainer$|data_?module$|dataset_?engine$", re.IGNORECASE)
"""Names of what may be, make or get a loader."""


class OwnTraining:
    """Answers which datasets are of a project that trains and has no loader. `is_dataset`: what a dataset is."""

    def __init__(self, evaluator: Evaluator, unnamed: Unnamed, is_dataset: Callable[[Klass], bool]) -> None:
        self.evaluator = evaluator
        self.unnamed = unnamed
        self._is_dataset = is_dataset

    def has(self, klass: Klass) -> bool:
        """Whether a dataset is there for such a training alone: a package that offers something has other users."""
        return self._trains and not self.unnamed.is_offered(klass.module)

    @cached_property
    def _trains(self) -> bool:
        """Whether the project trains, goes through datasets that it defines, and nothing in it is named for loaders."""
        modules = list(self.evaluator.index)
        if not any("backward" in module.calls for module in modules if not module.is_test):
            return False
        if any(map(self._names_loaders, modules)):
            return False
        return any(self._goes_through(module) for module in modules if not (module.is_test or module.notebook))

    def _names_loaders(self, module: Module) -> bool:
        """Whether something is called or imported that may load: not what a file of the project itself defines."""
        classes = {name for name in self.unnamed.names(module) if name.endswith("Loader")}
        called = {name for name in module.calls if _LOADS.search(name)}
        if not self._defined.issuperset(classes | called):
            return True
        imported = (item for item in module.model.imports if _LOADS.search(item.attribute or item.module))
        return any(not self.evaluator.index.targets(module, item) for item in imported)

    @cached_property
    def _defined(self) -> frozenset[str]:
        models = [module.model for module in self.evaluator.index]
        classes = {item.name for model in models for item in model.classes}
        return frozenset(classes.union(item.name for model in models for item in model.functions))

    def _goes_through(self, module: Module) -> bool:
        """Whether code takes the items of a dataset: in a loop, or by an index that is computed."""
        for function, _, events in module.scopes:
            env = self.evaluator.generic(module, function)
            for event in events:
                taken = [event.value] if event.kind == "for" and event.value is not None else []
                taken += [part.args[0] for part in event.walk() if part.kind == "subscript" and _is_computed(part)]
                for expr in taken:
                    if expr.dotted and any(map(self._is_made, self.evaluator.values(expr, env))):
                        return True
        return False

    def _is_made(self, value: object) -> bool:
        return isinstance(value, Inst) and self._is_dataset(value.klass)


def _is_computed(subscript: Expr) -> bool:
    return any(part.kind == "name" for part in subscript.args[1].walk())
