"""Expressions of Python's own syntax tree lowered to `Expr`."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dllint.model.facts import Expr
from dllint.syntax.outline import Offsets

MAX_DEPTH = 120
"""Deeper expressions are UNKNOWN: generated code, and no DataLoader was ever built that way."""
MAX_ELEMENTS = 1000
"""Longer displays are cut: tables of constants."""
MAX_STRING = 200
"""Longer strings are cut: no name, device or path pattern is that long."""

_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in",
    ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_COMPREHENSIONS = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}
_COMMENT = re.compile(r"#[^\r\n]*")
_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")
_VAGUE_FSTRINGS = sys.version_info < (3, 12)
"""Python cannot say where in the file an f-string's expressions stand."""


class Lowering:
    """Turns expressions into facts. Subclasses say what names and nested scopes mean to the scope at hand."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offsets = Offsets(text)
        self.depth = 0
        self.inside: tuple[int, int] | None = None
        """The f-string whose expressions are being lowered, where Python does not say better where they stand."""

    # What the scope at hand adds.

    def on_load(self, name: str) -> None:
        """A name is read."""
        raise NotImplementedError  # pragma: no cover

    def on_lambda(self, node: ast.Lambda, start: int, end: int) -> int:
        """A lambda is made; the index of its function."""
        raise NotImplementedError  # pragma: no cover

    def on_walrus(self, target: Expr, value: Expr) -> None:
        """A name is bound inside an expression."""
        raise NotImplementedError  # pragma: no cover

    def on_yield(self) -> None:
        """The scope is a generator."""
        raise NotImplementedError  # pragma: no cover

    def hide(self, names: set[str]) -> None:
        """The names of a comprehension's targets come into scope."""
        raise NotImplementedError  # pragma: no cover

    def unhide(self) -> None:
        """They go out of scope again."""
        raise NotImplementedError  # pragma: no cover

    # Places. Brackets around a tuple or a generator are not part of it, as they are not of any other expression.

    def at(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        if self.inside is not None:
            return self._within(node, self.inside)
        return self.offsets.span(node)

    def _within(self, node: ast.expr | ast.stmt, outer: tuple[int, int]) -> tuple[int, int]:
        try:
            start, end = self.offsets.span(node)
        except IndexError:
            return outer
        return (start, end) if outer[0] <= start < end <= outer[1] else outer

    def _unwrapped(self, start: int, end: int, last: int) -> tuple[int, int]:
        """The span within a pair of brackets; the innermost expression in them ends at `last`."""
        first = _skip(self.text, start + 1)
        tail = _COMMENT.sub(lambda match: " " * len(match[0]), self.text[last : end - 1])
        return first, last + len(tail.rstrip(" \t\f\r\n\\"))

    def _bracketed(self, node: ast.Tuple) -> bool:
        """Whether the tuple itself stands in brackets: `(a, b)`, and not `(a), (b)`."""
        start, end = self.at(node)
        if self.text[start] != "(":
            return False
        if not node.elts:
            return True
        first, last = self.at(node.elts[0])
        gap = _COMMENT.sub("", self.text[last:end])
        closing = re.match(r"[\s)\\]*", gap)
        return _COMMENT.sub("", self.text[start:first]).count("(") > (closing[0].count(")") if closing else 0)

    # Lowering.

    def lower(self, node: ast.expr) -> Expr:
        """The facts of an expression."""
        start, end = self.at(node)
        handler = _LOWERED_BY.get(type(node))
        if handler is None or self.depth > MAX_DEPTH:
            return Expr("unknown", start, end)
        self.depth += 1
        try:
            return handler(self, node, start, end)
        finally:
            self.depth -= 1

    def lower_all(self, nodes: Iterable[ast.expr]) -> tuple[Expr, ...]:
        return tuple([self.lower(node) for node in nodes])

    def lower_name(self, node: ast.Name, start: int, end: int) -> Expr:
        self.on_load(node.id)
        return Expr("name", start, end, node.id)

    def lower_attribute(self, node: ast.Attribute, start: int, end: int) -> Expr:
        return Expr("attribute", start, end, node.attr, (self.lower(node.value),))

    def lower_call(self, node: ast.Call, start: int, end: int) -> Expr:
        args = [self.lower(node.func)]
        args += [self._element(arg) for arg in node.args]
        keywords = [(keyword.arg or "**", self.lower(keyword.value)) for keyword in node.keywords]
        return Expr("call", start, end, "", tuple(args), tuple(keywords))

    def lower_constant(self, node: ast.Constant, start: int, end: int) -> Expr:
        value = node.value
        match value:
            case str():
                if not value.isascii():  # "\ud800" is a string in Python, and in no encoding
                    value = value.encode("utf-8", "replace").decode()
                return Expr("constant", start, end, value=value[:MAX_STRING])
            case bool() | None | float():
                return Expr("constant", start, end, value=value)
            case int():
                if not -(2**63) <= value < 2**63:
                    return Expr("constant", start, end, value=float(value) if value < 2**1000 else 0.0)
                return Expr("constant", start, end, value=value)
            case bytes():
                return Expr("bytes", start, end)
            case _:
                return Expr("ellipsis" if value is ... else "unknown", start, end)

    def lower_fstring(self, node: ast.JoinedStr, start: int, end: int) -> Expr:
        texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        text = "".join(value for value in texts if isinstance(value, str))
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        outer = self.inside
        if _VAGUE_FSTRINGS:
            self.inside = outer or (start, end)
        args = self.lower_all(part.value for part in node.values if isinstance(part, ast.FormattedValue))
        self.inside = outer
        return Expr("fstring", start, end, args=args, value=text[:MAX_STRING])

    def lower_lambda(self, node: ast.Lambda, start: int, end: int) -> Expr:
        return Expr("lambda", start, end, ref=self.on_lambda(node, start, end))

    def _element(self, node: ast.expr) -> Expr:
        if not isinstance(node, ast.Starred):
            return self.lower(node)
        value = self.lower(node.value)
        return Expr("star", value.start, value.end, args=(value,))

    def _elements(self, nodes: list[ast.expr]) -> tuple[Expr, ...]:
        return tuple([self._element(node) for node in nodes[:MAX_ELEMENTS]])

    def lower_list(self, node: ast.List, start: int, end: int) -> Expr:
        return Expr("list", start, end, args=self._elements(node.elts))

    def lower_tuple(self, node: ast.Tuple, start: int, end: int) -> Expr:
        if node.elts and self._bracketed(node):
            start, end = self._unwrapped(start, end, self.at(node.elts[-1])[1])
        return Expr("tuple", start, end, args=self._elements(node.elts))

    def lower_set(self, node: ast.Set, start: int, end: int) -> Expr:
        return Expr("set", start, end, args=self._elements(node.elts))

    def lower_dict(self, node: ast.Dict, start: int, end: int) -> Expr:
        args: list[Expr] = []
        for key, item in zip(node.keys[:MAX_ELEMENTS], node.values, strict=False):
            value = self.lower(item)
            if key is None:
                args += (Expr("star", value.start, value.end, args=(value,)), value)
            else:
                args += (self.lower(key), value)
        return Expr("dict", start, end, args=tuple(args))

    def lower_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, start: int, end: int
    ) -> Expr:
        clauses: list[tuple[str, Expr]] = []
        self.hide({name for loop in node.generators for name in target_names(loop.target)})
        try:
            for loop in node.generators:
                clauses += (("for", self.lower(loop.target)), ("in", self.lower(loop.iter)))
                clauses += [("if", self.lower(test)) for test in loop.ifs]
            if isinstance(node, ast.DictComp):
                kind, elements = "dict", self.lower_all((node.key, node.value))
            else:
                kind, elements = _COMPREHENSIONS[type(node)], (self.lower(node.elt),)
        finally:
            self.unhide()
        if kind == "generator" and self.inside is None:
            start, end = self._unwrapped(start, end, clauses[-1][1].end)
        return Expr("comprehension", start, end, kind, elements, tuple(clauses))

    def lower_subscript(self, node: ast.Subscript, start: int, end: int) -> Expr:
        several = isinstance(node.slice, ast.Tuple) and not self._bracketed(node.slice)
        indices = [self._index(item) for item in (node.slice.elts if several else [node.slice])]  # type: ignore[attr-defined]
        return Expr("subscript", start, end, args=(self.lower(node.value), *indices))

    def _index(self, node: ast.expr) -> Expr:
        if isinstance(node, ast.Starred):
            return self.lower(node.value)
        if not isinstance(node, ast.Slice):
            return self.lower(node)
        bounds = [
            Expr("none", 0, 0) if bound is None else self.lower(bound) for bound in (node.lower, node.upper, node.step)
        ]
        inside = [bound for bound in bounds if bound.kind != "none"]
        start, end = (inside[0].start, inside[-1].end) if inside else (0, 0)
        return Expr("slice", start, end, args=tuple(bounds))

    def lower_ifexp(self, node: ast.IfExp, start: int, end: int) -> Expr:
        return Expr("ifexp", start, end, args=self.lower_all((node.test, node.body, node.orelse)))

    def lower_boolean(self, node: ast.BoolOp, start: int, end: int) -> Expr:
        """`a or b or c` as `(a or b) or c`: two operands each."""
        operator = _OPERATORS[type(node.op)]
        left = self.lower(node.values[0])
        for position, operand in enumerate(node.values[1:], start=2):
            right = self.lower(operand)
            last = position == len(node.values)
            stop = end if last else self._closed(right.end, self.at(node.values[position])[0])
            left = Expr("boolop", start, stop, operator, (left, right))
        return left

    def _closed(self, end: int, following: int) -> int:
        """Where an operand that ends here and its closing brackets are over; the next begins at `following`."""
        gap = _COMMENT.sub(lambda match: " " * len(match[0]), self.text[end:following])
        return end + gap.rfind(")") + 1

    def lower_binary(self, node: ast.BinOp, start: int, end: int) -> Expr:
        return Expr("binop", start, end, _OPERATORS[type(node.op)], self.lower_all((node.left, node.right)))

    def lower_comparison(self, node: ast.Compare, start: int, end: int) -> Expr:
        operators = ",".join([_OPERATORS[type(operator)] for operator in node.ops])
        return Expr("compare", start, end, operators, self.lower_all((node.left, *node.comparators)))

    def lower_unary(self, node: ast.UnaryOp, start: int, end: int) -> Expr:
        operand = self.lower(node.operand)
        operator = _OPERATORS[type(node.op)]
        if operator == "-" and type(operand.value) in (int, float):
            return Expr("constant", start, end, value=-operand.value)  # type: ignore[operator]
        return Expr("unary", start, end, operator, (operand,))

    def lower_await(self, node: ast.Await, start: int, end: int) -> Expr:
        return Expr("await", start, end, args=(self.lower(node.value),))

    def lower_yield(self, node: ast.Yield, start: int, end: int) -> Expr:
        self.on_yield()
        return Expr("yield", start, end, args=() if node.value is None else (self.lower(node.value),))

    def lower_yield_from(self, node: ast.YieldFrom, start: int, end: int) -> Expr:
        self.on_yield()
        return Expr("yieldfrom", start, end, args=(self.lower(node.value),))

    def lower_walrus(self, node: ast.NamedExpr, start: int, end: int) -> Expr:
        value = self.lower(node.value)
        target = Expr("name", *self.at(node.target), name=node.target.id)
        self.on_walrus(target, value)
        return Expr("walrus", start, end, target.name, (value,))


