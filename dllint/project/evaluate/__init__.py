"""What an expression may evaluate to, followed through names, attributes, calls and files.

Demand-driven and bounded: an activation (`Env`) remembers the call that made it, so that two constructions of one class
stay two objects; where no call is known, a parameter is whatever any call site passes. Anything that cannot be followed
is `Opaque` (an expression) or `Free` (a parameter nobody fills): UNKNOWN, never a guess.

`Evaluator.values` is the one question; its parts answer for their kind of expression and ask it again for the inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from dllint.model.facts import Expr
from dllint.project.evaluate.activations import Activations
from dllint.project.evaluate.arguments import Arguments
from dllint.project.evaluate.attributes import Attributes
from dllint.project.evaluate.call_sites import CallSites
from dllint.project.evaluate.calls import NAMEDTUPLE_INSTANCE, Calls
from dllint.project.evaluate.conditions import Conditions
from dllint.project.evaluate.containers import Containers
from dllint.project.evaluate.hierarchy import Answer, Hierarchy
from dllint.project.evaluate.names import Names
from dllint.project.evaluate.shapes import Argument, fold, unique
from dllint.project.evaluate.systems import on_platform
from dllint.project.index import Index
from dllint.project.values import Const, Env, Func, Opaque, Seq, Value, Values

__all__ = ["NAMEDTUPLE_INSTANCE", "Answer", "Argument", "Evaluator"]

Key = TypeVar("Key")
Found = TypeVar("Found")
Given = ParamSpec("Given")

MAX_DEPTH = 60
"""Steps that one value is followed."""
_DISPLAYS = frozenset({"list", "tuple", "set", "dict", "comprehension"})
_FOLLOWED: Values = (Const("followed"),)
"""Stands for the values of an expression while they are being found."""


class Evaluator:
    """Answers `values(expr, env)`; everything else of the project stands on it."""

    def __init__(self, index: Index, platform: str = "") -> None:
        self.index = index
        self.platform = platform
        """Where the program runs; empty: anywhere."""
        self.told = False
        """Whether anything that was followed so far hangs on where the program runs."""
        self.activations = Activations(self)
        self.env = self.activations.env
        self.generic = self.activations.generic
        self.klass = self.activations.klass
        self.names = Names(self)
        self.arguments = Arguments(self)
        self.call_sites = CallSites(self)
        self.calls = Calls(self)
        self.attributes = Attributes(self)
        self.containers = Containers(self)
        self.conditions = Conditions(self)
        self.classes = Hierarchy(self)
        self.size = 0
        """How many values are known."""
        self.cuts = 0
        """How often an answer was cut short, because it led back to what is being followed or led too far."""
        self.depth = 0
        """How many expressions are being followed, one inside of the other."""
        self._kinds: dict[str, Callable[[Expr, Env], Iterable[Value]]] = {
            "name": self._name,
            "attribute": self._attribute,
            "call": self.calls.expression,
            "subscript": self.containers.expression,
            "ifexp": self._ifexp,
            "boolop": self._boolop,
            "binop": self._binop,
            "walrus": self._operand,
            "await": self._operand,
            "star": self._operand,
        }

    @property
    def busy(self) -> bool:
        """Whether a value is being followed: answers are cut short where they lead back to it."""
        return self.depth > 0

    def remembered(
        self,
        known: dict[Key, Found],
        key: Key,
        find: Callable[Given, Found],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Found:
        """What is found, kept under a key unless it was cut short: half an answer is nobody else's."""
        cuts = self.cuts
        found = find(*args, **kwargs)
        if self.cuts == cuts:
            known[key] = found
        return found

    def values(self, expr: Expr, env: Env) -> Values:
        """What the expression may evaluate to in this activation."""
        known = env.known.get(id(expr))
        if known is not None:
            if known is not _FOLLOWED:
                return known
            self.cuts += 1
            return ()
        handler = self._kinds.get(expr.kind)
        if self.depth > MAX_DEPTH:
            self.cuts += 1
            return (Opaque(expr, env),)
        found: Values
        if handler is None:
            found = (_plain(expr, env),)
        else:
            env.known[id(expr)] = _FOLLOWED
            self.depth += 1
            try:
                found = unique(handler(expr, env))
            except BaseException:
                del env.known[id(expr)]
                raise
            finally:
                self.depth -= 1
        if self.platform:
            here = tuple(on_platform(value, self.platform) for value in found)
            self.told = self.told or here != found
            found = here
        env.known[id(expr)] = found
        self.size += 1
        return found

    def _name(self, expr: Expr, env: Env) -> Values:
        return self.conditions.left(expr, env, self.names.name(expr, env))

    def _attribute(self, expr: Expr, env: Env) -> Values:
        return self.conditions.left(expr, env, tuple(self.attributes.expression(expr, env)))

    def _operand(self, expr: Expr, env: Env) -> Values:
        return self.values(expr.args[0], env)

    def _ifexp(self, expr: Expr, env: Env) -> Iterable[Value]:
        test, *choices = expr.args
        holds = self.conditions.truth(test, env)
        chosen = choices if holds is None else choices[:1] if holds else choices[1:]
        return (value for choice in chosen for value in self.values(choice, env))

    def _boolop(self, expr: Expr, env: Env) -> Iterable[Value]:
        left, right = self.values(expr.args[0], env), self.values(expr.args[1], env)
        if expr.name == "or":
            left = tuple(value for value in left if not (isinstance(value, Const) and not value.value))
        if expr.name == "and":
            left = tuple(value for value in left if not (isinstance(value, Const) and value.value))
        return (*left, *right)

    def _binop(self, expr: Expr, env: Env) -> Iterable[Value]:
        left, right = self.values(expr.args[0], env), self.values(expr.args[1], env)
        if expr.name in "+|" and any(isinstance(value, Seq) for value in (*left, *right)):
            return (*left, *right)
        if len(left) == len(right) == 1 and isinstance(left[0], Const) and isinstance(right[0], Const):
            folded = fold(expr.name, left[0].value, right[0].value)
            if folded is not None:
                return (Const(folded, type(folded).__name__),)
        return (Opaque(expr, env),)


def _plain(expr: Expr, env: Env) -> Value:
    """The value of an expression that needs no following."""
    kind = expr.kind
    if kind == "constant":
        return Const(expr.value, type(expr.value).__name__)
    if kind in _DISPLAYS:
        return Seq(expr, env)
    if kind == "lambda":
        return Func(env.module, expr.ref, env if env.function >= 0 else None)
    return Opaque(expr, env)
