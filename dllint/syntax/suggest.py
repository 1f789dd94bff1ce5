"""What to call a function that had no name: after the place that it is kept in."""

from __future__ import annotations

import ast
import re

from dllint.syntax.outline import Outline
from dllint.syntax.scoping import defaults

_MAKERS = re.compile(r"^(?:get|make|build|create)_")
_FALLBACK = "_function"
_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "modulo",
    ast.Pow: "power",
    ast.MatMult: "matmul",
}


def suggest_name(outline: Outline, node: ast.Lambda) -> str:
    """`_default_word2id` for the factory of `self.word2id`, `_collate` for `collate_fn=`, `_function` at worst.

    One of several in a list is called after what it does: `_repeat`, `_multiply`.
    """
    prefix = ""
    inner: ast.AST = node
    for above, _ in outline.path(node):
        if isinstance(above, ast.Call) and _last(above.func) == "defaultdict":
            prefix = "default_"
        found = _name_given(above, inner)
        if found:
            return _private(prefix, found)
        if isinstance(above, (ast.stmt, ast.Lambda)) or (isinstance(above, (ast.List, ast.Tuple)) and _action(node)):
            break
        inner = above
    return _private(prefix, "" if prefix else _action(node))


def _action(node: ast.Lambda) -> str:
    """What a lambda does, in a word."""
    match node.body:
        case ast.Call(func=function):
            return _last(function).strip("_")
        case ast.BinOp(op=operator):
            return _OPERATIONS.get(type(operator), "")
        case ast.Subscript(slice=ast.Slice()):
            return "take"
        case ast.Subscript():
            return "item"
        case ast.Name(id=name) if name in [parameter.arg for parameter in node.args.args]:
            return "identity"
        case ast.Constant():
            return "constant"
    return ""


def _name_given(above: ast.AST, inner: ast.AST) -> str:
    """The name that a node gives to the child it holds."""
    match above:
        case ast.keyword(arg=str(name)):
            return name
        case ast.arguments():
            return _parameter(above, inner)
        case ast.Dict(keys=keys, values=values) if inner in values:
            return _last(keys[values.index(inner)])
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return _last(target)
    return ""


def _parameter(arguments: ast.arguments, default: ast.AST) -> str:
    return next((parameter.arg for parameter, value in defaults(arguments) if value is default), "")


def _last(node: ast.AST | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
        case ast.Subscript(slice=index, value=value):
            return (isinstance(index, ast.Constant) and _last(index)) or _last(value)
    return ""


def _private(prefix: str, name: str) -> str:
    words = re.sub(r"\W+", "_", name).strip("_")
    words = _MAKERS.sub("", words.removesuffix("_fn")) or words
    return f"_{prefix}{words}".rstrip("_") if prefix or words else _FALLBACK
