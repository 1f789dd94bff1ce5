"""Definitions that later ones of the same scope replace before anything can use them: what is in them never runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FORGETFUL = frozenset({"staticmethod", "classmethod", "property"})
"""Decorators that neither keep what they get elsewhere nor run code of the project."""
_COMPUTED = frozenset({"globals", "locals", "vars", "dir", "eval", "exec", "__dict__", "modules"})
"""What finds things by names that are computed; the last two are attributes: `sys.modules`."""
_ELSEWHERE = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.Return, ast.Raise)
"""After these, other code runs."""


def replaced(body: Sequence[ast.stmt]) -> Iterator[Definition]:
    """Those definitions of a scope, among the statements of its body: not what a branch or a `try` defines."""
    places: dict[str, list[int]] = {}
    for place, node in enumerate(body):
        if isinstance(node, Definition):
            places.setdefault(node.name, []).append(place)
    for name, found in places.items():
        for first, second in pairwise(found):
            node = body[first]
            if isinstance(node, Definition) and not _does_more(node) and not _is_used(name, body, first, second):
                yield node


def _does_more(node: Definition) -> bool:
    """Whether a definition may do more than to bind its name: in decorators, in defaults, in the body of a class."""
    return any(map(_runs_other_code, _run_by([node]))) or (isinstance(node, ast.ClassDef) and node.keywords != [])


def _is_used(name: str, body: Sequence[ast.stmt], first: int, second: int) -> bool:
    """Whether code may use one definition of a name before the second one is made.

    That is what runs in between. If this runs other code, it may be whatever the scope has so far.
    """
    between = body[first + 1 : second]
    run = list(_run_by([*between, body[second]]))
    if any(map(_runs_other_code, run)):
        run += (node for statement in (*body[:first], *between) for node in ast.walk(statement))
    return any(name == found or found in _COMPUTED for node in run for found in _named(node))


def _run_by(statements: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What statements run themselves: nothing in the bodies of the functions that they define."""
    waiting = list(statements)
    while waiting:
        node = waiting.pop()
        yield node
        later = set(map(id, node.body)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ()
        waiting += (part for part in ast.iter_child_nodes(node) if id(part) not in later)


def _runs_other_code(node: ast.AST) -> bool:
    if isinstance(node, Definition):
        return any(not isinstance(item, ast.Name) or item.id not in _FORGETFUL for item in node.decorator_list)
    return isinstance(node, _ELSEWHERE)


def _named(node: ast.AST) -> Sequence[str]:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(attr="__dict__" | "modules" as name):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
    return ()
