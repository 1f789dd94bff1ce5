"""The attributes that stand behind what code reads: by local names, what methods return, what calls pass."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Argument, Evaluator
from dllint.project.evaluate.abstract_values import Env, Inst, Method
from dllint.project.evaluate.shapes import each_once, path_to

_VALUES: dict[str, tuple[int, ...]] = {"items": (1,), "values": ()}
"""Views of a dictionary, with the place of its values in what they give."""
MAX_STEPS = 4


class Behind:
    """Finds them. It is the same way whatever an attribute keeps, so each expression is asked once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._named: dict[tuple[Expr, Env, int], tuple[Argument, ...]] = {}
        self._of: dict[tuple[Expr, Env, int], tuple[Argument, ...]] = {}

    def of(self, expr: Expr, env: Env, depth: int = MAX_STEPS) -> tuple[Argument, ...]:
        """The attributes of which an expression may be a part: `self.rows["train"]`, `self.index.images[key]`.

        It may be one of several: `self.train if training else self.rest`.
        """
        return self.evaluator.kept(self._of, (expr, env, depth), self._all_of, expr, env, depth)

    def named(self, expr: Expr, env: Env, depth: int = MAX_STEPS) -> tuple[Argument, ...]:
        """An attribute itself; those that a local name, or what a call of a method returns, is or is a part of."""
        return self.evaluator.kept(self._named, (expr, env, depth), self._all_named, expr, env, depth)

    def _all_of(self, expr: Expr, env: Env, depth: int) -> tuple[Argument, ...]:
        return each_once(self._find(expr, env, depth))

    def _all_named(self, expr: Expr, env: Env, depth: int) -> tuple[Argument, ...]:
        return each_once(self._find_named(expr, env, depth))

    def _find(self, expr: Expr, env: Env, depth: int) -> Iterator[Argument]:
        yield from self.named(expr, env, depth)
        if expr.kind in ("ifexp", "boolop"):
            for part in expr.args[-2:]:  # not the test
                yield from self.of(part, env, depth)
        elif expr.kind in ("subscript", "attribute"):
            yield from self.of(expr.args[0], env, depth)

    def _find_named(self, expr: Expr, env: Env, depth: int) -> Iterator[Argument]:
        if expr.kind == "attribute":
            yield expr, env
        elif expr.kind in ("name", "call") and depth:
            for place in self._meant(expr, env) if expr.kind == "name" else self._returned(expr, env):
                yield from self.of(*place, depth - 1)

    def _meant(self, name: Expr, env: Env) -> Iterator[Argument]:
        """What a local name may stand for, or for a part of."""
        yield from ((value, env) for value in (*assigned(name, env), *self._viewed(name, env)) if value is not name)
        yield from self._passed(name, env)

    def _viewed(self, name: Expr, env: Env) -> Iterator[Expr]:
        """The dictionaries of columns of which a name is one: no dictionary of objects, which keep what they read."""
        if not any(isinstance(value, Inst) for value in self.evaluator.values(name, env)):
            yield from _viewed(name, env)

    def _returned(self, call: Expr, env: Env) -> Iterator[Argument]:
        """What a method of the project's returns for a call: `self.table.iloc[index]` for `self.row(index)`."""
        for callee in self.evaluator.calls.callees(call, env):
            if isinstance(callee, Method) and not callee.func.facts.is_generator:
                called = self.evaluator.activations.activation(callee.func, call, env, callee.owner)
                given = (event.value for event in callee.func.facts.events if event.kind == "return")
                yield from ((value, called) for value in given if value is not None)

    def _passed(self, name: Expr, env: Env) -> Iterator[Argument]:
        """The argument that a call passes for the parameter of this name: that of any call if this one is forgotten."""
        if env.function < 0:
            return
        if env.call is None:
            yield from self.evaluator.arguments.from_any_call(env, name.name)
        for position, parameter in enumerate(env.facts.parameters) if env.call is not None and env.caller else ():
            if parameter.name == name.name and parameter.kind not in ("args", "kwargs"):
                yield from self.evaluator.arguments.passed(env, position, parameter)


def _bound(name: Expr, env: Env, kind: str) -> list[Event]:
    bindings = env.module.bindings[env.function, -1].get(name.name, ())
    return [item.event for item in bindings if item.kind == kind and item.event is not None]


def assigned(name: Expr, env: Env) -> list[Expr]:
    """The expressions assigned to a local name, alone or as one of several: `name, label = names[i], labels[i]`."""
    events = [event for event in _bound(name, env, "assign") if event.start < name.start]
    pairs = ((event.target, event.value) for event in events if event.target is not None and event.value is not None)
    return [given for target, value in pairs for part, given in _each(target, value) if part.name == name.name]


def _viewed(name: Expr, env: Env) -> Iterator[Expr]:
    """The dictionaries whose values a loop or a comprehension gives a name: `for key, rows in self.columns.items()`."""
    loops = [(event.target, event.value) for event in _bound(name, env, "for") if event.start < name.start]
    around = (
        (target, iterable)
        for comprehension, target, iterable in env.module.comprehensions.get(env.function, ())
        if comprehension.start <= name.start < comprehension.end
    )
    for target, over in (*loops, *around):
        view = over.args[0] if over is not None and over.kind == "call" and len(over.args) == 1 else None
        if target is not None and view is not None and view.kind == "attribute" and view.name in _VALUES:
            if path_to(target, name.name) == _VALUES[view.name]:
                yield view.args[0]


def _each(target: Expr, value: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The names that an assignment gives a value each."""
    if target.kind == "name":
        yield target, value
    elif target.kind in ("tuple", "list") and value.kind in ("tuple", "list") and len(target.args) == len(value.args):
        yield from ((part, given) for part, given in zip(target.args, value.args, strict=True) if part.kind == "name")
