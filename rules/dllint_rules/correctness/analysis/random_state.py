"""Random generators that objects keep: who draws from them per item, and who gives them a state of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Ext, ExtInst, Func, Inst, Klass, Method, Value
from dllint.project.execution.call_graph import Running
from dllint.project.loaders.boundaries import Loader
from dllint.project.program.events import event_names
from dllint_rules.correctness.analysis.coins import has_few_outcomes

if TYPE_CHECKING:
    from dllint.project import Project

GENERATORS = frozenset({
    "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random",
})  # fmt: skip
"""Generators with a state of their own, which workers get copies of (measured)."""
_GLOBAL = ("random.", "numpy.random.", "torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial")
_NO_DRAWS = GENERATORS | {
    "random.seed", "numpy.random.seed", "random.getstate", "random.setstate", "numpy.random.get_state",
    "numpy.random.set_state", "torch.random.manual_seed", "random.SystemRandom",
}  # fmt: skip
_RANDOM_NAME = re.compile(r"Rand(om)?[A-Z]|\w*(Jitter|Augment|Noise|Flip|Erasing|Crop|Dropout|Rotate|Blur)")
_TRANSFORMS = {
    "torchvision.": {"torch"}, "torchio.": {"torch"}, "kornia.": {"torch"}, "torchaudio.": {"torch"},
    "albumentations.": {"random"}, "audiomentations.": {"random", "numpy"},
}  # fmt: skip
"""Whose generators the random transforms of libraries draw from (read in their sources; albumentations before 2)."""
_RESEEDING = frozenset({"seed", "set_state", "setstate", "set_random_state"})


class RandomStates:
    """Answers for random generators."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self.boundaries = project.boundaries

    def is_generator(self, value: Value) -> bool:
        """Whether a value is a generator with a state of its own."""
        return isinstance(value, ExtInst) and value.name in GENERATORS

    def drawn(self, code: Iterable[Running], klass: Klass, attribute: str) -> tuple[Running, bool] | None:
        """The worker code that draws from an attribute, and whether it surely does.

        None too where some worker code sets or seeds it.
        """
        found: tuple[Running, bool] | None = None
        for running in code:
            own = self._is_of(running, klass)
            for event in running.events:
                if _sets(event, attribute, running, own):
                    return None
                draw = _draw(event, attribute, receiver_of(running)) if own else None
                if draw is not None and (found is None or not found[1]):
                    surely = running.decided and self.evaluator.conditions.decided(running.env, draw.start)
                    found = (running, True) if surely else found or (running, False)
        return found

    def _is_of(self, running: Running, klass: Klass) -> bool:
        receiver = running.env.receiver
        return isinstance(receiver, Inst) and self.evaluator.classes.derives(receiver.klass, klass)

    def module_level(
        self, code: Iterable[Running], wanted: Callable[[Value], bool]
    ) -> Iterator[tuple[ExtInst, str, Running, Expr]]:
        """Generators that modules make, with their names, and the worker code that draws from them, with the place.

        None that some worker code binds or seeds. `wanted`: which values are generators.
        """
        running = [item for item in code if item.env.function >= 0]
        handled = {name for item in running for event in item.events for name in _seeded_names(event, item)}
        for item in running:
            for event in item.events:
                for call in event.walk():
                    callee = call.args[0] if call.kind == "call" else call
                    if call.kind != "call" or callee.kind not in ("attribute", "name"):
                        continue
                    base = callee.args[0] if callee.kind == "attribute" else callee
                    if call.args[0].name in _RESEEDING or base.dotted.rpartition(".")[2] in handled:
                        continue
                    for value in self.evaluator.values(base, item.env) if base.dotted else ():
                        if isinstance(value, ExtInst) and value.env.function < 0 and wanted(value):
                            yield value, base.dotted, item, call

    def global_draws(self, running: Running) -> dict[str, bool]:
        """The libraries whose global generators code draws from: "random", "numpy", "torch".

        For each, whether a draw has more than a few outcomes.
        """
        found: dict[str, bool] = {}
        for event in running.events:
            for part in event.walk():
                for name in self._drawing(part, running):
                    found[name] = found.get(name, False) or not has_few_outcomes(running, event, part)
        return found

    def _drawing(self, part: Expr, running: Running) -> set[str]:
        """The libraries whose global generators a call draws from."""
        return {
            value.name.partition(".")[0]
            for value in (self.evaluator.values(part.args[0], running.env) if part.kind == "call" else ())
            if isinstance(value, Ext) and value.name.startswith(_GLOBAL) and value.name not in _NO_DRAWS
        }

    def drawn_by(self, value: Value) -> set[str]:
        """The libraries whose global generators a library's transform draws from."""
        if not isinstance(value, ExtInst) or not _RANDOM_NAME.match(value.name.rpartition(".")[2]):
            return set()
        return next((libraries for root, libraries in _TRANSFORMS.items() if value.name.startswith(root)), set())

    def prepared(self, loader: Loader, attribute: str, owner: str = "dataset") -> bool:
        """Whether a `worker_init_fn` may seed a generator: it speaks of it and its owner, or is not known."""
        pairs = self.boundaries.argument(loader, "worker_init_fn")[0]
        for value in (value for pair in pairs for value in self.evaluator.values(*pair)):
            if isinstance(value, (Func, Method)):
                func = value if isinstance(value, Func) else value.func
                names = {part.name for event in func.facts.events for part in event.walk()}
                seeds = any(_is_random(name, attribute) for name in names) or self._set_by(names, attribute)
                if seeds and any(owner in name for name in names):
                    return True
            elif getattr(value, "value", 0) is not None:
                return True
        return False

    def _set_by(self, names: set[str], attribute: str) -> bool:
        """Whether one of these names is of a method that sets an attribute: `worker_info.dataset.reset()`."""
        return any(
            klass.facts.methods.get(klass.module.model.functions[write.function].name) == write.function
            and klass.module.model.functions[write.function].name in names - {"__init__"}
            for klass in self.evaluator.classes.all_classes
            for write in klass.module.self_writes.get(klass.index, {}).get(attribute, ())
        )


