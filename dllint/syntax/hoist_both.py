"""The fix that moves a function to module level together with the local functions that it calls."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

import msgspec

from dllint.fix import Applicability, Edit, Fix
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source
from dllint.syntax.hoist import hoist_lambda
from dllint.syntax.hoist_function import hoist_function
from dllint.syntax.outline import Outline, outline
from dllint.syntax.parse import Tree
from dllint.syntax.partials import Callee
from dllint.syntax.refused import Refused
from dllint.syntax.scoping import binder, bindings

DEPTH = 3
"""Functions that call functions that call functions."""


def hoist_with_helpers(
    source: Source,
    tree: Tree,
    model: ModuleModel,
    function: Function,
    name: str = "",
    callee: Callee | None = None,
    depth: int = DEPTH,
    settled: Collection[str] = (),
) -> Fix:
    """Move a function, and the functions beside it that it uses.

    Those that capture nothing keep their names; of the others, a variable keeps the `functools.partial`. `settled` are
    attributes of the object around that stay what they are. Raises Refused where that would not mean the same.
    """
    try:
        return _alone(source, tree, model, function, name, callee, (), (), settled)
    except Refused:
        helpers = _helpers(source, model, function) if depth else []
        if not helpers:
            raise
    fixes = [hoist_with_helpers(source, tree, model, item, depth=depth - 1) for _, item in helpers]
    named = [helper for helper, _ in helpers]
    own = {helper for helper, fix in zip(named, fixes, strict=True) if helper in fix.defines}
    callee = callee or _called(function, helpers, own)
    stands_for = _stands_for(source, function, helpers, set(named) - own)
    if stands_for:
        edits = (Edit(source.path, function.span, stands_for),)
        fix = Fix(f"Use `{stands_for}` instead of the lambda", edits, Applicability.UNSAFE)
    else:
        fix = _alone(source, tree, model, function, name, callee, own, set(named) - own, settled)
    together = (fix, *fixes)
    defines = [item for one in together for item in one.defines]
    if len(set(defines)) < len(defines):
        raise Refused(f"`{max(defines, key=defines.count)}` would be the name of two functions")
    return msgspec.structs.replace(
        fix,
        title=f"{fix.title}, with {', '.join(f'`{helper}`' for helper in dict.fromkeys(named))}",
        edits=tuple(dict.fromkeys(edit for one in together for edit in one.edits)),
        imports=tuple(dict.fromkeys(item for one in together for item in one.imports)),
        defines=tuple(defines),
        applicability=Applicability.UNSAFE,
    )


def _stands_for(
    source: Source, function: Function, helpers: Sequence[tuple[str, Function]], moved: Collection[str]
) -> str:
    """The variable of the partial that a lambda passes its parameters to, if that has nothing else at any time."""
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen is not None else None
    match node:
        case ast.Lambda(body=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[])) if name in moved:
            given = [part.id for part in arguments if isinstance(part, ast.Name)]
            plain = [item.name for item in function.parameters if item.kind == "positional" and item.default is None]
            scope = binder(seen, node, name) if seen is not None else None
            made = [item for other, item in helpers if other == name and item.block < 0]
            first = bool(made) and made[0].span.end <= function.span.start
            once = scope is not None and len(bindings(scope)[name]) == 1
            if first and once and given == plain and len(plain) == len(arguments) == len(function.parameters):
                return name
    return ""


def _called(function: Function, helpers: Sequence[tuple[str, Function]], own: Collection[str]) -> Callee | None:
    """What a function returns a call of, where that moves along under its name: a partial of it will do."""
    returned = [event.value for event in function.events if event.kind == "return"]
    called = returned[0].args[0].name if len(returned) == 1 and returned[0] and returned[0].kind == "call" else ""
    parameters = next((helper.parameters for name, helper in helpers if name == called and name in own), None)
    if parameters is None:
        return None
    return Callee(called, tuple(item.name for item in parameters if item.kind == "positional"))


def _alone(
    source: Source,
    tree: Tree,
    model: ModuleModel,
    function: Function,
    name: str,
    callee: Callee | None,
    own: Collection[str],
    moved: Collection[str],
    settled: Collection[str],
) -> Fix:
    if function.kind == "lambda":
        return hoist_lambda(source, tree, model, function, name, callee, own, moved, settled)
    return hoist_function(source, tree, model, function, callee, own, moved, settled)


def _helpers(source: Source, model: ModuleModel, function: Function) -> list[tuple[str, Function]]:
    """The functions around a function's place that it reads, with the variables that they are called by."""
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or node is None:
        return []
    names = {part.id: part for part in ast.walk(node) if isinstance(part, ast.Name)}
    found = []
    for name, part in sorted(names.items()):
        scope = binder(seen, node, name)
        if scope is None or binder(seen, part, name) is not scope:
            continue
        starts = {_start(seen, made) for made in bindings(scope).get(name, []) if made is not node}
        found += [(name, item) for item in model.functions if item.span.start in starts]
    return found


def _start(seen: Outline, made: ast.AST) -> int:
    """Where the function begins that a binding is about; -1 if it is about none."""
    statement = seen.statement(made)
    value = getattr(statement, "value", None)
    if isinstance(statement, ast.Assign) and isinstance(value, ast.Lambda):
        return seen.offsets.span(value)[0]
    return seen.offsets.span(made)[0] if isinstance(made, ast.FunctionDef) else -1
