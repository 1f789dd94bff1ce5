"""The fix that moves a function from the main guard's block above the guard, where spawned workers find it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from dllint.fix import Applicability, Edit, Fix
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source, Span
from dllint.syntax.captures import first_use, free_names
from dllint.syntax.definition import insertion
from dllint.syntax.hoist import filled_in
from dllint.syntax.hoist_function import renamed_with
from dllint.syntax.layout import indent_at
from dllint.syntax.module_names import Fate, ModuleNames, is_main_guard
from dllint.syntax.names import free_name
from dllint.syntax.nested import dedented, end_of, rows
from dllint.syntax.outline import Outline, outline
from dllint.syntax.parse import Tree
from dllint.syntax.partials import narrowed
from dllint.syntax.refused import Refused, unfaithful
from dllint.syntax.scoping import bindings
from dllint.syntax.width import folded

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_KINDS = (*_LOOPS, ast.If, ast.With, ast.Try)
_GENERIC = re.compile(r"_?(?:func|fn|function|wrapper|task|job|worker|helper)$")
"""The end of a name that only says that it is a function."""


class Guarded(NamedTuple):
    """A function of the guard's block, and the variables of the block that it reads."""

    seen: Outline
    node: ast.FunctionDef
    variables: tuple[str, ...]


def guarded_function(source: Source, tree: Tree, model: ModuleModel, function: Function) -> Guarded:
    """A function that may go above the guard with `functools.partial` for what it reads. Raises Refused if it may not.

    It may if every variable has its value where the function is made, and keeps it as long as the function is used.
    """
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or not isinstance(node, ast.FunctionDef):
        raise Refused("this file is written for another Python")
    if not tree.faithful:
        raise Refused(unfaithful(source))
    code = dedented(source, rows(source, seen, node), indent_at(source, function.span.start))
    if node.decorator_list or not code or not _is_in_guard(seen, node):
        raise Refused("its lines cannot be moved")
    free = free_names(code)
    if free is None or node.name in free:
        raise Refused("it sets a variable of the module, or calls itself")
    names = ModuleNames(seen, model)
    read = [name for name in sorted(free) if not _is_above(seen, names, name)]
    changed = {name for item in model.functions for name in item.globals}
    for name in sorted(read):
        if name in changed or not _is_settled(seen, node, name):
            raise Refused(f"`{name}`, which it reads, may not be set there, or may change later")
    if read and not _is_used_below(seen, node):
        raise Refused(f"`{node.name}` is used where what it reads may have changed")
    return Guarded(seen, node, tuple(sorted(read, key=lambda name: first_use(node, name))))


def hoist_guarded(source: Source, tree: Tree, model: ModuleModel, function: Function) -> Fix:
    """Move it. Raises Refused where that would not mean the same."""
    seen, node, variables = guarded_function(source, tree, model, function)
    lines = rows(source, seen, node)
    start, end = source.line_starts[lines[0] - 1], end_of(source, lines[1])
    indent = indent_at(source, function.span.start)
    code, filled = narrowed(seen, node, source.text[slice(*seen.offsets.span(node))], variables)
    head = source.text[start : seen.offsets.span(node)[0]]
    tail = source.text[seen.offsets.span(node)[1] : end]
    moved = dedented(Source(source.path, head + code + tail), (1, (head + code + tail).count("\n") or 1), indent)
    name = free_name(model, *_names(node))
    text = renamed_with(source, moved, name, node, [item.parameter for item in filled]) if moved else None
    if not text:
        raise Refused("its lines cannot be moved")
    call, imports = filled_in(model, name, [item.value for item in filled], function.span.start)
    left = f"{indent}{folded(source, f'{node.name} = {call}', indent, len(indent))}{source.newline}"
    edits = (
        *insertion(source, tree, function.span.start, text, bool(imports)),
        Edit(source.path, Span(start, end), left),
    )
    title = f"Move `{node.name}` above the main guard as `{name}`"
    return Fix(title, edits, Applicability.UNSAFE, imports, defines=(name,))


def _is_in_guard(seen: Outline, node: ast.AST) -> bool:
    """Whether a statement is in the guard's block, under tests and in loops at most."""
    way = list(seen.path(node))
    guard, field = way[-2] if len(way) > 1 else (node, "")
    inside = all(isinstance(above, _KINDS) for above, _ in way[:-1])
    return inside and field == "body" and isinstance(guard, ast.If) and is_main_guard(guard.test)


def _is_above(seen: Outline, names: ModuleNames, name: str) -> bool:
    """Whether a name means the same above the guard."""
    if names.fate(name) is Fate.SAME:
        return True
    made = bindings(seen.tree).get(name, [])
    if not made or any(isinstance(item, (ast.alias, ast.FunctionDef, ast.ClassDef)) for item in made):
        raise Refused(f"`{name}`, which it uses, is not defined above the guard")
    return False


def _is_settled(seen: Outline, node: ast.FunctionDef, name: str) -> bool:
    """Whether a variable of the guard's block has its last value for this function where the function is made."""
    made = [seen.statement(item) for item in bindings(seen.tree)[name]]
    start, way = seen.offsets.span(node)[0], set(seen.path(node))
    if not all(_is_in_guard(seen, item) and isinstance(item, (ast.Assign, ast.AugAssign)) for item in made):
        return False
    certain = any(all(step in way for step in seen.path(item)) for item in made)
    return certain and all(seen.offsets.span(item)[1] <= start or _is_instead(seen, item, way) for item in made)


def _is_instead(seen: Outline, node: ast.stmt, way: set[tuple[ast.AST, str]]) -> bool:
    """Whether a statement is in another arm of a test than what is on the way."""
    arms = {(above, field) for above, field in seen.path(node) if isinstance(above, ast.If)}
    return any((above, field) not in way and any(above is other for other, _ in way) for above, field in arms)


def _is_used_below(seen: Outline, node: ast.FunctionDef) -> bool:
    """Whether a function is only used below its definition, in the same round of the loop around it, and as such."""
    loop = next((above for above, _ in seen.path(node) if isinstance(above, _LOOPS)), seen.tree)
    inside, end, way = set(ast.walk(loop)), seen.offsets.span(node)[1], set(seen.path(node))
    return all(
        part in inside
        and seen.offsets.span(part)[0] > end
        and not isinstance(seen.parents[part][0], ast.Attribute)
        and not _is_instead(seen, seen.statement(part), way)
        for part in _uses(seen, node.name)
    )


def _uses(seen: Outline, name: str) -> Iterator[ast.Name]:
    for part in ast.walk(seen.tree):
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load):
            yield part


def _names(node: ast.FunctionDef) -> Iterator[str]:
    """Names for the function: what its own says, and what it calls where that says too little."""
    plain = node.name.strip("_")
    verb = _GENERIC.sub("", plain)
    match node.body[ast.get_docstring(node, clean=False) is not None :]:
        case [ast.Return(value=ast.Call(func=ast.Name(id=called)))] | [
            ast.Expr(value=ast.Call(func=ast.Name(id=called)))
        ]:
            about = called.strip("_").partition("_")[2] or called.strip("_")
            if verb != plain:
                yield f"_{verb or 'call'}_{about}"
    yield f"_{plain}"