_LOWERED_BY: dict[type, Callable[[Lowering, Any, int, int], Expr]] = {
    ast.Name: Lowering.lower_name,
    ast.Attribute: Lowering.lower_attribute,
    ast.Call: Lowering.lower_call,
    ast.Constant: Lowering.lower_constant,
    ast.JoinedStr: Lowering.lower_fstring,
    ast.Lambda: Lowering.lower_lambda,
    ast.List: Lowering.lower_list,
    ast.Tuple: Lowering.lower_tuple,
    ast.Set: Lowering.lower_set,
    ast.Dict: Lowering.lower_dict,
    ast.ListComp: Lowering.lower_comprehension,
    ast.SetComp: Lowering.lower_comprehension,
    ast.GeneratorExp: Lowering.lower_comprehension,
    ast.DictComp: Lowering.lower_comprehension,
    ast.Subscript: Lowering.lower_subscript,
    ast.IfExp: Lowering.lower_ifexp,
    ast.BoolOp: Lowering.lower_boolean,
    ast.BinOp: Lowering.lower_binary,
    ast.Compare: Lowering.lower_comparison,
    ast.UnaryOp: Lowering.lower_unary,
    ast.Await: Lowering.lower_await,
    ast.Yield: Lowering.lower_yield,
    ast.YieldFrom: Lowering.lower_yield_from,
    ast.NamedExpr: Lowering.lower_walrus,
}


def _skip(text: str, offset: int) -> int:
    """The next offset that is no blank, line break or comment."""
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def target_names(node: ast.expr) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from target_names(element)
        case ast.Starred(value=value):
            yield from target_names(value)
