"""An index of a module's expressions by kind, from one walk over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from dllint.model.facts import Event, Expr, Function


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call, the function whose code it is (-1: the module's), its event."""

    function: int
    event: Event
    expr: Expr


class Clause(NamedTuple):
    """`for target in iterable` of a comprehension."""

    comprehension: Expr
    target: Expr
    iterable: Expr


class Walked(NamedTuple):
    """The calls of a module under the last names of their callees, the clauses and the choices of each function."""

    calls: dict[str, list[Call]]
    comprehensions: dict[int, list[Clause]]
    choices: dict[int, list[Expr]]
    """`a if test else b`, `test and a`, `[a for b in c if test]`: what decides over a part of an expression."""


def walked(scopes: Iterable[tuple[int, int, Iterable[Event]]], functions: Iterable[Function]) -> Walked:
    """Walks over the events of all scopes, and over the decorators of all functions, which aren't events."""
    calls: dict[str, list[Call]] = defaultdict(list)
    clauses: dict[int, list[Clause]] = defaultdict(list)
    choices: dict[int, list[Expr]] = defaultdict(list)

    def visit(expr: Expr, function: int, event: Event) -> None:
        """In the order of the text; not what has no parts, which is most of it."""
        args = expr.args
        if expr.kind == "call":
            calls[args[0].name].append(Call(function, event, expr))
        elif expr.kind == "comprehension":
            targets = [value for key, value in expr.keywords if key == "for"]
            iterables = [value for key, value in expr.keywords if key == "in"]
            clauses[function] += [Clause(expr, *pair) for pair in zip(targets, iterables, strict=True)]
            if len(expr.keywords) > 2 * len(targets):
                choices[function].append(expr)
        elif expr.kind in ("ifexp", "boolop"):
            choices[function].append(expr)
        for part in args:
            while part.kind == "attribute":
                part = part.args[0]
            if part.args:
                visit(part, function, event)
        if expr.keywords:
            for _, part in expr.keywords:
                if part.args:
                    visit(part, function, event)

    for function, _, events in scopes:
        for event in events:
            if event.value is not None and event.value.args:
                visit(event.value, function, event)
            if event.target is not None and event.target.args:
                visit(event.target, function, event)
    for decorated in functions:
        for expr in decorated.decorators:
            event = Event("expr", expr.start, expr.end, decorated.block, value=expr)
            for part in expr.walk():
                if part.kind == "call":
                    calls[part.args[0].name].append(Call(decorated.parent, event, part))
    return Walked(dict(calls), dict(clauses), dict(choices))
