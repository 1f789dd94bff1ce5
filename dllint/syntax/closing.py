"""What closes an attribute that each process opens for itself: what was never opened must not be opened for that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import in_quotes, indent_at
from dllint.syntax.outline import Outline, outline


def closed_if_open(source: Source, klass: Span, name: str, store: str) -> list[Edit]:
    """The edits of a class that close what `store` keeps, if anything, where its methods close `self.name`."""
    seen = outline(source.text)
    closings = _closings(seen, klass, name)
    return [edit for statement in closings if seen is not None for edit in _guarded(source, seen, statement, store)]


def asked_to_close(source: Source, klass: Span, name: str) -> set[Span]:
    """The tests for an attribute, such as `hasattr(self, "file")`, that `closed_if_open` replaces."""
    seen = outline(source.text)
    tests = (_own_test(seen, statement) for statement in _closings(seen, klass, name) if seen is not None)
    return {Span(*seen.offsets.span(test)) for test in tests if seen is not None and test is not None}


def _closings(seen: Outline | None, klass: Span, name: str) -> Iterator[ast.stmt]:
    """The statements `self.name.close()` of a class."""
    for method in _methods(seen, klass):
        own = f"{_receiver(method)}.{name}" if method.name != "__init__" else ""
        yield from (item for item in ast.walk(method) if isinstance(item, ast.stmt) and own and _closes(item) == own)


def only_closes(source: Source, klass: Span, method: str = "__del__") -> bool:
    """Whether all that a method does is to close attributes: itself, or by another method that only does that."""
    found = {item.name: item for item in _methods(outline(source.text), klass)}
    return method in found and _only_closes(found, method, frozenset())


def _only_closes(methods: dict[str, ast.FunctionDef], name: str, around: frozenset[str]) -> bool:
    method = methods.get(name)
    if method is None or name in around:
        return False
    self, body = _receiver(method), method.body[ast.get_docstring(method, clean=False) is not None :]
    return bool(self) and all(_is_closing(methods, item, self, around | {name}) for item in body)


def _is_closing(methods: dict[str, ast.FunctionDef], node: ast.stmt, self: str, around: frozenset[str]) -> bool:
    """Whether a statement closes attributes, perhaps only those that there are."""
    match node:
        case ast.Pass():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method), args=[], keywords=[])):
            return owner == self and _only_closes(methods, method, around)
        case ast.If(test=test, body=body, orelse=[]):
            return all(_closes(item) == _asks_for(test) for item in body)
        case ast.Try(body=body, handlers=handlers, orelse=[], finalbody=[]):
            caught = (item for handler in handlers for item in handler.body)
            silent = all(isinstance(item, ast.Pass) for item in caught)
            return silent and all(_is_closing(methods, item, self, around) for item in body)
    return _closes(node).rpartition(".")[0] == self


def _closes(node: ast.AST) -> str:
    """The attribute that a statement closes, `self.file`; "" where it does something else."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=held, attr="close"), args=[], keywords=[])):
            return ast.unparse(held) if isinstance(held, ast.Attribute) else ""
    return ""


def _asks_for(test: ast.expr) -> str:
    """The attribute that a test asks for, as `self.file`; "" where it asks something else."""
    match test:
        case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            return f"{ast.unparse(owner)}.{name}"
        case ast.Attribute():
            return ast.unparse(test)
        case ast.Compare(left=held, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return _asks_for(held)
    return ""


def _own_test(seen: Outline, node: ast.stmt) -> ast.expr | None:
    """The test of the `if` around a statement that asks for just what the statement closes."""
    around, field = seen.parents[node]
    own = isinstance(around, ast.If) and field == "body" and _asks_for(around.test) == _closes(node)
    return around.test if own and isinstance(around, ast.If) else None


def _guarded(source: Source, seen: Outline, node: ast.stmt, store: str) -> Iterator[Edit]:
    """The edits of one statement: its own test asks for what is open, or it gets one."""
    start, end = seen.offsets.span(node)
    self, test = _closes(node).partition(".")[0], _own_test(seen, node)
    close = f"{self}.{store}.close()"
    if test is not None:
        asked = f'getattr({self}, "{store}", None)' if isinstance(test, ast.Call) else f"{self}.{store}"
        yield Edit(source.path, Span(*seen.offsets.span(test)), in_quotes(source, f"{asked} is not None"))
    else:
        indent = indent_at(source, start)
        close = f"if {self}.{store} is not None:{source.newline}{indent}{source.unit}{close}"
    yield Edit(source.path, Span(start, end), close)


def _methods(seen: Outline | None, klass: Span) -> list[ast.FunctionDef]:
    nodes = ast.walk(seen.tree) if seen is not None else ()
    found = next((node for node in nodes if isinstance(node, ast.ClassDef) and _within(seen, node, klass)), None)
    return [item for item in found.body if isinstance(item, ast.FunctionDef)] if found is not None else []


def _within(seen: Outline | None, node: ast.ClassDef, klass: Span) -> bool:
    span = seen.offsets.span(node) if seen is not None else (-1, -1)
    return span == (klass.start, klass.end) or (klass.start <= span[0] and span[1] == klass.end)


def _receiver(method: ast.FunctionDef) -> str:
    positional = [*method.args.posonlyargs, *method.args.args]
    return positional[0].arg if positional and not method.decorator_list else ""
