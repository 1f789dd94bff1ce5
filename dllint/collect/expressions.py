"""Expressions of Python's own syntax tree lowered to `Expr`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from dllint.collect.places import Places
from dllint.collect.scope import Scope
from dllint.model.facts import MAX_ELEMENTS, MAX_STRING, Expr

MAX_DEPTH = 120
"""Deeper expressions are UNKNOWN: generated code, and no DataLoader was ever built that way."""

_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in",
    ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_PLAIN = (float, bool, type(None))
_COMPREHENSIONS = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


class Lowering(Places):
    """Turns expressions into facts. The subclass knows what nested scopes are.

    There are two expressions in a line, and half of them are names: what is done for each of them counts.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.scope = Scope("", -1, -1)
        self.depth = 0

    def lower_lambda(self, node: ast.Lambda, start: int, end: int) -> Expr:
        """A lambda is made."""
        raise NotImplementedError  # pragma: no cover

    def lower(self, node: ast.expr) -> Expr:
        """The facts of an expression."""
        rows = self.simple
        if rows is None:
            start, end = self.at(node)
        else:
            place = node.__dict__  # one look-up in the type less for each of the four
            start = rows[place["lineno"]] + place["col_offset"]
            end = rows[place["end_lineno"]] + place["end_col_offset"]
        kind, depth = type(node), self.depth
        if depth > MAX_DEPTH:
            return Expr("unknown", start, end)
        if kind is ast.Name:
            name: str = node.id  # type: ignore[attr-defined]
            scope = self.scope
            if name not in scope.hidden:
                scope.loads.add(name)
            return Expr("name", start, end, name)
        handler = _LOWERED_BY.get(kind)
        if handler is None:
            return Expr("unknown", start, end)
        self.depth = depth + 1
        expr = handler(self, node, start, end)
        self.depth = depth
        return expr

    def lower_all(self, nodes: Iterable[ast.expr]) -> tuple[Expr, ...]:
        return tuple([self.lower(node) for node in nodes])

    def lower_attribute(self, node: ast.Attribute, start: int, end: int) -> Expr:
        return Expr("attribute", start, end, node.attr, (self.lower(node.value),))

    def lower_call(self, node: ast.Call, start: int, end: int) -> Expr:
        args = [self.lower(node.func)]
        for arg in node.args:
            args.append(self._element(arg))
        keywords = []
        for keyword in node.keywords:
            keywords.append((keyword.arg or "**", self.lower(keyword.value)))
        return Expr("call", start, end, "", tuple(args), tuple(keywords))

    def lower_constant(self, node: ast.Constant, start: int, end: int) -> Expr:
        value: Any = node.value
        kind = type(value)
        if kind is str:
            if not value.isascii():  # "\ud800" is a string in Python, and in no encoding
                value = value.encode("utf-8", "replace").decode()
            value = value[:MAX_STRING]
        elif kind is int:
            if not -(2**63) <= value < 2**63:
                value = float(value) if value < 2**1000 else 0.0
        elif kind not in _PLAIN:
            return Expr("bytes" if kind is bytes else "ellipsis" if value is ... else "unknown", start, end)
        return Expr("constant", start, end, "", (), (), value)

    def lower_fstring(self, node: ast.JoinedStr, start: int, end: int) -> Expr:
        texts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        text = "".join(value for value in texts if isinstance(value, str))
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()
        outer = self.inside
        self.enter(outer or (start, end))
        args = self.lower_all(part.value for part in node.values if isinstance(part, ast.FormattedValue))
        self.enter(outer)
        return Expr("fstring", start, end, args=args, value=text[:MAX_STRING])

    def _element(self, node: ast.expr) -> Expr:
        if type(node) is not ast.Starred:
            return self.lower(node)
        value = self.lower(node.value)
        return Expr("star", value.start, value.end, args=(value,))

    def _elements(self, nodes: list[ast.expr]) -> tuple[Expr, ...]:
        return tuple([self._element(node) for node in nodes[:MAX_ELEMENTS]])

    def lower_list(self, node: ast.List, start: int, end: int) -> Expr:
        return Expr("list", start, end, args=self._elements(node.elts))

    def lower_tuple(self, node: ast.Tuple, start: int, end: int) -> Expr:
        if node.elts and self.bracketed(node):
            start, end = self.unwrapped(start, end, self.at(node.elts[-1])[1])
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
        scope = self.scope
        outer = scope.hidden
        scope.hidden = outer.union(*(target_names(loop.target) for loop in node.generators))
        for loop in node.generators:
            clauses += (("for", self.lower(loop.target)), ("in", self.lower(loop.iter)))
            clauses += [("if", self.lower(test)) for test in loop.ifs]
        if isinstance(node, ast.DictComp):
            kind, elements = "dict", self.lower_all((node.key, node.value))
        else:
            kind, elements = _COMPREHENSIONS[type(node)], (self.lower(node.elt),)
        scope.hidden = outer
        if kind == "generator" and self.inside is None:
            start, end = self.unwrapped(start, end, clauses[-1][1].end)
        return Expr("comprehension", start, end, kind, elements, tuple(clauses))

    def lower_subscript(self, node: ast.Subscript, start: int, end: int) -> Expr:
        index = node.slice
        if isinstance(index, ast.Tuple) and not self.bracketed(index):
            indices = [self._index(item) for item in index.elts]
        else:
            indices = [self._index(index)]
        return Expr("subscript", start, end, "", (self.lower(node.value), *indices))

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
            stop = end if last else self.closed(right.end, self.at(node.values[position])[0])
            left = Expr("boolop", start, stop, operator, (left, right))
        return left

    def lower_binary(self, node: ast.BinOp, start: int, end: int) -> Expr:
        return Expr("binop", start, end, _OPERATORS[type(node.op)], (self.lower(node.left), self.lower(node.right)))

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
        self.scope.generator = True
        return Expr("yield", start, end, args=() if node.value is None else (self.lower(node.value),))

    def lower_yield_from(self, node: ast.YieldFrom, start: int, end: int) -> Expr:
        self.scope.generator = True
        return Expr("yieldfrom", start, end, args=(self.lower(node.value),))

    def lower_walrus(self, node: ast.NamedExpr, start: int, end: int) -> Expr:
        value = self.lower(node.value)
        target = Expr("name", *self.at(node.target), name=node.target.id)
        self.scope.bound.add(target.name)
        self.scope.event("assign", target.start, value.end, target, value)
        return Expr("walrus", start, end, target.name, (value,))


_LOWERED_BY: dict[type, Callable[[Lowering, Any, int, int], Expr]] = {
    ast.Attribute: Lowering.lower_attribute,
    ast.Constant: Lowering.lower_constant,
    ast.Call: Lowering.lower_call,
    ast.JoinedStr: Lowering.lower_fstring,
    ast.Lambda: lambda self, node, start, end: self.lower_lambda(node, start, end),
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


def target_names(node: ast.expr) -> list[str]:
    """The plain names that an assignment target binds."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Tuple | ast.List):
        return [name for element in node.elts for name in target_names(element)]
    return target_names(node.value) if isinstance(node, ast.Starred) else []
