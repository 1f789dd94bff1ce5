"""What is only made or kept where an option has a value that nothing in the project gives it.

A program that was made from another one often keeps datasets of that one: `data/aligned_dataset.py`, which only
`--dataset_mode aligned` selects, where the default, all command lines and all code name another one. Flags that nothing
sets are like that, too: `--use_lmdb`.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.project.escape.shipped import Held, Holder
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Const, Env, Func, Inst, Klass, Value, Values
from dllint.project.evaluate.at_rest import AtRest, at_rest
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

_Place = tuple[str, Span, Holder]


class Unselected:
    """Answers whether something is. The users of an installed package choose for themselves."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.evaluator = project.evaluator
        self.classes = project.evaluator.classes
        self._is_installed = project.boundaries.unnamed.is_installed
        self._is_never_made = AtRest(self.evaluator, self._find_never_made)
        self._is_never_kept = AtRest(self.evaluator, self._find_never_kept)

    def clause(self, held: Held) -> str:
        """When something goes to workers after all, as a message goes on, or ""."""
        return ", only with a value of an option that nothing in this project gives it" if self._has(held) else ""

    def _has(self, held: Held) -> bool:
        """Whether nothing that a loader takes is made of the classes that keep something, or nothing is kept there."""
        if held.loader is None or self._is_installed(held.path):
            return False
        keepers = self.classes.keepers(held.holder.owner, held.route[0].path)
        made = [klass for klass in keepers if klass in self._made]
        never_made = bool(made) and all(self._is_never_made[klass] for klass in made)
        return never_made or self._is_never_kept[held.path, held.span, held.holder]

    def _find_never_made(self, klass: Klass) -> bool:
        return not any(map(self._may_be_made, self._made[klass]))

    def _find_never_kept(self, place: _Place) -> bool:
        return place in self._kept and not any(map(self._may_be_kept, self._kept[place]))

    @at_rest
    def _made(self) -> dict[Klass, list[Inst]]:
        """The objects of each class that loaders take, or users."""
        found: dict[Klass, list[Inst]] = defaultdict(list)
        for held in self.project.every_route():
            if isinstance(held.value, Inst):
                found[held.value.klass].append(held.value)
        return found

    @at_rest
    def _kept(self) -> dict[_Place, list[Held]]:
        """What loaders take, or users, of each place."""
        found: dict[_Place, list[Held]] = defaultdict(list)
        for held in self.project.every_route():
            found[held.path, held.span, held.holder].append(held)
        return found

    @cached_property
    def _as_given(self) -> Evaluator:
        """What may be where options only have the values that the project gives them."""
        known = self.evaluator
        return Evaluator(known.index, known.loaders, call_sites=known.call_sites, given=self._given)

    def _given(self, name: str, read: Value) -> Values:
        return self.project.declared.only_given(name, read)

    def _may_be_kept(self, held: Held) -> bool:
        value, loader = held.value, held.loader
        if loader is None:
            return True
        if isinstance(value, Inst) and not self._may_be_made(value):
            return False
        around = value.outer if isinstance(value, Func) else getattr(value, "env", None)
        is_made = around is None or held.path != around.module.path or self._runs(held.span.start, around)
        return is_made and self._runs(loader.call.start, loader.env)

    def _may_be_made(self, made: Inst) -> bool:
        call, env = made.call, made.env
        if call is None or env is None:
            return True
        here = self._as_given.generic(env.module, env.function)
        found = self._as_given.values(call.args[0], here)
        of_others = (isinstance(value, Klass) and value.facts is not made.klass.facts for value in found)
        return not (found and all(of_others)) and self._runs(call.start, env)

    def _runs(self, offset: int, env: Env) -> bool:
        """Whether a place in an activation may run, and each call that leads there, of this function."""
        at, where = offset, env
        while True:
            here = self._as_given.generic(where.module, where.function)
            if not self._as_given.conditions.may_run(here, at):
                return False
            call, caller = where.call, where.caller
            if call is None or caller is None:
                return True
            found = self._as_given.values(call.args[0], self._as_given.generic(caller.module, caller.function))
            if found and all(isinstance(value, Func) and value.facts is not where.facts for value in found):
                return False
            at, where = call.start, caller


class SwitchedOff(Unselected):
    """The same where only flags and numbers are known: of a large data set, which users choose by its name."""

    def _given(self, name: str, read: Value) -> Values:
        values = super()._given(name, read)
        return () if any(isinstance(value, Const) and isinstance(value.value, str) for value in values) else values
