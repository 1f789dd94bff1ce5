"""Handles that nothing uses once the function that keeps them is done: there is no need to keep them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Event, Expr
from dllint.project.edits.attribute import Attribute
from dllint.project.escape.handle_table import Handle
from dllint.project.escape.shipped import Held
from dllint.project.evaluate.abstract_values import ExtInst
from dllint.project.program.module import Module, Write

if TYPE_CHECKING:
    from dllint.project import Project

_READING = frozenset({
    *("read", "readline", "readlines", "seek", "tell", "close", "namelist", "infolist", "getnames", "stat"),
    *("fetchone", "fetchall", "commit", "isOpened", "release", "group", "groups", "hexdigest", "digest"),
})  # fmt: skip
"""Methods whose results are plain data, or nothing."""
_GOING_THROUGH = frozenset({
    *("len", "list", "tuple", "set", "sorted", "sum", "str", "json.load", "pickle.load", "yaml.safe_load", "next"),
})  # fmt: skip
"""Functions whose results have no part of a handle that they are given."""
_ASKING = ("getattr", "hasattr", "setattr", "delattr")
_Scope = tuple[Module, int]


def no_need_to_keep(project: Project, held: Held, handle: Handle) -> str:
    """The remedy for a handle of which nothing is read later; "" where something may be."""
    kept = _write(project, held)
    if kept is None or not isinstance(held.value, ExtInst) or handle.instead:
        return ""
    module, write = kept
    klass = project.evaluator.klass(module, module.method_owner(write.function))
    attribute = Attribute(project, klass, write.target.name)
    if attribute.hidden() or _is_asked_for(project, attribute.name):
        return ""
    used = False
    for where, event, part in _named(project, attribute):
        if where[0] is module and part.span == write.target.span:
            continue
        if where != (module, write.function) or not any(use is part for use in _read(event)):
            return ""
        used = True
    function = module.model.functions[write.function].name
    if not used:
        return "nothing uses it: delete the attribute"
    instead = "keep it in a local variable there"
    if handle.remedy.startswith("open"):
        instead = "open it there in a `with` statement"
    return f"only `{function}` uses it, so {instead}"


def _write(project: Project, held: Held) -> tuple[Module, Write] | None:
    """The assignment in a method that keeps something under an attribute of its object."""
    if held.holder.kind != "attribute" or not held.route:
        return None
    step = held.route[0]
    module = project.index.modules[step.path]
    write = module.write_at(held.holder.name, step.span)
    own = write is not None and write.target.args[0].name == module.receiver_name(write.function)
    return (module, write) if write is not None and own and module.method_owner(write.function) >= 0 else None


def _named(project: Project, attribute: Attribute) -> Iterator[tuple[_Scope, Event, Expr]]:
    """Where code names the attribute, or one of its name that may be it; to close it is no use."""
    for module in project.index:
        for function, _, events in module.scopes if attribute.name in module.attributes else ():
            other = (module.path, module.method_owner(function)) not in attribute.family
            receiver = module.receiver_name(function) if other and function >= 0 else ""
            for event in events:
                parts = list(event.walk())
                skipped = {id(part.args[0].args[0]) for part in parts if _closes(part)}
                for part in parts:
                    named = part.kind == "attribute" and part.name == attribute.name
                    if named and id(part) not in skipped and not (receiver and part.args[0].name == receiver):
                        yield (module, function), event, part


def _closes(part: Expr) -> bool:
    method = part.args[0] if part.kind == "call" and len(part.args) == 1 and not part.keywords else None
    return method is not None and method.kind == "attribute" and method.name == "close"


def _is_asked_for(project: Project, name: str) -> bool:
    """Whether `getattr` and the like may ask for it."""
    return any(name in [arg.value for arg in site.expr.args[2:3]] for site in project.index.calls_named(_ASKING))


def _read(event: Event) -> Iterator[Expr]:
    """What an event reads through and keeps no part of."""
    if event.kind == "for" and event.value is not None:
        yield event.value
    for part in event.walk():
        if part.kind == "call":
            method = part.args[0]
            if method.kind == "attribute" and method.name in _READING:
                yield method.args[0]
            if method.dotted in _GOING_THROUGH:
                yield from (_of_keys(arg) for arg in part.args[1:])
        elif part.kind == "subscript" and _copies(part.args[1]):
            base = part.args[0]
            while base.kind == "subscript":
                base = base.args[0]
            yield base


def _of_keys(given: Expr) -> Expr:
    """`x` of `list(x)` and of `list(x.keys())`."""
    method = given.args[0] if given.kind == "call" and len(given.args) == 1 else None
    return method.args[0] if method is not None and method.kind == "attribute" and method.name == "keys" else given


def _copies(index: Expr) -> bool:
    """Whether an index of a data set in a file gives an array: `[:]` and `[()]` do."""
    return index.kind == "slice" or (index.kind == "tuple" and not index.args)
