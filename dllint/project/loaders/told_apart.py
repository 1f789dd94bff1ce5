"""The activations in which the code around a loader runs: one per known call, or one for all that give it the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from dllint.model.facts import Expr, Parameter
from dllint.project.evaluate import Evaluator
from dllint.project.evaluate.abstract_values import Env, Func, Inst, Klass, Method, Seq, Value
from dllint.project.evaluate.names import is_wrapper
from dllint.project.evaluate.truncated import Truncated
from dllint.project.program.module import Module, Site

MAX_LEVELS = 3
"""Calls in a row that lead to the code around a loader, and are told apart."""
MAX_CONTEXTS = 64
"""So many activations are told apart by who calls; more of them by what they are given."""
MAX_GIVEN = 400
"""So many activations are told apart by what they are given."""


class Activations(NamedTuple):
    """The activations of a function that are told apart."""

    envs: tuple[Env, ...]
    by_given: bool = False
    """Whether those that are given the same are one."""
    truncated: Truncated | None = None
    """The limit beyond which nothing is known of the callers."""


_Way = tuple[Site, int, Activations]
"""A call, the positional arguments to skip, and the activations of the code around it."""


class ToldApart:
    """Finds them. How many there are decides, so that nothing depends on the order in which the callers come.

    `told`: what else matters of the way to an activation, besides what its call gives it.
    """

    def __init__(self, evaluator: Evaluator, told: Callable[[Env], Hashable]) -> None:
        self.evaluator = evaluator
        self._told = told
        self._known: dict[tuple[Module, int, int], Activations] = {}

    def of(self, module: Module, function: int, levels: int = MAX_LEVELS) -> Activations:
        """The activations in which a function's code runs, by so many calls in a row; the generic one of no call."""
        if function < 0 or not levels:
            return Activations((self.evaluator.generic(module, function),))
        return self.evaluator.kept(self._known, (module, function, levels), self._find, module, function, levels)

    def _find(self, module: Module, function: int, levels: int) -> Activations:
        facts = module.model.functions[function]
        found = self._by_calls(module, function, levels)
        if facts.owner < 0 and facts.parent >= 0 and (not found.envs or is_wrapper(facts)):
            outers = self.of(module, facts.parent, levels)
            inner = (self.evaluator.env(module, function, receiver=env.receiver, outer=env) for env in outers.envs)
            found = Activations(
                tuple(dict.fromkeys((*found.envs, *inner))),
                found.by_given or outers.by_given,
                found.truncated or outers.truncated,
            )
        if found.envs and not self._is_also_called_by_its_base(module, function):
            return found
        return found._replace(envs=(*found.envs, self.evaluator.generic(module, function)))

    def _is_also_called_by_its_base(self, module: Module, function: int) -> bool:
        """Whether the library of a class calls a method that nothing else in the project calls, its tests aside."""
        owner = module.model.functions[function].owner
        if owner < 0 or self.evaluator.call_sites.known(module, function):
            return False
        set_up = self.evaluator.library_bases.sets_up(self.evaluator.klass(module, owner))
        return module.model.functions[function].name in set_up

    def _by_calls(self, module: Module, function: int, levels: int) -> Activations:
        """The activations that calls create, by so many calls in a row as don't give it too many different things."""
        facts = module.model.functions[function]
        limit = Truncated(f"the calls of `{facts.name}` give it more than {MAX_GIVEN} different things")
        for left in reversed(range(levels)):
            found = self._called(module, function, left)
            if len(found.envs) <= MAX_GIVEN:
                return found if left == levels - 1 else found._replace(truncated=found.truncated or limit)
        return Activations((self.evaluator.generic(module, function),), truncated=limit)

    def _called(self, module: Module, function: int, levels: int) -> Activations:
        """The activations that the calls of a function create, with so many more calls in a row before these."""
        calls = self.evaluator.call_sites.callers(module, function)
        ways = [(site, skip, self.of(site.module, site.function, levels)) for site, skip in calls]
        forgets = self.evaluator.activations.forgets_calls
        by_given = any(way.by_given for *_, way in ways)
        envs = self._entered(ways, module, function, by_given)
        if not by_given and (len(envs) > MAX_CONTEXTS or any(env.call is None and forgets(env) for env in envs)):
            facts = module.model.functions[function]
            if any(parameter.kind == "args" for parameter in facts.parameters):
                limit = Truncated(f"more than {MAX_CONTEXTS} calls give `{facts.name}` any number of arguments")
                return Activations((self.evaluator.generic(module, function),), truncated=limit)
            by_given = True
            envs = self._entered(ways, module, function, by_given)
        if by_given and (not levels or len(envs) <= MAX_GIVEN):
            envs = tuple({self._given(env): env for env in envs}.values())
        limits = sorted({way.truncated.reason for *_, way in ways if way.truncated is not None})
        truncated = Truncated(limits[0]) if limits else None
        return Activations(envs, by_given, truncated)

    def _entered(self, ways: Iterable[_Way], module: Module, function: int, exactly: bool) -> tuple[Env, ...]:
        """The activations that calls create, each once; `exactly`: also where the evaluator merges them."""
        found: dict[Env, None] = {}
        for site, skip, callers in ways:
            for caller in callers.envs:
                for value, call in self.evaluator.calls.runs(site.expr, caller):
                    env = self._created(value, call, caller, skip, module, function)
                    if env is not None and exactly and (module.path, function) not in caller.within:
                        env = self.evaluator.activations.called_with(env, call, caller)
                    if env is not None:
                        found[env] = None
        return tuple(found)

    def _created(self, value: Value, call: Expr, caller: Env, skip: int, module: Module, function: int) -> Env | None:
        """The activation of a function that calling a value creates."""
        if isinstance(value, Klass):
            return self.evaluator.activations.init_envs(Inst(value, call, caller)).get((module.path, function))
        owner, func = (value.owner, value.func) if isinstance(value, Method) else (None, value)
        if not isinstance(func, Func) or func.module is not module or func.index != function:
            return None
        return self.evaluator.activations.activation(func, call, caller, owner, skip)

    def _given(self, env: Env) -> Hashable:
        """What an activation is given: two that are given the same run alike."""
        if env.call is None:
            return env
        given = tuple(self._parameter(env, parameter) for parameter in env.facts.parameters)
        return env.receiver, env.outer, given, self._told(env)

    def _parameter(self, env: Env, parameter: Parameter) -> Hashable:
        values = self.evaluator.arguments.parameter(env, parameter.name)
        if parameter.kind in ("args", "kwargs"):
            parts = ((part, value.env) for value in values if isinstance(value, Seq) for part in value.expr.args)
            return tuple(frozenset(self.evaluator.values(*pair)) for pair in parts)
        return frozenset(values)
