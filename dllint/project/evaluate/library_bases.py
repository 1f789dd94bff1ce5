"""Libraries' classes whose own code calls methods that the project's classes replace.

`load_annotations`, of which a dataset's constructor keeps the result, `prepare_train_img`, which `__getitem__` calls,
and `setup`, which Lightning's trainer calls before it asks for loaders.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dllint.knowledge import DATASET_BASES, TRAINED_CLASSES, TRAINER_HOOKS
from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Func, Inst, Klass
from dllint.project.evaluate.shapes import Argument

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class _ItemCode(NamedTuple):
    """The methods that run for an item, where a library's `__getitem__` may."""

    own: tuple[str, ...] = ()
    """Those that a class of the project has."""
    of_base: frozenset[str] = frozenset()
    """Those of the library."""


class LibraryBases:
    """Answers which methods of a class its library's base calls, and what that keeps."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._item_code: dict[Klass, _ItemCode] = {}

    def called_per_item(self, klass: Klass) -> tuple[str, ...]:
        """The methods of a class of the project that the base calls for each item."""
        return self._run_for_item(klass).own

    def reads_per_item(self, klass: Klass, attribute: str) -> bool:
        """Whether the base's own code takes an element of an attribute for each item."""
        of_base = self._run_for_item(klass).of_base
        return any(
            attribute in DATASET_BASES[name].keeps and not of_base.isdisjoint(DATASET_BASES[name].reads)
            for name in self._known(klass)
        )

    def kept(self, klass: Klass) -> dict[str, str]:
        """The attributes in which the base keeps what a method returns, with the method; nearer bases first."""
        return {
            attribute: method for name in self._known(klass) for attribute, method in DATASET_BASES[name].keeps.items()
        }

    def sets_up(self, klass: Klass) -> Iterator[str]:
        """The methods that the base's constructor calls, or its library before workers start."""
        yield from self.kept(klass).values()
        for name in self._known(klass):
            yield from DATASET_BASES[name].sets_up
        if not TRAINED_CLASSES.isdisjoint(self.evaluator.classes.external_bases(klass)):
            yield from TRAINER_HOOKS

    def given(self, inst: Inst, attribute: str) -> Iterator[Argument]:
        """What the project's method returns that the base keeps as an attribute of an object."""
        method = self.evaluator.classes.method(inst, self.kept(inst.klass).get(attribute, ""))
        if method is None or self.evaluator.activations.stops_at(inst):
            return
        env = self.evaluator.activations.method_env(inst, method.func.module, method.func.index)
        for event in method.func.facts.events:
            if event.kind == "return" and event.value is not None:
                if self.evaluator.conditions.may_run(env, event.start):
                    yield event.value, env

    def _known(self, klass: Klass) -> Iterator[str]:
        return (name for name in self.evaluator.classes.external_bases(klass) if name in DATASET_BASES)

    def _run_for_item(self, klass: Klass) -> _ItemCode:
        return self.evaluator.kept(self._item_code, klass, self._find_item_code, klass)

    def _find_item_code(self, klass: Klass) -> _ItemCode:
        calls = {caller: called for name in self._known(klass) for caller, called in DATASET_BASES[name].calls.items()}
        own: dict[str, None] = {}
        of_base: set[str] = set()
        waiting = ["__getitem__"] if calls else []
        while waiting:
            name = waiting.pop()
            method = self.evaluator.classes.method(klass, name)
            if name in own or name in of_base:
                continue
            named = frozenset[str]()
            if method is not None:
                own[name] = None
                named = _called_on_itself(method.func)
                waiting += sorted(named.intersection(calls))
            if method is None or name in named:
                of_base.add(name)
                waiting += calls.get(name, ())
        return _ItemCode(tuple(own), frozenset(of_base))


def _called_on_itself(func: Func) -> frozenset[str]:
    """The names of the methods that a method calls on its own object, or of its bases."""
    own = func.module.receiver_name(func.index)
    called = (part.args[0] for event in func.facts.events for part in event.walk() if part.kind == "call")
    return frozenset(part.name for part in called if part.kind == "attribute" and _is_itself(part.args[0], own))


def _is_itself(base: Expr, own: str) -> bool:
    return base.name == own if base.kind == "name" else base.kind == "call" and base.args[0].name == "super"
