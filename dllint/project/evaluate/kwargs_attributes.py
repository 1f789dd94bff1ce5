"""Attributes that objects take over from keyword arguments, whatever their names: `self.__dict__.update(kwargs)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Env, Inst, Klass, Opaque, Seq, Value
from dllint.project.evaluate.shapes import Argument
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class TakenOver:
    """Answers what such objects hold."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._storing: dict[Klass, bool] = {}
        self._open: dict[tuple[int, int], bool] = {}

    def of(self, inst: Inst, name: str) -> tuple[list[Argument], bool]:
        """The values under a name if `__init__` stores all keyword arguments, and whether there always is one."""
        found: list[Argument] = []
        for env in self._storing_inits(inst):
            given, surely = self.evaluator.arguments.from_kwargs(env, name)
            found += given
            if surely:
                return found, True
        return found, False

    def perhaps(self, inst: Inst) -> Iterator[Value]:
        """The values, under any name, of a `**mapping` that a construction passes on to be stored."""
        for env in self._storing_inits(inst):
            if env.call is not None and env.caller is not None:
                for key, expr in env.call.keywords:
                    if key == "**" and self._open_ended(expr, env.caller):
                        yield Opaque(expr, env.caller)

    def _open_ended(self, mapping: Expr, env: Env) -> bool:
        """Whether a mapping may hold more than what is seen to be put into it."""
        return self.evaluator.ask(self._open, (id(mapping), id(env)), False, self._find_open_ended, mapping, env)

    def _find_open_ended(self, mapping: Expr, env: Env) -> bool:
        values = self.evaluator.values(mapping, env)
        if not values:
            return not self.evaluator.fixpoint.is_open()
        if not all(isinstance(item, Seq) and item.expr.kind == "dict" for item in values):
            return True
        return any(
            key.kind == "star" and self._open_ended(key.args[0], item.env)
            for item in values
            if isinstance(item, Seq)
            for key in item.expr.args[::2]
        )

    def names(self, inst: Inst) -> Iterator[str]:
        """The attributes that an `__init__` stores of what the construction passes beyond its parameters."""
        for env in self._storing_inits(inst):
            named = {item.name for item in env.facts.parameters}
            if env.call is not None:
                yield from (key for key, _ in env.call.keywords if key != "**" and key not in named)

    def _storing_inits(self, inst: Inst) -> Iterator[Env]:
        """The `__init__`s that store their keyword arguments; where there is none, no activation is made."""
        classes = self.evaluator.classes.mro(inst.klass)
        storing = {(klass.module.path, klass.facts.methods.get("__init__", -1)) for klass in classes if self._is(klass)}
        if storing:
            found = self.evaluator.activations.init_envs(inst).items()
            yield from (env for key, env in found if key in storing)

    def _is(self, klass: Klass) -> bool:
        if klass not in self._storing:
            function = klass.facts.methods.get("__init__", -1)
            self._storing[klass] = function >= 0 and takes_over(klass.module, function)
        return self._storing[klass]


def takes_over(module: Module, function: int) -> bool:
    """Whether a method stores everything that its `**kwargs` holds under its own name on its object."""
    facts = module.model.functions[function]
    mapping = next((item.name for item in facts.parameters if item.kind == "kwargs"), "")
    own = module.receiver_name(function)
    if not mapping or not own:
        return False
    return any(
        _updates(part, own, mapping) or (_sets(part, own) and _in_loop_over(module, event, mapping))
        for event in facts.events
        if event.kind == "expr"
        for part in event.walk()
    )


def _updates(part: Expr, own: str, mapping: str) -> bool:
    """`self.__dict__.update(kwargs)` or `vars(self).update(**kwargs)`."""
    if part.kind != "call" or part.args[0].kind != "attribute" or part.args[0].name != "update":
        return False
    held = part.args[0].args[0]
    of_own = held.dotted == f"{own}.__dict__" or (
        held.kind == "call" and held.args[0].name == "vars" and [arg.name for arg in held.args[1:]] == [own]
    )
    return of_own and any(given.name == mapping for given in (*part.args[1:], *(value for _, value in part.keywords)))


def _sets(part: Expr, own: str) -> bool:
    """`setattr(self, name, value)`."""
    return part.kind == "call" and part.args[0].dotted == "setattr" and [arg.dotted for arg in part.args[1:2]] == [own]


def _in_loop_over(module: Module, event: Event, mapping: str) -> bool:
    """Whether the nearest loop goes over `kwargs.items()`, or over `kwargs`."""
    for index in module.enclosing(event.block):
        block = module.block(index)
        if block.kind == "for" and block.test is not None:
            over = block.test.args[0] if block.test.kind == "call" else block.test
            return over.dotted in (mapping, f"{mapping}.items")
    return False
