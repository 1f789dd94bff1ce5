"""How a file uses an attribute: for which uses an array can replace a list, and for which it can't."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.source import Source, Span
from dllint.syntax.mapping_uses import mapping_kind, of_view
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings, defaults

_ITERATING = {
    *("len", "enumerate", "zip", "map", "filter", "iter", "reversed"),
    *("sorted", "list", "tuple", "set", "frozenset", "min", "max"),
}
"""Built-in functions that go through their argument from the beginning to the end, and ask nothing else of it."""
_LOOPS = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_TELLING = {"bool", "isinstance", "issubclass", "hasattr", "callable", "any", "all"}
_CHOOSING = {"random.choice", "random.choices"}
"""Functions that ask for the length and items."""
_WHOLE = {"print", "str", "repr", "json.dumps", "random.sample"}
_WHOLE_METHODS = {"index", "count", "copy"}
"""What needs all of a list, and neither changes nor keeps it."""
_MUTATORS = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}


_COMMENTED = re.compile(r"\.[ \t]*#")
"""A dot whose attribute may follow a comment."""


class Use(NamedTuple):
    """An occurrence of a name or of `base.attribute`.

    `kind` is read (its length, an item, a loop), sliced (a slice that is kept), whole (all of it at once: `in`), joined
    (`+`), write (`base.attribute = ...`), filled (`append` and the like, `+=`, `*=`, `random.shuffle`, as statements),
    set (in other ways, or deleted), tested (for being empty), returned, stored (under another name), given (to another
    function), named (by a string in `getattr`), foreign (it is asked for what no list has) or other. Of a name, `base`
    is the name itself.
    """

    kind: str
    span: Span
    base: Span


def attribute_uses(source: Source, name: str, mapping: bool = False) -> list[Use] | None:
    """Every use of an attribute in a file, in its order; None where the running Python cannot read the file.

    `mapping`: it is a dictionary.
    """
    # Parsing every file that merely has the word would take longer than all rules together.
    if name not in source.text or not (_near(name).search(source.text) or _COMMENTED.search(source.text)):
        return []
    seen = outline(source.text)
    return None if seen is None else sorted(_uses(seen, name, mapping), key=lambda use: use.span)


def _near(name: str) -> re.Pattern[str]:
    """The name behind a dot or a quote."""
    return re.compile(rf"(?:\.[\s\\]*|[\"']){re.escape(name)}\b")


def goes_through(source: Source, span: Span) -> bool:
    """Whether code goes through what the name or attribute at a span gives: a loop does, also one that asks by index.

    `len` does not, nor an index outside of a loop.
    """
    seen = outline(source.text)
    node = seen.expression_at(span) if seen is not None else None
    if seen is None or node is None:
        return False
    return _goes_through(seen, of_view(seen, node)) or _is_indexed_in_loop(seen, node)


def _is_indexed_in_loop(seen: Outline, node: ast.expr) -> bool:
    parent, field = seen.parents[node]
    if not isinstance(parent, ast.Subscript) or field != "value":
        return False
    for above, part in seen.path(parent):
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return False
        if isinstance(above, _LOOPS) and part not in ("iter", "generators"):
            return True
    return False


def _goes_through(seen: Outline, node: ast.expr) -> bool:
    parent, field = seen.parents[node]
    match parent:
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            return field == "iter"
        case ast.Call(func=function) if field == "args":
            return _iterates(seen, function) and ast.unparse(function) != "len"
    return isinstance(parent, ast.Starred)


def name_uses(source: Source, name: str, within: Span, mapping: bool = False) -> list[Use] | None:
    """Every use of a name between two offsets; None where the running Python cannot read the file."""
    seen = outline(source.text)
    if seen is None:
        return None
    names = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Name) and node.id == name)
    found = [Use(_kind(seen, node, mapping), span := Span(*seen.offsets.span(node)), span) for node in names]
    return sorted((use for use in found if within.start <= use.span.start < within.end), key=lambda use: use.span)


def _uses(seen: Outline, name: str, mapping: bool) -> Iterator[Use]:
    for node in ast.walk(seen.tree):
        match node:
            case ast.Attribute(attr=attribute) if attribute == name:
                span, base = Span(*seen.offsets.span(node)), Span(*seen.offsets.span(node.value))
                yield Use(_kind(seen, node, mapping), span, base)
            case ast.Call(args=[base, ast.Constant(value=text), *_]) if text == name:
                yield Use("named", Span(*seen.offsets.span(node)), Span(*seen.offsets.span(base)))
            case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id="self") as base, text, *_]):
                if _may_say(text, name) and seen.parents[node][1] != "func":
                    yield Use("other", Span(*seen.offsets.span(node)), Span(*seen.offsets.span(base)))


def _may_say(text: ast.expr, name: str) -> bool:
    """Whether an expression may be the text of a name: `getattr(self, split)`, `getattr(self, f"{split}_rows")`."""
    match text:
        case ast.Constant(value=value):
            return value == name
        case ast.JoinedStr(values=[*parts]) if parts:
            first, last = (part.value if isinstance(part, ast.Constant) else "" for part in (parts[0], parts[-1]))
            return name.startswith(str(first)) and name.endswith(str(last))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, last = (part.value if isinstance(part, ast.Constant) else "" for part in (left, right))
            return name.startswith(str(first)) and name.endswith(str(last))
    return True


def _kind(seen: Outline, node: ast.expr, mapping: bool = False) -> str:
    kind = mapping_kind(seen, node) if mapping else ""
    if kind:
        return kind
    parent, field = seen.parents[node]
    match parent:
        case ast.Assign() if field == "targets":
            return "write"
        case ast.Tuple() | ast.List() if _is_target(seen, parent):
            return "write"
        case ast.AugAssign(op=ast.Add() | ast.Mult()) if field == "target":
            return "filled"
        case _ if not isinstance(getattr(node, "ctx", None), ast.Load):
            return "set"
        case ast.Subscript(ctx=ast.Store() | ast.Del()) if field == "value":
            return "set"
        case ast.Assign():
            return "stored"
        case ast.Tuple() if _is_named_apart(seen, parent):
            return "stored"
        case ast.Return():
            return "returned"
        case ast.Call() if field == "func":
            return "foreign"
        case ast.Call(func=function) if field == "args":
            if ast.unparse(function) == "random.shuffle" and isinstance(seen.parents[parent][0], ast.Expr):
                return "filled"
            return _given_to(seen, function)
        case ast.Subscript(ctx=ast.Load(), slice=ast.Slice()) if field == "value":
            kind = _kind(seen, parent)
            return kind if kind in ("read", "foreign") else "sliced"
        case ast.Subscript(ctx=ast.Load(), slice=index) if field == "value":
            return "other" if _may_be_bool(seen, index) else "read"
        case ast.For() | ast.AsyncFor() | ast.comprehension() if field == "iter":
            return "read"
        case ast.Starred(ctx=ast.Load()) | ast.YieldFrom():
            return "read"
        case ast.Attribute(attr=method) if method in _MUTATORS and _is_statement(seen, parent):
            return "filled"
        case ast.Attribute(attr="__len__" | "__iter__"):
            return "read"
        case ast.Attribute(attr=method) if method in _WHOLE_METHODS or not hasattr(list, method):
            return "whole" if method in _WHOLE_METHODS else "foreign"
        case ast.BinOp(op=ast.Add()):
            return "joined"
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant()]):
            return "read"
        case ast.Compare() | ast.BinOp() | ast.FormattedValue():
            return "whole"
        case ast.UnaryOp(op=ast.Not()):
            return "tested"
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert() if field == "test":
            return "tested"
    return "other"


def _is_target(seen: Outline, node: ast.expr) -> bool:
    """Whether a tuple is what an assignment unpacks its value into."""
    parent, field = seen.parents[node]
    return isinstance(parent, ast.Assign) and field == "targets"


def _is_named_apart(seen: Outline, value: ast.Tuple) -> bool:
    """Whether each part of a tuple gets a name: `names, rows = self.names, self.rows`."""
    match seen.parents[value][0]:
        case ast.Assign(targets=[ast.Tuple(elts=names)]):
            return len(names) == len(value.elts) and all(isinstance(name, ast.Name) for name in names)
    return False


def _given_to(seen: Outline, function: ast.expr) -> str:
    """The kind of a use as the argument of a call."""
    name = ast.unparse(function)
    joins = isinstance(function, ast.Attribute) and function.attr == "join" and isinstance(function.value, ast.Constant)
    if joins or _iterates(seen, function) or name in _CHOOSING:
        return "read"
    if name == "bool" and _is_builtin(seen, function, name):
        return "tested"
    whole = name in _WHOLE and (not isinstance(function, ast.Name) or _is_builtin(seen, function, name))
    return "whole" if whole else "given"


def _is_builtin(seen: Outline, node: ast.expr, name: str) -> bool:
    return binder(seen, node, name) is None and name not in bindings(seen.tree)


def _is_statement(seen: Outline, function: ast.Attribute) -> bool:
    """Whether a method is called for its effect alone."""
    call, field = seen.parents[function]
    return isinstance(call, ast.Call) and field == "func" and isinstance(seen.parents[call][0], ast.Expr)


def _iterates(seen: Outline, function: ast.expr) -> bool:
    """Whether a call goes through its argument: one of a built-in function, not of something else with its name."""
    match function:
        case ast.Name(id="tqdm") | ast.Attribute(value=ast.Name(id="tqdm"), attr="tqdm" | "auto"):
            return True
        case ast.Name(id=name):
            return name in _ITERATING and _is_builtin(seen, function, name)
    return False


def _may_be_bool(seen: Outline, index: ast.expr, depth: int = 4) -> bool:
    """Whether an index is seen to be True or False, which mean 1 and 0 to a list and a new axis to an array."""
    match index:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _TELLING
        case ast.BoolOp(values=values):
            found: Iterable[ast.expr] = values
        case ast.IfExp(body=body, orelse=other):
            found = (body, other)
        case ast.Name(id=name):
            found = _given(seen, binder(seen, index, name) or seen.tree, name)
        case ast.Attribute(attr=name):
            found = _kept(seen, name)
        case _:
            return False
    return depth > 0 and any(_may_be_bool(seen, value, depth - 1) for value in found)


def _kept(seen: Outline, name: str) -> Iterator[ast.expr]:
    """The values that the file assigns to attributes of this name."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Attribute) and target.attr == name for target in targets):
                yield node.value


def _given(seen: Outline, scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """The values assigned to a variable, and a parameter's default."""
    for node in bindings(scope).get(name, ()):
        statement = seen.parents[node][0]
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and statement.value is not None:
            yield statement.value
    arguments = getattr(scope, "args", None)
    if isinstance(arguments, ast.arguments):
        yield from (value for parameter, value in defaults(arguments) if parameter.arg == name)
        yield from _annotated(arguments, name)


def _annotated(arguments: ast.arguments, name: str) -> Iterator[ast.expr]:
    """A parameter that is annotated as `bool` is as good as one that is True by default."""
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if parameter.arg == name and isinstance(parameter.annotation, ast.Name) and parameter.annotation.id == "bool":
            yield ast.Constant(True)
