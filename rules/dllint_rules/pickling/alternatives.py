"""What else an attribute is set to that a fix changes in one place: a fix of one branch would be half a change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import msgspec

from dllint import Expr, ExtInst, Fix, Func, Module, Project
from dllint_rules.pickling.hoist import fix_lambda, hoist_lambda


def with_alternatives(project: Project, func: Func, fix: Fix) -> Fix:
    """The fix of a lambda, and of the lambdas that no worker gets and the same attribute is set to elsewhere."""
    name, whole = _attribute(func), fix
    for other in _other_lambdas(project, func, name) if name and fix.edits else ():
        more = fix_lambda(project, other)
        names = (f"{item}_{number}" for number in count(2) for item in (more.defines if more else ())[:1])
        while more is not None and set(more.defines) & set(whole.defines):
            more = hoist_lambda(project, other, next(names))
        done = any(edit.span.start <= other.facts.span.start < edit.span.end for edit in whole.edits)
        if more is not None and more.edits and more.applicability >= fix.applicability and not done:
            whole = msgspec.structs.replace(
                whole,
                title=f"{fix.title}, and likewise for what else `{name}` is set to",
                edits=tuple(dict.fromkeys((*whole.edits, *more.edits))),
                imports=tuple(dict.fromkeys((*whole.imports, *more.imports))),
                defines=(*whole.defines, *more.defines),
            )
    return whole


def other_views(made: ExtInst, name: str) -> list[Expr]:
    """The calls of the same method that an attribute is set to elsewhere: `self.names = other.keys()`."""
    call, module = made.call, made.env.module
    found = _values(module, module.method_owner(made.env.function), name)
    if not any(value is call for value in found):
        return []
    return [value for value in found if value is not call and _asked_for(value) == _asked_for(call) != ""]


def _asked_for(value: Expr) -> str:
    """The method that a call without arguments calls; "" for other values."""
    plain = value.kind == "call" and len(value.args) == 1 and not value.keywords
    return value.args[0].name if plain and value.args[0].kind == "attribute" else ""


def _attribute(func: Func) -> str:
    """The attribute that a method sets to just a lambda; "" if it is kept elsewhere."""
    owner = func.module.method_owner(func.index)
    names = func.module.self_writes.get(owner, {})
    return next((name for name in names if func.index in map(_lambda, _values(func.module, owner, name))), "")


def _other_lambdas(project: Project, func: Func, name: str) -> Iterator[Func]:
    """Those that an attribute is set to, without those that have fixes of their own."""
    module = func.module
    values = (held.value for held in project.shipped if held.path == module.path)
    shipped = {value.index for value in values if isinstance(value, Func)}
    for value in _values(module, module.method_owner(func.index), name):
        if _lambda(value) not in (-1, func.index, *shipped):
            yield Func(module, value.ref)


def _values(module: Module, owner: int, name: str) -> list[Expr]:
    """What the methods of a class set an attribute of their own object to."""
    writes = module.self_writes.get(owner, {}).get(name, ())
    return [write.event.value for write in writes if write.event.kind == "assign" and write.event.value is not None]


def _lambda(value: Expr) -> int:
    return value.ref if value.kind == "lambda" else -1
