"""LibCST expressions lowered to `Expr`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from dllint.model.facts import Expr

MAX_DEPTH = 120
"""Deeper expressions are UNKNOWN: generated code, and no DataLoader was ever built that way."""
MAX_ELEMENTS = 1000
"""Longer displays are cut: tables of constants."""
MAX_STRING = 200
"""Longer strings are cut: no name, device or path pattern is that long."""

_OPERATORS = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.MatrixMultiply: "@", cst.LeftShift: "<<", cst.RightShift: ">>", cst.BitAnd: "&",
    cst.BitOr: "|", cst.BitXor: "^", cst.And: "and", cst.Or: "or", cst.Not: "not", cst.Minus: "-", cst.Plus: "+",
    cst.BitInvert: "~", cst.Equal: "==", cst.NotEqual: "!=", cst.LessThan: "<", cst.LessThanEqual: "<=",
    cst.GreaterThan: ">", cst.GreaterThanEqual: ">=", cst.In: "in", cst.NotIn: "not in", cst.Is: "is",
    cst.IsNot: "is not",
}  # fmt: skip
_CONSTANTS = {"True": True, "False": False, "None": None}


class Lowering:
    """Turns expressions into facts. Subclasses say what names and nested scopes mean to the scope at hand."""

    def __init__(self, positions: dict[cst.CSTNode, tuple[int, int]]) -> None:
        self.positions = positions
        self.depth = 0

    # What the scope at hand adds.

    def on_load(self, name: str) -> None:
        """A name is read."""
        raise NotImplementedError  # pragma: no cover

    def on_lambda(self, node: cst.Lambda, start: int, end: int) -> int:
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

    # Lowering.

    def lower(self, node: cst.CSTNode) -> Expr:
        """The facts of an expression."""
        start, end = self.positions[node]
        handler = _LOWERED_BY.get(type(node))
        if handler is None or self.depth > MAX_DEPTH:
            return Expr("unknown", start, end)
        self.depth += 1
        try:
            return handler(self, node, start, end)
        finally:
            self.depth -= 1

    def lower_all(self, nodes: Iterable[cst.CSTNode]) -> tuple[Expr, ...]:
        return tuple([self.lower(node) for node in nodes])

    def lower_name(self, node: cst.Name, start: int, end: int) -> Expr:
        name = node.value
        if name in _CONSTANTS:
            return Expr("constant", start, end, value=_CONSTANTS[name])
        self.on_load(name)
        return Expr("name", start, end, name)

    def lower_attribute(self, node: cst.Attribute, start: int, end: int) -> Expr:
        return Expr("attribute", start, end, node.attr.value, (self.lower(node.value),))

    def lower_call(self, node: cst.Call, start: int, end: int) -> Expr:
        args = [self.lower(node.func)]
        keywords = []
        for arg in node.args:
            value = self.lower(arg.value)
            if arg.keyword is not None:
                keywords.append((arg.keyword.value, value))
            elif arg.star == "**":
                keywords.append(("**", value))
            elif arg.star == "*":
                args.append(Expr("star", value.start, value.end, args=(value,)))
            else:
                args.append(value)
        return Expr("call", start, end, "", tuple(args), tuple(keywords))

    def lower_string(self, node: cst.SimpleString, start: int, end: int) -> Expr:
        text = string_value(node)
        if text is None:
            return Expr("bytes", start, end)
        if not text.isascii():  # "\ud800" is a string in Python, and in no encoding
            text = text.encode("utf-8", "replace").decode()
        return Expr("constant", start, end, value=text[:MAX_STRING])

    def lower_concatenation(self, node: cst.ConcatenatedString, start: int, end: int) -> Expr:
        left, right = self.lower(node.left), self.lower(node.right)
        if isinstance(left.value, str) and isinstance(right.value, str):
            return Expr("constant", start, end, value=(left.value + right.value)[:MAX_STRING])
        if left.kind == "bytes":
            return Expr("bytes", start, end)
        text = "".join(part.value for part in (left, right) if isinstance(part.value, str))
        return Expr("fstring", start, end, args=(left, right), value=text[:MAX_STRING])

    def lower_fstring(self, node: cst.FormattedString, start: int, end: int) -> Expr:
        parts = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
        text = "".join(part.value for part in node.parts if isinstance(part, cst.FormattedStringText))
        return Expr("fstring", start, end, args=self.lower_all(parts), value=text[:MAX_STRING])

    def lower_number(self, node: cst.Integer | cst.Float, start: int, end: int) -> Expr:
        value = ast.literal_eval(node.value) if len(node.value) < 400 else 0
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            value = float(value) if value < 2**1000 else 0.0
        return Expr("constant", start, end, value=value)

    def lower_lambda(self, node: cst.Lambda, start: int, end: int) -> Expr:
        return Expr("lambda", start, end, ref=self.on_lambda(node, start, end))

    def _elements(self, elements: Iterable[cst.BaseElement]) -> tuple[Expr, ...]:
        lowered = []
        for element in elements:
            value = self.lower(element.value)
            if isinstance(element, cst.StarredElement):
                value = Expr("star", value.start, value.end, args=(value,))
            lowered.append(value)
            if len(lowered) >= MAX_ELEMENTS:
                break
        return tuple(lowered)

    def lower_list(self, node: cst.List, start: int, end: int) -> Expr:
        return Expr("list", start, end, args=self._elements(node.elements))

    def lower_tuple(self, node: cst.Tuple, start: int, end: int) -> Expr:
        return Expr("tuple", start, end, args=self._elements(node.elements))

    def lower_set(self, node: cst.Set, start: int, end: int) -> Expr:
        return Expr("set", start, end, args=self._elements(node.elements))

    def lower_dict(self, node: cst.Dict, start: int, end: int) -> Expr:
        args: list[Expr] = []
        for element in node.elements[:MAX_ELEMENTS]:
            value = self.lower(element.value)
            if isinstance(element, cst.DictElement):
                args += (self.lower(element.key), value)
            else:
                args += (Expr("star", value.start, value.end, args=(value,)), value)
        return Expr("dict", start, end, args=tuple(args))

    def lower_comprehension(self, node: cst.BaseComp, start: int, end: int) -> Expr:
        clauses: list[tuple[str, Expr]] = []
        self.hide(set(_targets(node.for_in)))
        try:
            loop: cst.CompFor | None = node.for_in
            while loop is not None:
                clauses += (("for", self.lower(loop.target)), ("in", self.lower(loop.iter)))
                clauses += [("if", self.lower(test.test)) for test in loop.ifs]
                loop = loop.inner_for_in
            if isinstance(node, cst.DictComp):
                kind, elements = "dict", self.lower_all((node.key, node.value))
            else:
                assert isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp))
                kind = {cst.ListComp: "list", cst.SetComp: "set", cst.GeneratorExp: "generator"}[type(node)]
                elements = (self.lower(node.elt),)
        finally:
            self.unhide()
        return Expr("comprehension", start, end, kind, elements, tuple(clauses))

    def lower_subscript(self, node: cst.Subscript, start: int, end: int) -> Expr:
        indices = [self._index(element.slice) for element in node.slice]
        return Expr("subscript", start, end, args=(self.lower(node.value), *indices))

    def _index(self, node: cst.BaseSlice) -> Expr:
        if isinstance(node, cst.Index):
            return self.lower(node.value)
        assert isinstance(node, cst.Slice)
        bounds = [
            Expr("none", 0, 0) if bound is None else self.lower(bound) for bound in (node.lower, node.upper, node.step)
        ]
        inside = [bound for bound in bounds if bound.kind != "none"]
        start, end = (inside[0].start, inside[-1].end) if inside else (0, 0)
        return Expr("slice", start, end, args=tuple(bounds))

    def lower_ifexp(self, node: cst.IfExp, start: int, end: int) -> Expr:
        return Expr("ifexp", start, end, args=self.lower_all((node.test, node.body, node.orelse)))

    def lower_boolean(self, node: cst.BooleanOperation, start: int, end: int) -> Expr:
        return Expr("boolop", start, end, _OPERATORS[type(node.operator)], self.lower_all((node.left, node.right)))

    def lower_binary(self, node: cst.BinaryOperation, start: int, end: int) -> Expr:
        return Expr("binop", start, end, _OPERATORS[type(node.operator)], self.lower_all((node.left, node.right)))

    def lower_comparison(self, node: cst.Comparison, start: int, end: int) -> Expr:
        operators = ",".join(_OPERATORS[type(target.operator)] for target in node.comparisons)
        operands = (node.left, *(target.comparator for target in node.comparisons))
        return Expr("compare", start, end, operators, self.lower_all(operands))

    def lower_unary(self, node: cst.UnaryOperation, start: int, end: int) -> Expr:
        operand = self.lower(node.expression)
        operator = _OPERATORS[type(node.operator)]
        if operator == "-" and type(operand.value) in (int, float):
            return Expr("constant", start, end, value=-operand.value)  # type: ignore[operator]
        return Expr("unary", start, end, operator, (operand,))

    def lower_await(self, node: cst.Await, start: int, end: int) -> Expr:
        return Expr("await", start, end, args=(self.lower(node.expression),))

    def lower_yield(self, node: cst.Yield, start: int, end: int) -> Expr:
        self.on_yield()
        match node.value:
            case None:
                return Expr("yield", start, end)
            case cst.From(item=item):
                return Expr("yieldfrom", start, end, args=(self.lower(item),))
            case value:
                return Expr("yield", start, end, args=(self.lower(value),))

    def lower_walrus(self, node: cst.NamedExpr, start: int, end: int) -> Expr:
        value = self.lower(node.value)
        target = Expr("name", *self.positions[node.target], name=cst.ensure_type(node.target, cst.Name).value)
        self.on_walrus(target, value)
        return Expr("walrus", start, end, target.name, (value,))

    def lower_ellipsis(self, node: cst.Ellipsis, start: int, end: int) -> Expr:
        return Expr("ellipsis", start, end)


_LOWERED_BY: dict[type, Callable[[Lowering, Any, int, int], Expr]] = {
    cst.Name: Lowering.lower_name,
    cst.Attribute: Lowering.lower_attribute,
    cst.Call: Lowering.lower_call,
    cst.SimpleString: Lowering.lower_string,
    cst.ConcatenatedString: Lowering.lower_concatenation,
    cst.FormattedString: Lowering.lower_fstring,
    cst.Integer: Lowering.lower_number,
    cst.Float: Lowering.lower_number,
    cst.Lambda: Lowering.lower_lambda,
    cst.List: Lowering.lower_list,
    cst.Tuple: Lowering.lower_tuple,
    cst.Set: Lowering.lower_set,
    cst.Dict: Lowering.lower_dict,
    cst.ListComp: Lowering.lower_comprehension,
    cst.SetComp: Lowering.lower_comprehension,
    cst.GeneratorExp: Lowering.lower_comprehension,
    cst.DictComp: Lowering.lower_comprehension,
    cst.Subscript: Lowering.lower_subscript,
    cst.IfExp: Lowering.lower_ifexp,
    cst.BooleanOperation: Lowering.lower_boolean,
    cst.BinaryOperation: Lowering.lower_binary,
    cst.Comparison: Lowering.lower_comparison,
    cst.UnaryOperation: Lowering.lower_unary,
    cst.Await: Lowering.lower_await,
    cst.Yield: Lowering.lower_yield,
    cst.NamedExpr: Lowering.lower_walrus,
    cst.Ellipsis: Lowering.lower_ellipsis,
}
"""Not in the object: a cycle would keep the tree until the garbage is collected."""


def string_value(node: cst.SimpleString) -> str | None:
    """The text of a string literal; None for bytes."""
    raw = node.value
    quote = raw[-1]
    head, _, rest = raw.partition(quote)
    if "b" in head or "B" in head:
        return None
    body = rest[2:-3] if rest.startswith(quote * 2) and len(rest) > 4 else rest[:-1]
    if "\\" not in body or "r" in head or "R" in head:
        return body
    try:
        return str(ast.literal_eval(raw))
    except (SyntaxError, ValueError):
        return body


def _targets(loop: cst.CompFor | None) -> Iterator[str]:
    while loop is not None:
        yield from target_names(loop.target)
        loop = loop.inner_for_in


def target_names(node: cst.CSTNode) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    match node:
        case cst.Name(value=name):
            yield name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                yield from target_names(element.value)
        case cst.StarredElement(value=value):
            yield from target_names(value)
