"""Loaders that take any dataset, and whether whoever calls the code around them can give them workers."""

from __future__ import annotations

from dllint.knowledge import DATA_ROOTS, DATASETS
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import NOT_FOLLOWED, Const, ExtInst, Inst, Opaque, Value
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.evaluate.conditions import is_none
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.loaders.worker_counts import Workers


class OpenLoaders:
    """Finds them; what they say of start methods holds for every dataset that no loader is seen to take."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries

    @at_rest
    def every(self) -> tuple[Loader, ...]:
        """Loaders whose dataset could not be followed: any dataset may be theirs."""
        return tuple(
            loader for loader in self.boundaries.loaders if not loader.in_tests and self._dataset_unknown(loader)
        )

    def _dataset_unknown(self, loader: Loader) -> bool:
        if "dataset" not in loader.boundary.ships:
            return False
        found, surely = self.boundaries.argument(loader, "dataset")
        values = [value for pair in found for value in self.evaluator.values(*pair)]
        # None is no dataset: something that isn't seen replaces it, as `setattr(self, name, dataset)` does.
        return not surely or any(map(self._is_unknown, values)) or all(map(is_none, values))

    def _is_unknown(self, value: Value) -> bool:
        """Whether a dataset may be any: not what calls of data give, as `data()` where `callable(data)` is asked."""
        if isinstance(value, Opaque) and value.expr.kind == "call":
            callee = value.expr.args[0]
            called = self.evaluator.values(callee, value.env)
            replaced = callee.kind != "name" and all(map(is_none, called))
            return replaced or not called or not all(map(self._is_data, called))
        return _is_unknown(value)

    def _is_data(self, value: Value) -> bool:
        """Whether something is a constant, or a dataset that surely can't be called."""
        match value:
            case ExtInst(name=name):
                return name in DATASETS
            case Inst(klass=klass):
                classes = self.evaluator.classes
                bases = classes.external_bases(klass) if classes.plain(klass) else ("",)
                return DATASETS.issuperset(bases) and classes.method(klass, "__call__") is None
        return isinstance(value, Const)

    def never_asks(self, loader: Loader) -> bool:
        """Whether a loader never has workers, whatever callers choose; a default of 0 doesn't guarantee that."""
        given = self.boundaries.argument(loader, loader.boundary.workers)[0]
        return loader.workers is Workers.NONE and all(expr.kind == "constant" for expr, _ in given)

    def may_ask(self, loader: Loader) -> bool:
        """Whether a loader that takes any dataset has workers, or callers choose: not programs by an option's 0."""
        if loader.workers is not Workers.NONE:
            return loader.asked
        given = self.boundaries.argument(loader, loader.boundary.workers)[0]
        return loader.asked and not self.never_asks(loader) and not self.boundaries.counts.rests_on_options(given)

    def methods_of_users(self, path: str) -> frozenset[str]:
        """The start methods of whoever loads a dataset of a file: in an application, its loaders that take any."""
        if self._methods and not self.boundaries.unnamed.is_installed(path):
            return self._methods
        return self.boundaries.chosen_methods.defaults(path)

    @at_rest
    def _methods(self) -> frozenset[str]:
        """The start methods of the loaders that take any dataset."""
        return frozenset().union(*(loader.methods for loader in self.every if loader.workers is not Workers.NONE))


def _is_unknown(value: Value) -> bool:
    """Whether a dataset may be any: what a function of somebody else's returns may be a dataset of the project."""
    while isinstance(value, ExtInst) and value.base is not None:
        value = value.base
    if isinstance(value, ExtInst) and value.call.kind == "call":
        return value.name.rpartition(".")[2].islower() and value.name.partition(".")[0] not in DATA_ROOTS
    return isinstance(value, NOT_FOLLOWED)
