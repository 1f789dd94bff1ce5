"""Names for new code: free ones, and ways to write a library's function in a given module."""

from __future__ import annotations

import builtins
import keyword
import sys
from collections.abc import Iterator
from itertools import chain, count

from dllint.fix import Import
from dllint.model.facts import Class, Event, Expr, Function, ImportedName, ModuleModel
from dllint.syntax.latest import latest


def free_name(model: ModuleModel, *wanted: str) -> str:
    """The first of the wanted names, or it with a number, that occurs nowhere in the module and is no builtin."""
    taken = used_names(model)
    numbered = (f"{wanted[0]}_{number}" for number in count(2))
    return next(name for name in chain(wanted, numbered) if name not in taken)


@latest
def used_names(model: ModuleModel) -> set[str]:
    """Every name that the module binds or reads in any scope, the builtins and the keywords."""
    names = {*dir(builtins), *keyword.kwlist, *model.bound}
    names.update(imported.bound for imported in model.imports)
    for function in model.functions:
        names |= function.bound | function.loads | function.globals | function.nonlocals
    for event in _events(model):
        names.update((event.name, *event.names))
        for expression in (event.target, event.value):
            names |= _names(expression)
    for block in model.blocks:
        names |= _names(block.test)
    for item in _scopes(model):
        names.add(item.name)
        for expression in item.decorators:
            names |= _names(expression)
    return names


def reference(
    model: ModuleModel, module: str, attribute: str, use: int, later: bool = False
) -> tuple[str, tuple[Import, ...]]:
    """How to write `module.attribute` at an offset of a file, and the import that this needs, if any.

    `later`: it is in a function that is called once the whole module has run.
    """
    for imported in model.imports:
        if not _serves(imported, use, later) or _rebound(model, imported.bound, imported.span.start):
            continue
        if imported.module == module and imported.attribute == attribute:
            return imported.bound, ()
        if imported.module == module and not imported.attribute and ("." not in module or imported.bound != module):
            return f"{imported.bound}.{attribute}", ()
        if _binds_package(imported) and imported.bound == module:
            return f"{module}.{attribute}", ()
    if module in sys.stdlib_module_names and free_name(model, attribute) == attribute:
        beside = (other for other in model.imports if other.module == module and other.attribute not in ("", "*"))
        if any(other.bound == other.attribute and _serves(other, use, later) for other in beside):
            return attribute, (Import(model.path, module, attribute),)
    bound = module.partition(".")[0]
    if "." not in module and free_name(model, bound) == bound:
        return f"{bound}.{attribute}", (Import(model.path, module),)
    alias = free_name(model, f"_{attribute}")
    return alias, (Import(model.path, module, attribute, alias),)


def module_alias(model: ModuleModel, module: str, alias: str, use: int) -> tuple[str, tuple[Import, ...]]:
    """The name of a top-level module at an offset of a file, and the import that this needs, if any."""
    for imported in model.imports:
        own = _is_module(imported, module)
        above = imported.function < 0 and imported.block < 0 and imported.span.end <= use
        if own and above and not _rebound(model, imported.bound, imported.span.start):
            return imported.bound, ()
    name = free_name(model, f"_{module}") if _is_other(model, alias, module) else alias
    return name, (Import(model.path, module, alias=name),)


def _is_module(imported: ImportedName, module: str) -> bool:
    """Whether an import binds a top-level module: `import torch as t` and `import torch.nn` do."""
    own = imported.module == module or (imported.bound == module and _binds_package(imported))
    return own and not imported.attribute and not imported.level


def _is_other(model: ModuleModel, name: str, module: str) -> bool:
    """Whether any scope binds a name to something else than a module, which other scopes may import, too."""
    same = [one for one in model.imports if one.bound == name and _is_module(one, module)]
    scopes = {one.function for one in same}
    own = (function for function in model.functions if name in function.bound and function.index not in scopes)
    imported = (one for one in model.imports if one.bound == name and one not in same)
    written = (event for event in _events(model) if event.kind != "import" and name in _bound_by(event))
    top = name in model.bound and -1 not in scopes
    return top or any(True for found in (own, imported, written) for _ in found)


def _serves(imported: ImportedName, use: int, later: bool) -> bool:
    """Whether an import of the whole module, not of a function or a branch, runs before an offset, or before a call."""
    return not imported.level and imported.function < 0 and imported.block < 0 and (imported.span.end <= use or later)


def _rebound(model: ModuleModel, name: str, origin: int) -> bool:
    """Whether anything but the import at `origin` can bind the name, in any scope."""
    own = next(other for other in model.imports if other.span.start == origin and other.bound == name)
    imported = (other for other in model.imports if other.bound == name and not _is_same(other, own))
    local = (function for function in model.functions if name in function.bound or name in function.globals)
    written = (event for event in model.events if event.kind != "import" and name in _bound_by(event))
    return any(True for found in (imported, local, written) for _ in found)


def _is_same(one: ImportedName, other: ImportedName) -> bool:
    """Whether two imports of a module bind the same thing for all its code: cells of notebooks repeat theirs.

    `import torch.utils.data` binds `torch`, as `import torch` does.
    """
    what = [(item.module, item.attribute, item.level) for item in (one, other)]
    same = what[0] == what[1] or (_binds_package(one) and _binds_package(other))
    return one is other or (same and one.function < 0)


def _binds_package(imported: ImportedName) -> bool:
    """Whether an import binds the outermost package of what it imports, under its own name."""
    own = imported.module.partition(".")[0] == imported.bound
    return own and not imported.attribute and not imported.level


def _bound_by(event: Event) -> set[str]:
    if event.kind in ("def", "class"):
        return {event.name}
    if event.kind in ("expr", "return", "test", "assert", "raise"):
        return set()
    return {*event.names, *bound_by(event.target)}


def bound_by(target: Expr | None) -> set[str]:
    """The names that a target binds: `a` of `a, b.c`; not those of what it changes, as in `a.b = ...`."""
    match target:
        case Expr(kind="name", name=name):
            return {name}
        case Expr(kind="tuple" | "list" | "star", args=parts):
            return {name for part in parts for name in bound_by(part)}
    return set()


def _events(model: ModuleModel) -> Iterator[Event]:
    yield from model.events
    for item in _scopes(model):
        yield from item.events


def _scopes(model: ModuleModel) -> Iterator[Function | Class]:
    yield from model.functions
    yield from model.classes


def _names(expression: Expr | None) -> set[str]:
    return set() if expression is None else {part.name for part in expression.walk() if part.kind == "name"}
