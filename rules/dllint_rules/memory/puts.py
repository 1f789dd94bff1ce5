"""What code puts into a dictionary after it is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint import Env, Event, Expr, Project, Value
from dllint_rules.memory.analysis.entries import Entries


class Put(NamedTuple):
    """One place that changes a dictionary: new keys and values, other dictionaries, and what is added to a value."""

    env: Env
    keys: tuple[Expr, ...] = ()
    values: tuple[Expr, ...] = ()
    others: tuple[Expr, ...] = ()
    parts: tuple[Expr, ...] = ()


def puts(project: Project, made: Value) -> Iterator[tuple[Expr, Env, Put | None]]:
    """Each place that changes a dictionary, and what it puts in; None where that isn't seen."""
    for filling in project.analysis(Entries).growth.fillings(made):
        found = _into_value if filling.grouped else _put
        yield filling.what, filling.env, found(filling.what, filling.event, filling.env)


def _put(what: Expr, event: Event, env: Env) -> Put | None:
    if event.kind == "augment":
        return Put(env, others=(what,))
    if what.kind == "subscript" and event.value is not None:
        return Put(env, keys=what.args[1:], values=(event.value,))
    return _called(what, env)


def _called(call: Expr, env: Env) -> Put | None:
    if call.kind != "call":
        return None
    named = tuple(value for name, value in call.keywords if name)
    if named:
        alone = call.args[0].name == "update" and len(call.args) == 1 and len(named) == len(call.keywords)
        return Put(env, values=named) if alone else None
    match call.args[0].name, call.args[1:]:
        case "update", (other,):
            return Put(env, others=(other,))
        case "setdefault", (key, value):
            return Put(env, keys=(key,), values=(value,))
    return None


def _into_value(what: Expr, event: Event, env: Env) -> Put | None:
    """What is added to a value: by `groups[key].append(row)`, `groups.setdefault(key, []).append(row)` and the like."""
    if event.kind == "augment":
        return Put(env, parts=(what,))
    if what.kind == "subscript" and event.value is not None:
        return Put(env, parts=(*what.args[1:], event.value))
    group = what.args[0].args[0]
    first = _called(group, env) if group.kind == "call" else Put(env)
    return first and first._replace(parts=what.args[1:])
