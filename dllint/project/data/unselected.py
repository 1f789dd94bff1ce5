"""Datasets that are only made where an option has a value that nothing in the project gives it.

A program that was made from another one often keeps datasets of that one: `data/aligned_dataset.py`, which only
`--dataset_mode aligned` selects, where the default, all command lines and all code name another one.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.project.escape.shipped import Held
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Func, Inst, Klass
from dllint.project.evaluate.at_rest import AtRest, at_rest

if TYPE_CHECKING:
    from dllint.project import Project


class Unselected:
    """Answers whether a class is one. The users of an installed package choose for themselves."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.classes = project.evaluator.classes
        self._is_installed = project.boundaries.unnamed.is_installed
        self._is_unselected = AtRest(self.evaluator, self._is_never_made)

    def has(self, held: Held) -> bool:
        """Whether each class that keeps something, and that a loader takes, is one."""
        if held.loader is None or self._is_installed(held.path):
            return False
        keepers = self.classes.keepers(held.holder.owner, held.route[0].path)
        made = [klass for klass in keepers if klass in self._made]
        return bool(made) and all(self._is_unselected[klass] for klass in made)

    def _is_never_made(self, klass: Klass) -> bool:
        return not any(map(self._may_be_made, self._made[klass]))

    @at_rest
    def _made(self) -> dict[Klass, list[Inst]]:
        """The objects of each class that loaders take, or users."""
        found: dict[Klass, list[Inst]] = defaultdict(list)
        for held in self.project.every_route():
            if isinstance(held.value, Inst):
                found[held.value.klass].append(held.value)
        return found

    @cached_property
    def _as_given(self) -> Evaluator:
        """What may be where options only have the values that the project gives them."""
        known, given = self.evaluator, self.project.declared.only_texts
        return Evaluator(known.index, known.loaders, call_sites=known.call_sites, given=given)

    def _may_be_made(self, made: Inst) -> bool:
        call, env, callee = made.call, made.env, {(made.klass.module, made.klass.index)}
        while call is not None and env is not None:
            here = self._as_given.generic(env.module, env.function)
            if not self._as_given.conditions.may_run(here, call.start):
                return False
            found = self._as_given.values(call.args[0], here)
            kinds = Klass if call is made.call else Func
            if found and all(isinstance(value, kinds) and (value.module, value.index) not in callee for value in found):
                return False
            callee = {(env.module, env.function)}
            call, env = env.call, env.caller
        return True
