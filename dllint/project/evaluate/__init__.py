"""The values that an expression may have, followed through names, attributes, calls and files.

Demand-driven and bounded: an activation (`Env`) remembers the call that made it, so that two constructions of one class
stay two objects; where no call is known, a parameter is whatever any call site passes. Anything that cannot be followed
is `Opaque` (an expression) or `Free` (a parameter without arguments): UNKNOWN, never a guess.

`Evaluator.values` is the one question; its parts answer for their kind of expression and ask it again for the inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dllint.knowledge import LOADERS, Boundary
from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import TOP, Const, Env, Func, Opaque, Seq, Value, Values, stands
from dllint.project.evaluate.annotations import Annotations
from dllint.project.evaluate.arguments import Arguments
from dllint.project.evaluate.attributes import Attributes
from dllint.project.evaluate.call_sites import CallSites
from dllint.project.evaluate.calls import NAMEDTUPLE_INSTANCE, Calls
from dllint.project.evaluate.collections import Containers
from dllint.project.evaluate.command_lines import CommandLines
from dllint.project.evaluate.conditions import Conditions
from dllint.project.evaluate.contexts import Activations
from dllint.project.evaluate.decorations import Decorations
from dllint.project.evaluate.fixpoint import Fixpoint
from dllint.project.evaluate.hierarchy import Answer, Hierarchy
from dllint.project.evaluate.library_bases import LibraryBases
from dllint.project.evaluate.names import Names
from dllint.project.evaluate.namespaces import Namespaces
from dllint.project.evaluate.open_mappings import OpenMappings
from dllint.project.evaluate.operators import Operators
from dllint.project.evaluate.platforms import on_platform
from dllint.project.evaluate.reached import Reached
from dllint.project.evaluate.settings import Settings
from dllint.project.evaluate.shapes import Argument, bounded, display_of, limited, unique, unsettled
from dllint.project.program.carried import Carried
from dllint.project.program.index import Index
from dllint.project.program.programs import Programs

__all__ = ["NAMEDTUPLE_INSTANCE", "Answer", "Argument", "Evaluator"]

_DISPLAYS = frozenset({"list", "tuple", "set", "dict", "comprehension"})


class Evaluator:
    """Answers `values(expr, env)`; everything else in the project builds on it.

    `call_sites`: of one that is narrowed, those of the one that isn't: which calls may run a function is asked once.
    `given`: all values that an attribute of something external has, by its name, where not any value counts.
    """

    def __init__(
        self,
        index: Index,
        loaders: Mapping[str, Boundary] = LOADERS,
        platform: str = "",
        call_sites: CallSites | None = None,
        given: Callable[[str, Value], Values] | None = None,
    ) -> None:
        self.index = index
        self.programs = Programs(index)
        self.loaders = loaders
        """The known loaders of other packages, by dotted name."""
        self.platform = platform
        """Where the program runs; empty: anywhere."""
        self._given = given
        self.is_narrowed = bool(platform or given)
        """Whether it isn't asked what may be wherever and however the program runs."""
        self.fixpoint: Fixpoint = (
            call_sites.evaluator.fixpoint if call_sites is not None else Fixpoint((TOP,), unsettled, limited)
        )
        self.ask = self.fixpoint.ask
        self.kept = self.fixpoint.kept
        self.carried: Carried = call_sites.evaluator.carried if call_sites is not None else Carried(index)
        self.activations = Activations(self)
        self.env = self.activations.env
        self.generic = self.activations.generic
        self.klass = self.activations.klass
        self.names = Names(self)
        self.namespaces = Namespaces(self)
        self.decorations = Decorations(self)
        self.arguments = Arguments(self)
        self.annotations = Annotations(self)
        self.call_sites = call_sites or CallSites(self)
        self.calls = Calls(self)
        self.attributes = Attributes(self)
        self.containers = Containers(self)
        self.conditions = Conditions(self)
        self.reached = Reached(self)
        self.classes = Hierarchy(self)
        self.library_bases = LibraryBases(self)
        self.settings = Settings(self)
        self.command_lines = CommandLines(self)
        self.mappings = OpenMappings(self)
        self._answers: dict[Values, Values] = {}
        """Answers, each once: of three that are given, two say what another one says."""
        self.size = 0
        """How many values are known."""
        self._kinds: dict[str, Callable[[Expr, Env], Iterable[Value]]] = {
            "name": self._name,
            "attribute": self._attribute,
            "call": self.calls.expression,
            "subscript": self.containers.expression,
            "ifexp": self._ifexp,
            "boolop": self._boolop,
            "binop": Operators(self).expression,
            "compare": self._tested,
            "unary": self._tested,
            "walrus": self._operand,
            "await": self._operand,
            "star": self._operand,
            "passed": self._passed,
            "chosen": self._chosen,
        }

    def values(self, expr: Expr, env: Env) -> Values:
        """The values that the expression may have in this activation."""
        known = env.known.get(expr)
        if type(known) is tuple:  # and no question that is still open
            return known
        if expr.kind == "name" and not self.is_narrowed:
            found = self.names.directly(expr, env)
            if found is not None:
                return bounded(found)
        handler = self._kinds.get(expr.kind)
        if handler is None:
            found = (self._here(_plain(expr, env)),)
            if expr.kind == "constant":  # all others say where they stand
                found = self._answers.setdefault(found, found)
            env.known[expr] = found
            return found
        return self.ask(env.known, expr, (), self._found, handler, expr, env)

    def unless_open(self, instead: Value) -> Values:
        """The answer for no values: nothing as long as a cycle that isn't settled may still add some."""
        return () if self.fixpoint.is_open() else (instead,)

    def _found(self, handler: Callable[[Expr, Env], Iterable[Value]], expr: Expr, env: Env) -> Values:
        self.size += 1
        found = bounded(unique(handler(expr, env)))
        if self.platform:
            found = tuple(map(self._here, found))
        return self._answers.setdefault(found, found)

    def _here(self, value: Value) -> Value:
        """A value as it is on the platform that is asked for."""
        return on_platform(value, self.platform) if self.platform else value

    def _name(self, expr: Expr, env: Env) -> Values:
        return self.conditions.left(expr, env, self.names.name(expr, env))

    def _attribute(self, expr: Expr, env: Env) -> Values:
        found = tuple(self.attributes.expression(expr, env))
        if self._given is not None:
            found = unique(value for read in found for value in self._given(expr.name, read) or (read,))
        return self.conditions.left(expr, env, found)

    def _operand(self, expr: Expr, env: Env) -> Values:
        return self.values(expr.args[0], env)

    def _passed(self, expr: Expr, env: Env) -> Values:
        return self.values(*stands(expr, env))

    def _chosen(self, expr: Expr, env: Env) -> Iterable[Value]:
        mapping, display = expr.args
        values = self.values(mapping, env)
        chosen = [value for value in values if display_of(value) is display]
        return chosen or (() if self.fixpoint.is_open() else values)

    def _ifexp(self, expr: Expr, env: Env) -> Iterable[Value]:
        test, *choices = expr.args
        arms = zip(choices, (True, False), strict=True)
        chosen = (choice for choice, holds in arms if self.conditions.allows(test, holds, env))
        return (value for choice in chosen for value in self.values(choice, env))

    def _tested(self, expr: Expr, env: Env) -> Values:
        """What a comparison or `not x` gives."""
        if expr.kind == "unary" and expr.name != "not":
            return (Opaque(expr, env),)
        return self.conditions.known_as(self.conditions.so_far(expr, env), Opaque(expr, env))

    def _boolop(self, expr: Expr, env: Env) -> Iterable[Value]:
        left, right = self.values(expr.args[0], env), self.values(expr.args[1], env)
        if expr.name == "or":
            left = tuple(value for value in left if not (isinstance(value, Const) and not value.value))
        if expr.name == "and":
            left = tuple(value for value in left if not (isinstance(value, Const) and value.value))
            if right and all(isinstance(value, Const) and not value.value for value in right):
                left = tuple(value for value in left if isinstance(value, Const))  # else as false as the right side
        return (*left, *right)


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
