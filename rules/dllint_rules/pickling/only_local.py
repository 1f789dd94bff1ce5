"""Attributes that only the function that sets them uses: a local variable would do, which no worker gets."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import Env, Expr, Ext, ExtInst, Function, Project, own_attribute


def setter_of_local(project: Project, name: str, made: ExtInst) -> Function | None:
    """The function in which a local variable would do for the attribute that holds what a call makes."""
    own = own_attribute(project, name, made)
    places = own.attribute.places if own is not None else None
    if own is None or places is None or own.attribute.hidden():
        return None
    if any((place.module, place.function) != (own.module, own.write.function) for place in places):
        return None
    env = project.evaluator.generic(own.module, own.write.function)
    known = {own.write.target.span}
    for event in env.facts.events:
        known |= {expr.span for part in event.walk() for expr in _let_go(project, part, env)}
    return env.facts if known.issuperset(place.use.span for place in places) else None


def _let_go(project: Project, expr: Expr, env: Env) -> Iterator[Expr]:
    """The parts of an expression that it uses and that nothing keeps: the object of a method, what torch draws with."""
    if expr.kind != "call":
        return
    callee = expr.args[0]
    if callee.kind == "attribute":
        yield callee.args[0]
    called = project.values(callee, env)
    if called and all(isinstance(one, Ext) and one.name.startswith("torch.") and _is_function(one) for one in called):
        yield from expr.args[1:]
        yield from (value for _, value in expr.keywords)


def _is_function(value: Ext) -> bool:
    return value.name.rpartition(".")[2].islower()
