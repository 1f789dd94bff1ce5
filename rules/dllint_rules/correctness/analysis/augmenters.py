"""imgaug's augmenters: they draw from a generator of imgaug's own, which torch doesn't seed in workers.

All augmenters share one, made when the first augmenter is (read in `imgaug/random.py` of imgaug 0.4). Forked workers
copy it; for spawned ones it is pickled with the augmenter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, Ext, ExtInst, Func, Method, Value
from dllint.project.execution.call_graph import Running
from dllint.project.loaders.boundaries import Loader

if TYPE_CHECKING:
    from dllint.project import Project

_PACKAGE = "imgaug.augmenters."
_SEEDERS = frozenset({"imgaug.seed", "imgaug.random.seed", "imgaug.imgaug.seed"})
_SEEDED_BY = ("seed", "random_state")
_DRAWING = frozenset({
    "Sometimes", "SomeOf", "OneOf", "RandAugment", "Fliplr", "Flipud", "Dropout", "CoarseDropout", "Dropout2d",
    "AdditiveGaussianNoise", "SaltAndPepper", "CoarseSaltAndPepper", "ElasticTransformation", "PiecewiseAffine",
    "PerspectiveTransform", "ChannelShuffle", "RandomColorsBinaryImageColorizer", "Rain", "Snowflakes", "Fog", "Clouds",
    "CropToFixedSize", "PadToFixedSize", "Cutout",
})  # fmt: skip
"""Augmenters that draw whatever they are given, but for a probability of 1."""


class Augmenters:
    """Answers which values are augmenters that draw, and who seeds imgaug in workers."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries
        self._drawing: dict[Value, bool] = {}

    def draws(self, value: Value) -> bool:
        """Whether a value is an augmenter without a seed of its own that surely draws something."""
        return self.evaluator.ask(self._drawing, value, False, self._draws, value)

    def _draws(self, value: Value) -> bool:
        if not isinstance(value, ExtInst) or not _is_augmenter(value):
            return False
        call, name = value.call, value.name.rpartition(".")[2]
        if any(call.keyword(key) is not None for key in _SEEDED_BY):
            return False
        given = (*call.args[1:], *(part for _, part in call.keywords))
        if name in _DRAWING and not (call.args[1:] and call.args[1].value in (0, 1)):
            return True
        return any(part.kind == "tuple" or self._has_drawing(part, value.env) for part in given)

    def _has_drawing(self, part: Expr, env: Env) -> bool:
        """Whether an argument is an augmenter that draws, or a list of augmenters with one."""
        for value in self.evaluator.values(part, env):
            inner = (value, *self.evaluator.containers.elements(value))
            if any(map(self.draws, inner)):
                return True
        return False

    def seeded(self, loader: Loader, code: list[Running]) -> bool:
        """Whether `worker_init_fn` or other code of the workers seeds imgaug, or may as it isn't known."""
        values = [
            value
            for pair in self.boundaries.argument(loader, "worker_init_fn")[0]
            for value in self.evaluator.values(*pair)
        ]
        if any(not isinstance(value, (Func, Method)) and getattr(value, "value", 0) is not None for value in values):
            return True
        functions = [value.func if isinstance(value, Method) else value for value in values]
        started = [self.evaluator.generic(item.module, item.index) for item in functions if isinstance(item, Func)]
        return any(self._seeds(env) for env in (*started, *(running.env for running in code)))

    def _seeds(self, env: Env) -> bool:
        calls = (part for event in env.facts.events for part in event.walk() if part.kind == "call")
        return any(
            isinstance(value, Ext) and value.name in _SEEDERS
            for call in calls
            if call.args[0].name == "seed"
            for value in self.evaluator.values(call.args[0], env)
        )


def _is_augmenter(made: ExtInst) -> bool:
    name = made.name.removeprefix(_PACKAGE).rpartition(".")[2]
    return made.call.kind == "call" and made.name.startswith(_PACKAGE) and made.base is None and name[:1].isupper()
