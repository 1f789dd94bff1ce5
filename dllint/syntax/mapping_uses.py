"""For which uses of a dictionary a read-only one can replace it."""

from __future__ import annotations

import ast

from dllint.syntax.outline import Outline

VIEWS = ("keys", "values", "items")
_READING = {*VIEWS, "get", "__contains__", "__getitem__", "__iter__", "__len__"}
_CHANGING = {"clear", "move_to_end", "pop", "popitem", "setdefault", "update"}


def mapping_kind(seen: Outline, node: ast.expr) -> str:
    """The kind of what a use does with a dictionary; "" where it does it with any container.

    Filled: an entry is set or deleted, or a method is called that may do that.
    """
    parent, field = seen.parents[node]
    match parent:
        case ast.Subscript(ctx=ast.Store() | ast.Del()) if field == "value":
            return "filled"
        case ast.AugAssign(op=ast.BitOr()) if field == "target":
            return "filled"
        case ast.Subscript(slice=ast.Slice()) if field == "value":
            return "other"
        case ast.Subscript(ctx=ast.Load()) if field == "value":
            return "read"
        case ast.Attribute(attr=method):
            return _asked(method)
        case ast.Compare(ops=[ast.In() | ast.NotIn()]) if field == "comparators":
            return "read"
        case ast.keyword(arg=None):
            return "read"
        case ast.Dict(keys=keys, values=values) if field == "values":
            return "read" if keys[values.index(node)] is None else "other"
        case ast.Call(func=ast.Name(id="dict")) if field == "args":
            return "read"
    return ""


def _asked(method: str) -> str:
    if method in _READING:
        return "read"
    if method in _CHANGING:
        return "filled"
    if method == "copy":
        return "whole"
    return "other" if hasattr(dict, method) else "foreign"


def of_view(seen: Outline, node: ast.expr) -> ast.expr:
    """The call of `keys`, `values` or `items` that a name or attribute is asked for, else itself."""
    method, field = seen.parents[node]
    if isinstance(method, ast.Attribute) and field == "value" and method.attr in VIEWS:
        call, role = seen.parents[method]
        if isinstance(call, ast.Call) and role == "func":
            return call
    return node
