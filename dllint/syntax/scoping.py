"""Which scope a name belongs to, and what binds it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from dllint.syntax.outline import Outline

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def binder(outline: Outline, node: ast.AST, name: str) -> ast.AST | None:
    """The function or comprehension around a node whose variable a name is; None for a name of the module."""
    for above, field in outline.path(node):
        if any(parameter.name == name for parameter in type_parameters(above)):
            return above
        if isinstance(above, _COMPREHENSIONS):
            targets = [part for loop in above.generators for part in ast.walk(loop.target)]
            if any(isinstance(part, ast.Name) and part.id == name for part in targets):
                return above
        elif isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and field == "body":
            if name in _declared(above, ast.Global):
                return None
            if name in bindings(above) or name in parameters(above):
                return above
    return None


def type_parameters(node: ast.AST) -> list[Any]:
    return getattr(node, "type_params", [])  # from Python 3.12 on


def parameters(scope: ast.AST) -> set[str]:
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return set()
    given = scope.args
    found = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {parameter.arg for parameter in found if parameter is not None}


def defaults(arguments: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*pairs, *((parameter, value) for parameter, value in named if value is not None)]


@lru_cache(maxsize=64)
def _declared(scope: ast.AST, kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    return {name for node in _own(scope) if isinstance(node, kind) for name in node.names}


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body that run in its own scope."""
    body = getattr(scope, "body", [])
    stack: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _DEFINITIONS):
            stack += node.decorator_list
        elif isinstance(node, ast.comprehension):
            stack += [node.iter, *node.ifs]
        elif not isinstance(node, ast.Lambda):
            stack += ast.iter_child_nodes(node)


@lru_cache(maxsize=64)  # each fix of a file asks for its module, and for the functions around
def bindings(scope: ast.AST) -> dict[str, list[ast.AST]]:
    """The nodes that bind each name in the body of a function or module, without parameters."""
    found: dict[str, list[ast.AST]] = {}
    for node in _own(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.setdefault(name, []).append(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.setdefault(name, []).append(node)
            case ast.alias(name=name, asname=alias):
                found.setdefault(alias or name.partition(".")[0], []).append(node)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.setdefault(name, []).append(node)
            case ast.MatchMapping(rest=str(name)):
                found.setdefault(name, []).append(node)
    outside = _declared(scope, ast.Nonlocal)
    return {name: nodes for name, nodes in found.items() if name not in outside}
