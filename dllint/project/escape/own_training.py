"""Datasets that train without any loader: the project's own code goes through them, in the process that trains."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from functools import cached_property

from dllint.model.facts import Expr
from dllint.project.escape.gone_through import HARMLESS
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Func, Inst, Klass, Method
from dllint.project.evaluate.at_rest import at_rest
from dllint.project.program.call_index import Call
from dllint.project.program.module import Module, Site
from dllint.project.program.unnamed import Unnamed

_LOADS = re.compile(r"(?<!down)load(er|ers)(?![a-z])|trainer$|data_?module$|dataset_?engine$", re.IGNORECASE)
"""Names of what may be, make or get a loader."""


class OwnTraining:
    """Answers which datasets are there for a training that has no loader. `is_dataset`: what a dataset is."""

    def __init__(self, evaluator: Evaluator, unnamed: Unnamed, is_dataset: Callable[[Klass], bool]) -> None:
        self.evaluator = evaluator
        self.unnamed = unnamed
        self._is_dataset = is_dataset

    def has(self, klass: Klass) -> bool:
        """Whether a dataset is there for such a training alone: a package that offers something has other users."""
        return self._trains and not self.unnamed.is_offered(klass.module)

    @at_rest
    def _trains(self) -> bool:
        """Whether the project trains, goes through datasets that it defines, and nothing in it is named for loaders."""
        modules = list(self.evaluator.index)
        if not any(any(_gradients(module)) for module in modules if not module.is_test):
            return False
        if any(map(self._names_loaders, modules)):
            return False
        return any(True for module in modules if _runs(module) for _ in self._taken(module))

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

    def takes_all(self, klass: Klass) -> bool:
        """Whether code that trains takes the items of every object of a class that the project makes, if it makes some.

        Such a training has no loader, whatever else the project has. Not where a computed name may make other objects,
        nor where code of others gets them: that may load them. Of a package that offers the class, its own code does
        so: a program beside it is but one of its users.
        """
        if self.unnamed.is_looked_up(klass.module, klass.facts) or any(self.evaluator.classes.subclasses(klass)):
            return False
        made = [site.expr for site in self.evaluator.index.calls_named((klass.facts.name,)) if self._makes(site, klass)]
        trained_on = self._trained_on if made else ()
        offered = self.unnamed.is_offered(klass.module)
        taken = [
            inst.call
            for module, inst in trained_on
            if inst.klass == klass and (not offered or self.unnamed.is_offered(module))
        ]
        return bool(made) and all(call in taken for call in made) and not self._is_given_away(klass)

    def _is_given_away(self, klass: Klass) -> bool:
        """Whether code of others gets an object of a class, other than to go through it."""
        for module in filter(_runs, self.evaluator.index):
            for function, _, events in module.scopes:
                env = self.evaluator.generic(module, function)
                calls = (part for event in events for part in event.walk() if part.kind == "call")
                handing_on = (call for call in calls if call.args[0].name not in HARMLESS)
                if any(self._gets(call, env, klass) and not self._is_own(call.args[0], env) for call in handing_on):
                    return True
        return False

    def _gets(self, call: Expr, env: Env, klass: Klass) -> bool:
        """Whether a call is given an object of a class by its name."""
        given = (arg for arg in (*call.args[1:], *(value for _, value in call.keywords)) if arg.dotted)
        values = (value for arg in given for value in self.evaluator.values(arg, env))
        return any(isinstance(value, Inst) and value.klass == klass for value in values)

    def _is_own(self, callee: Expr, env: Env) -> bool:
        """Whether a callee is surely code of the project."""
        values = self.evaluator.values(callee, env)
        return bool(values) and all(isinstance(value, Func | Method | Klass) for value in values)

    def _makes(self, site: Site, klass: Klass) -> bool:
        env = self.evaluator.generic(site.module, site.function)
        return not site.module.is_test and klass in self.evaluator.values(site.expr.args[0], env)

    @at_rest
    def _trained_on(self) -> tuple[tuple[Module, Inst], ...]:
        """The datasets whose items functions take that compute gradients, with the files of these."""
        training = ((module, {call.function for call in _gradients(module)}) for module in self.evaluator.index)
        return tuple(
            (module, inst)
            for module, functions in training
            if functions and _runs(module)
            for inst in self._taken(module, functions)
        )

    def _taken(self, module: Module, functions: Set[int] | None = None) -> Iterator[Inst]:
        """The datasets whose items code takes: in a loop, or by an index that is computed."""
        for function, _, events in module.scopes:
            env = self.evaluator.generic(module, function)
            for event in events if functions is None or function in functions else ():
                taken = [event.value] if event.kind == "for" and event.value is not None else []
                taken += [part.args[0] for part in event.walk() if part.kind == "subscript" and _is_computed(part)]
                for expr in (expr for expr in taken if expr.dotted):
                    for value in self.evaluator.values(expr, env):
                        if isinstance(value, Inst) and self._is_dataset(value.klass):
                            yield value


def _runs(module: Module) -> bool:
    return not (module.is_test or module.notebook or module.settings)


def _gradients(module: Module) -> Iterator[Call]:
    """The calls of `loss.backward()` and `torch.autograd.grad(loss, parameters)`."""
    yield from module.calls.get("backward", ())
    for call in module.calls.get("grad", ()):
        callee = call.expr.args[0]
        imported = (item.module for item in module.model.imports if item.bound == callee.dotted)
        if callee.dotted.endswith("autograd.grad") or "torch.autograd" in imported:
            yield call


def _is_computed(subscript: Expr) -> bool:
    return any(part.kind == "name" for part in subscript.args[1].walk())
