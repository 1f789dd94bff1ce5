"""The fix that moves a lambda to module level together with the local functions that it calls."""

from __future__ import annotations

import ast

import msgspec

from dllint.fix import Applicability, Fix
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source
from dllint.syntax.hoist import hoist_lambda
from dllint.syntax.hoist_function import hoist_function
from dllint.syntax.outline import outline
from dllint.syntax.parse import Tree
from dllint.syntax.partials import Callee
from dllint.syntax.refused import Refused
from dllint.syntax.scoping import binder, bindings


def hoist_with_helpers(
    source: Source, tree: Tree, model: ModuleModel, function: Function, name: str = "", callee: Callee | None = None
) -> Fix:
    """Move a lambda, and before it the functions beside it that it uses, where these keep their names.

    Raises Refused where that would not mean the same.
    """
    try:
        return hoist_lambda(source, tree, model, function, name, callee)
    except Refused:
        helpers = _helpers(source, model, function)
        moved = [hoist_function(source, tree, model, helper) for helper in helpers]
        if not helpers or any(fix.defines != (item.name,) for fix, item in zip(moved, helpers, strict=True)):
            raise
    own = {item.name for item in helpers}
    fix = hoist_lambda(source, tree, model, function, name, own=own)
    together = (fix, *moved)
    return msgspec.structs.replace(
        fix,
        title=f"{fix.title}, with {', '.join(f'`{item.name}`' for item in helpers)}",
        edits=tuple(dict.fromkeys(edit for one in together for edit in one.edits)),
        imports=tuple(dict.fromkeys(item for one in together for item in one.imports)),
        defines=tuple(dict.fromkeys(item for one in together for item in one.defines)),
        applicability=Applicability.UNSAFE,
    )


def _helpers(source: Source, model: ModuleModel, function: Function) -> list[Function]:
    """The functions around a lambda's place that it reads, each defined once."""
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or node is None:
        return []
    names = {part.id: part for part in ast.walk(node) if isinstance(part, ast.Name)}
    found = []
    for name, part in sorted(names.items()):
        scope = binder(seen, part, name)
        made = bindings(scope).get(name, []) if scope is not None else []
        if len(made) == 1 and isinstance(made[0], ast.FunctionDef):
            start = seen.offsets.span(made[0])[0]
            found += [item for item in model.functions if item.span.start == start]
    return found
