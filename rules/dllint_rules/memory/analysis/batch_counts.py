"""How many batches a loader gives at most, where its dataset has a known length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Inst, Value
from dllint.project.loaders.boundaries import Loader

if TYPE_CHECKING:
    from dllint.project import Project

_LENGTHS = {
    "MNIST": (60_000, 10_000), "FashionMNIST": (60_000, 10_000), "KMNIST": (60_000, 10_000),
    "QMNIST": (60_000, 60_000), "CIFAR10": (50_000, 10_000), "CIFAR100": (50_000, 10_000), "USPS": (7_291, 2_007),
}  # fmt: skip
"""The items of torchvision's data sets for training and for testing (from its documentation)."""
_DATASETS = {
    f"torchvision.datasets.{module}{name}": lengths
    for name, lengths in _LENGTHS.items()
    for module in ("", f"{'cifar' if name.startswith('CIFAR') else 'usps' if name == 'USPS' else 'mnist'}.")
}
_PARTS = frozenset({"torch.utils.data.Subset", "torch.utils.data.random_split"})
_DEPTH = 4


class BatchCounts:
    """Answers how many batches a loader gives at most."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries

    def most(self, loader: Loader) -> int | None:
        """The largest number of batches that a loader may give in a pass; None where it is not known."""
        if self.boundaries.open_ended(loader) or any(
            self.boundaries.argument(loader, name)[0] for name in ("sampler", "batch_sampler")
        ):
            return None
        datasets, surely = self.boundaries.argument(loader, "dataset")
        lengths = [self._length(expr, env) for expr, env in datasets]
        sizes, given = self.boundaries.argument(loader, "batch_size")
        known = [value.value for pair in sizes for value in self._values(*pair) if isinstance(value, Const)]
        whole = [size for size in known if isinstance(size, int) and size > 0]
        if not surely or not whole or not given or len(whole) < sum(len(self._values(*pair)) for pair in sizes):
            return None
        counts = [length for length in lengths if length is not None]
        return -(-max(counts) // min(whole)) if counts and len(counts) == len(lengths) else None

    def _values(self, expr: Expr, env: Env) -> tuple[Value, ...]:
        return self.evaluator.values(expr, env)

    def _length(self, expr: Expr, env: Env, depth: int = _DEPTH) -> int | None:
        """The length of the longest dataset that an expression may be."""
        lengths = [self._length_of(value, depth) for value in self._values(expr, env)]
        known = [length for length in lengths if length is not None]
        return max(known) if known and len(known) == len(lengths) else None

    def _length_of(self, value: Value, depth: int) -> int | None:
        match value:
            case ExtInst(name=name, call=call, env=env) if name in _DATASETS:
                return self._of_benchmark(name, call, env)
            case ExtInst(name=name, base=ExtInst() as base) if name.endswith("[]") and depth:
                return self._length_of(base, depth - 1) if base.name in _PARTS else None
            case ExtInst(name=name, call=call, env=env) if name in _PARTS and len(call.args) > 1 and depth:
                return self._length(call.args[1], env, depth - 1)
            case Inst(klass=klass) if self.evaluator.classes.method(value, "__len__") is None:
                bases = [name for name in self.evaluator.classes.external_bases(klass) if name in _DATASETS]
                return max(_DATASETS[bases[0]]) if bases else None
        return None

    def _of_benchmark(self, name: str, call: Expr, env: Env) -> int:
        train, test = _DATASETS[name]
        given, surely = self.evaluator.arguments.argument(call, env, 1, "train")
        chosen = [value for pair in given for value in self._values(*pair)]
        tests = surely and chosen and all(isinstance(value, Const) and value.value is False for value in chosen)
        return test if tests else train