def _is_random(name: str, attribute: str) -> bool:
    return name == attribute or any(word in name.lower() for word in ("seed", "rng", "random", "generator"))


def receiver_of(running: Running) -> str:
    """The name of `self` in running code."""
    return running.env.module.receiver_name(running.env.function)


def _sets(event: Event, attribute: str, running: Running, own: bool) -> bool:
    target = event.target
    if target is not None and target.kind == "attribute" and target.name == attribute and event.kind == "assign":
        return own or target.args[0].name != receiver_of(running)
    return own and any(
        part.kind == "call" and part.args[0].name in _RESEEDING and _mentions(part, attribute) for part in event.walk()
    )


def _seeded_names(event: Event, running: Running) -> Iterator[str]:
    """The module-level names that code binds or seeds."""
    yield from (name for name in event_names(event) if name in running.env.facts.globals)
    if event.target is not None and event.target.kind == "attribute" and event.kind == "assign":
        yield event.target.name
    for part in event.walk():
        if part.kind == "call" and part.args[0].kind == "attribute" and part.args[0].name in _RESEEDING:
            yield part.args[0].args[0].dotted.rpartition(".")[2]


def _mentions(expr: Expr, attribute: str) -> bool:
    return any(part.kind == "attribute" and part.name == attribute for part in expr.walk())


def _draw(event: Event, attribute: str, receiver: str) -> Expr | None:
    """A call of the generator or of its method, or a call that gets it as an argument."""
    for call in event.walk():
        if call.kind != "call":
            continue
        callee = call.args[0]
        for part in (callee, *callee.args, *call.args[1:], *(value for _, value in call.keywords)):
            if part.kind == "attribute" and part.name == attribute and part.args[0].name == receiver != "":
                return call
    return None
