"""The fixes for classes that pickle cannot find by their names."""

from __future__ import annotations

import re

from dllint import Applicability, Edit, Expr, ExtInst, Fix, Held, Inst, Klass, Project, namedtuple_of


def by_hand(what: str, why: object, where: str = "to module level") -> Fix:
    """What a person has to do, and the obstacle to a fix."""
    return Fix(f"Move {what} {where}; {why}", (), Applicability.MANUAL)


def passed_base(klass: Klass) -> Expr | None:
    """A base class that depends on a parameter of a function around: at module level nothing has that name."""
    return next((base for base in klass.facts.bases if any(_is_passed(part, klass) for part in base.walk())), None)


def _is_passed(part: Expr, klass: Klass) -> bool:
    functions = klass.module.model.functions
    index = klass.facts.parent if part.kind == "name" else -1
    while index >= 0 and part.name not in functions[index].bound:
        index = functions[index].parent
    return index >= 0 and any(item.name == part.name for item in functions[index].parameters)


def fix_class(project: Project, held: Held) -> Fix | None:
    """The local class at module level; a named tuple under the name of its variable."""
    if namedtuple_of(held.value) is not None:
        return _named_tuple(project, held)
    klass = held.value.klass if isinstance(held.value, Inst) else held.value
    assert isinstance(klass, Klass)
    base = passed_base(klass)
    if base is not None:
        return _composed(project, klass, base)
    return _moved(project, klass.module.path, klass.facts.span.start, klass.facts.parent, klass.facts.name)


def _composed(project: Project, klass: Klass, base: Expr) -> Fix:
    """What a function that makes a subclass of any class can be replaced with."""
    whole = project.text(klass.module.path, base.span)
    return Fix.manual(
        f"Write a class at module level whose `__init__` gets an object of `{whole}`, and that calls it; "
        f"or write a subclass there for each class that is passed"
    )


def _named_tuple(project: Project, held: Held) -> Fix | None:
    """The name corrected, or the whole statement moved: never both, as the second is only right after the first."""
    tuple_type, made = namedtuple_of(held.value), held.value
    assert tuple_type is not None
    assert isinstance(made, ExtInst)
    assert isinstance(made.base, ExtInst)
    call, env = made.base.call, made.base.env
    statement = next((event for event in env.module.events(env.function) if event.value is call), None)
    if statement is None or statement.target is None or statement.target.kind != "name":
        return by_hand("the named tuple", "it has no name of its own")
    if tuple_type.local:
        same = tuple_type.typename == tuple_type.bound
        if not same:
            return by_hand("the named tuple", f"its name must be `{tuple_type.bound}`, too")
        return _moved(project, env.module.path, statement.start, env.function, tuple_type.bound)
    written = call.args[1].span
    literal = re.fullmatch(r"""(["'])\w+\1""", project.text(env.module.path, written))
    if literal is None:
        return Fix(f"Name it `{tuple_type.bound}`; its name is computed", (), Applicability.MANUAL)
    edit = Edit(env.module.path, written, f"{literal[1]}{tuple_type.bound}{literal[1]}")
    return Fix(f"Name it `{tuple_type.bound}`, as the variable is", (edit,), Applicability.UNSAFE)


def _moved(project: Project, path: str, start: int, around: int, name: str) -> Fix:
    from dllint import Refused, hoist_class

    try:
        return hoist_class(project.source(path), project.tree(path), project.models[path], start, around)
    except Refused as refused:
        return by_hand(f"`{name}`", refused)
