"""Lambdas that are written alike and kept alike: one function will do for all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.syntax.outline import Outline

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def twins(seen: Outline, node: ast.Lambda, anywhere: bool = False) -> Iterator[ast.Lambda]:
    """The other lambdas with just this text, in just such a place of the same function.

    `anywhere`: of all that follows in the module, too.
    """
    text, place, around = seen.offsets.text, _place(seen, node), _around(seen, node)
    start, end = seen.offsets.span(node)
    for other in ast.walk(seen.tree) if place else ():
        if not isinstance(other, ast.Lambda) or other is node or _place(seen, other) != place:
            continue
        first, last = seen.offsets.span(other)
        near = _around(seen, other) is around or (anywhere and first > start)
        if near and text[first:last] == text[start:end] and _top(seen, other) >= _top(seen, node):
            yield other


def _around(seen: Outline, node: ast.Lambda) -> ast.AST | None:
    return next((above for above, _ in seen.path(node) if isinstance(above, _FUNCTIONS)), None)


def _top(seen: Outline, node: ast.Lambda) -> int:
    """The line of the module's statement that has it."""
    steps = (step for step, _ in seen.path(node) if isinstance(step, ast.stmt))
    return next(step.lineno for step in steps if seen.parents[step][0] is seen.tree)


def _place(seen: Outline, node: ast.Lambda) -> str:
    """What keeps a lambda: the call that it is given to and how, or what it is assigned to; "" for other places."""
    inner: ast.AST = node
    for above, field in seen.path(node):
        match above:
            case ast.Call(func=function) if field == "args":
                position = next(index for index, item in enumerate(above.args) if item is inner)
                return f"{ast.unparse(function)}({position})"
            case ast.keyword(arg=name):
                call = seen.parents[above][0]
                return f"{ast.unparse(call.func)}({name}=)" if isinstance(call, ast.Call) else ""
            case ast.Assign(targets=[target]):
                return ast.unparse(target)
            case ast.Dict() if field == "keys":
                return ""
            case ast.List() | ast.Tuple() | ast.IfExp() | ast.Dict():
                inner = above
            case _:
                return ""
    return ""
