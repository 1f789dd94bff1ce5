"""Attributes of `self` that a function reads: parameters that `functools.partial` fills in."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Collection, Mapping

from dllint.source import Source
from dllint.syntax.outline import FunctionNode, Offsets, Outline, outline
from dllint.syntax.scoping import binder

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_owner(seen: Outline, scope: ast.AST | None, name: str) -> bool:
    """Whether a name is the first parameter of a method."""
    if not isinstance(scope, _FUNCTIONS):
        return False
    positional = [*scope.args.posonlyargs, *scope.args.args]
    static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in scope.decorator_list)
    method = isinstance(seen.parents[scope][0], ast.ClassDef) and not static
    return method and bool(positional) and positional[0].arg == name


def attributes_read(seen: Outline, node: FunctionNode, name: str) -> list[ast.Attribute] | None:
    """Every `self.name` in the body of a function; None where it does more with the object."""
    scope = binder(seen, node, name)
    found: list[ast.Attribute] = []
    for part in _body(node):
        if isinstance(part, ast.Name) and part.id == name and binder(seen, part, name) is scope:
            above, _ = seen.parents[part]
            plain = isinstance(above, ast.Attribute) and isinstance(above.ctx, ast.Load)
            formatted = any(isinstance(outer, ast.JoinedStr) for outer, _ in seen.path(part))
            if not isinstance(above, ast.Attribute) or not plain or formatted:
                return None
            found.append(above)
    return found


def own_attributes(source: Source, start: int) -> tuple[str, ...]:
    """What the function at an offset reads of the object whose method is around it, if that method is done with it.

    Empty where the function does more with the object, or where the method sets such an attribute later.
    """
    seen = outline(source.text)
    node = seen.function_at(start) if seen else None
    if seen is None or node is None:
        return ()
    names = {part.id for part in _body(node) if isinstance(part, ast.Name)}
    for name in sorted(names):
        scope = binder(seen, node, name)
        if scope is not None and is_owner(seen, scope, name):
            read = {part.attr for part in attributes_read(seen, node, name) or ()}
            return tuple(sorted(item for item in read if not _set_later(seen, node, scope, name, item)))
    return ()


def _set_later(seen: Outline, node: FunctionNode, method: ast.AST, name: str, attribute: str) -> bool:
    """Whether a method may set an attribute after it makes a function."""
    made = seen.offsets.span(node)[0]
    loops = {above for above, _ in seen.path(node) if isinstance(above, _LOOPS)}
    for part in ast.walk(method):
        match part:
            case ast.Attribute(value=ast.Name(id=base), attr=attr, ctx=ast.Store() | ast.Del()):
                if (base, attr) != (name, attribute):
                    continue
                statement = seen.statement(part)
                inside = any(above in loops for above, _ in seen.path(statement))
                if inside or isinstance(statement, _LOOPS) or seen.offsets.span(statement)[1] > made:
                    return True
    return False


def reads_further(seen: Outline, node: FunctionNode, name: str) -> bool:
    """Whether a function reads parts of what the attributes are, which may change while they stay."""
    found = attributes_read(seen, node, name) or ()
    return any(isinstance(seen.parents[part][0], (ast.Attribute, ast.Subscript)) for part in found)


def as_parameters(seen: Outline, node: FunctionNode, name: str, others: Collection[str] = ()) -> dict[str, str]:
    """For every attribute that a function reads, the parameter in its place; empty where there is no name for one."""
    taken = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)} | set(others)
    taken |= {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
    taken |= {*dir(builtins), *keyword.kwlist}
    found: dict[str, str] = {}
    read = sorted(attributes_read(seen, node, name) or (), key=lambda part: seen.offsets.span(part))
    for attribute in dict.fromkeys(part.attr for part in read):
        plain = attribute.strip("_")
        free = next((item for item in (plain, f"{plain}_") if item.isidentifier() and item not in taken), "")
        if not free:
            return {}
        found[attribute] = free
        taken.add(free)
    return found


def without_owner(seen: Outline, node: FunctionNode, name: str, code: str, names: Mapping[str, str]) -> str:
    """The text of a function with parameters in place of attributes; `code` is the function with other indentation."""
    wanted = attributes_read(seen, node, name) or ()
    places = [index for index, part in enumerate(_attributes(node)) if part in wanted]
    alone, starts = ast.parse(code).body[0], Offsets(code)
    assert isinstance(alone, _FUNCTIONS)
    again = _attributes(alone)
    spans = sorted((starts.span(again[index]), names[again[index].attr]) for index in places)
    for (start, end), parameter in reversed(spans):
        code = code[:start] + parameter + code[end:]
    return code


def _attributes(node: FunctionNode) -> list[ast.Attribute]:
    return [part for part in _body(node) if isinstance(part, ast.Attribute)]


def _body(node: FunctionNode) -> list[ast.AST]:
    """The parts of a function without its parameters, whose defaults the function around it evaluates."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    return [part for root in body for part in ast.walk(root)]
