"""How a file uses an attribute: for which uses an array can replace a list, and for which it can't."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dllint.source import Source, Span
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings, defaults

_ITERATING = {
    *("len", "enumerate", "zip", "map", "filter", "iter", "reversed"),
    *("sorted", "list", "tuple", "set", "frozenset", "min", "max"),
}
"""Built-in functions that go through their argument from the beginning to the end, and ask nothing else of it."""
_TELLING = {"bool", "isinstance", "issubclass", "hasattr", "callable", "any", "all"}
_MUTATORS = {"append", "extend", "insert", "sort", "reverse"}


_COMMENTED = re.compile(r"\.[ \t]*#")
"""A dot whose attribute may follow a comment."""


class Use(NamedTuple):
    """An occurrence of a name or of `base.attribute`.

    `kind` is read (its length, an item, a loop), write (`base.attribute = ...`), filled (`append` and the like, `+=`,
    `random.shuffle`, as statements), set (in other ways, or deleted), tested (for being empty), returned, stored (under
    another name), named (by a string in `getattr`) or other. Of a name, `base` is the name itself.
    """

    kind: str
    span: Span
    base: Span


def attribute_uses(source: Source, name: str) -> list[Use] | None:
    """Every use of an attribute in a file, in its order; None where the running Python cannot read the file."""
    # Parsing every file that merely has the word would take longer than all rules together.
    if name not in source.text or not (_near(name).search(source.text) or _COMMENTED.search(source.text)):
        return []
    seen = outline(source.text)
    return None if seen is None else sorted(_uses(seen, name), key=lambda use: use.span)


def _near(name: str) -> re.Pattern[str]:
    """The name behind a dot or a quote."""
    return re.compile(rf"(?:\.[\s\\]*|[\"']){re.escape(name)}\b")


def name_uses(source: Source, name: str, within: Span) -> list[Use] | None:
    """Every use of a name between two offsets; None where the running Python cannot read the file."""
    seen = outline(source.text)
    if seen is None:
        return None
    names = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Name) and node.id == name)
    found = [Use(_kind(seen, node), span := Span(*seen.offsets.span(node)), span) for node in names]
    return sorted((use for use in found if within.start <= use.span.start < within.end), key=lambda use: use.span)


def _uses(seen: Outline, name: str) -> Iterator[Use]:
    for node in ast.walk(seen.tree):
        match node:
            case ast.Attribute(attr=attribute) if attribute == name:
                yield Use(_kind(seen, node), Span(*seen.offsets.span(node)), Span(*seen.offsets.span(node.value)))
            case ast.Call(args=[base, ast.Constant(value=text), *_]) if text == name:
                yield Use("named", Span(*seen.offsets.span(node)), Span(*seen.offsets.span(base)))


def _kind(seen: Outline, node: ast.expr) -> str:
    parent, field = seen.parents[node]
    match parent:
        case ast.Assign() if field == "targets":
            return "write"
        case ast.AugAssign(op=ast.Add()) if field == "target":
            return "filled"
        case _ if not isinstance(getattr(node, "ctx", None), ast.Load):
            return "set"
        case ast.Assign():
            return "stored"
        case ast.Return():
            return "returned"
        case ast.Call(func=function) if field == "args":
            if ast.unparse(function) == "random.shuffle" and isinstance(seen.parents[parent][0], ast.Expr):
                return "filled"
            return "read" if _iterates(seen, function) else "other"
        case ast.Subscript(ctx=ast.Load(), slice=ast.Slice()) if field == "value":
            return "read" if _kind(seen, parent) == "read" else "other"
        case ast.Subscript(ctx=ast.Load(), slice=index) if field == "value":
            return "other" if _may_be_bool(seen, index) else "read"
        case ast.For() | ast.AsyncFor() | ast.comprehension() if field == "iter":
            return "read"
        case ast.Starred(ctx=ast.Load()) | ast.YieldFrom():
            return "read"
        case ast.Attribute(attr=method) if method in _MUTATORS and _is_statement(seen, parent):
            return "filled"
        case ast.UnaryOp(op=ast.Not()):
            return "tested"
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert() if field == "test":
            return "tested"
    return "other"


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
            return name in _ITERATING and binder(seen, function, name) is None and name not in bindings(seen.tree)
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


def after_statement(source: Source, function: Span, offset: int) -> tuple[int, str] | None:
    """Where a line goes that follows the statement of a function's body that holds an offset, and its indentation.

    None where the statement shares its lines with others.
    """
    seen = outline(source.text)
    node = seen.function_at(function.start) if seen else None
    if seen is None or node is None or isinstance(node, ast.Lambda):
        return None
    spans = [seen.offsets.span(statement) for statement in node.body]
    index = next((index for index, (start, end) in enumerate(spans) if start <= offset < end), None)
    if index is None or node.body[index].lineno == node.lineno:
        return None
    first, last = (source.location(position)[0] for position in spans[index])
    begins, ends = source.row_span(first).start, source.row_span(last).end
    indent = source.text[begins : spans[index][0]]
    rest = source.text[spans[index][1] : ends].strip()
    if indent.strip() or (rest and not rest.startswith("#")):
        return None
    return (source.line_starts[last], indent) if last < len(source.line_starts) else None
