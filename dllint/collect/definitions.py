"""What opens a new scope, and the suites that contain statements."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from dllint.collect.expressions import Lowering
from dllint.collect.replaced import Definition, replaced
from dllint.collect.scope import Scope
from dllint.model.facts import Block, Class, Expr, Function, Parameter
from dllint.source import Span

_DEFINED = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+\w+")
_NONE: frozenset[str] = frozenset()


class Definitions(Lowering):
    """Functions, classes and blocks, in the order in which they begin. The subclass knows the statements."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.functions: list[Function | None] = []
        self.classes: list[Class | None] = []
        self.blocks: list[Block] = []
        self.replaced: list[Span] = []

    def suite(self, body: Iterable[ast.stmt]) -> None:
        """Collect statements."""
        raise NotImplementedError  # pragma: no cover

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Collect all that a scope does, but nothing of the definitions that later ones replace."""
        unused = list(replaced(statements))
        self.replaced += [Span(*self.at(node)) for node in unused]
        self.suite([node for node in statements if node not in unused] if unused else statements)

    def block(self, kind: str, body: Sequence[ast.stmt], test: Expr | None = None, partner: int = -1) -> int:
        """Collect a nested suite; the index of its block."""
        index = len(self.blocks)
        scope = self.scope
        outer = scope.block
        at = self.body_span(body)
        self.blocks.append(Block(kind, outer, at.start, at.end, test, partner))
        scope.block = index
        self.suite(body)
        scope.block = outer
        return index

    def body_span(self, body: Sequence[ast.stmt]) -> Span:
        """From the first to the last character of a suite, decorators included."""
        first, last = body[0], body[-1]
        start, end = self.at(first)
        if isinstance(first, Definition) and first.decorator_list:
            start = self.at(first.decorator_list[0])[0] - 1
        return Span(start, end if first is last else self.at(last)[1])

    def lower_lambda(self, node: ast.Lambda, start: int, end: int) -> Expr:
        outer = self.scope
        parameters = self.parameters(node.args)
        index = len(self.functions)
        self.functions.append(None)
        qualname = outer.nested("<lambda>")
        self.scope = inner = Scope(qualname, index, -1)
        inner.bound.update([parameter.name for parameter in parameters])
        body = self.lower(node.body)
        inner.event("return", body.start, body.end, value=body)
        self.scope = outer
        span = Span(start, end)
        self.functions[index] = Function(
            index, "lambda", "<lambda>", qualname, span, span, body.span, parameters, (), outer.function,
            outer.owner, tuple(inner.events), _frozen(inner.bound), _frozen(inner.loads), _NONE, _NONE,
            inner.generator, None, outer.block,
        )  # fmt: skip
        return Expr("lambda", start, end, ref=index)

    def parameters(self, node: ast.arguments) -> tuple[Parameter, ...]:
        """The parameters of a function, in their order."""
        found = []
        plain = node.posonlyargs + node.args
        given = len(plain) - len(node.defaults)
        for place, arg in enumerate(plain):
            kind = "posonly" if place < len(node.posonlyargs) else "positional"
            found.append(self.parameter(arg, kind, None if place < given else node.defaults[place - given]))
        if node.vararg is not None:
            found.append(self.parameter(node.vararg, "args"))
        for arg, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
            found.append(self.parameter(arg, "keyword", default))
        if node.kwarg is not None:
            found.append(self.parameter(node.kwarg, "kwargs"))
        return tuple(found)

    def parameter(self, node: ast.arg, kind: str, value: ast.expr | None = None) -> Parameter:
        default = None if value is None else self.lower(value)
        annotation = None if node.annotation is None else self.lower(node.annotation)
        return Parameter(node.arg, kind, default, annotation)

    def define_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, start: int, end: int) -> None:
        outer = self.scope
        decorators = self.lower_all(node.decorator_list)
        parameters = self.parameters(node.args)
        returns = None if node.returns is None else self.lower(node.returns)
        index = len(self.functions)
        self.functions.append(None)
        qualname = outer.nested(node.name)
        outer.bound.add(node.name)
        self.scope = inner = Scope(qualname, index, -1)
        inner.bound.update([parameter.name for parameter in parameters])
        self.body(node.body)
        self.scope = outer
        self.functions[index] = Function(
            index, "def", node.name, qualname, Span(start, end), self.header(node, start), self.body_span(node.body),
            parameters, decorators, outer.function, outer.owner, tuple(inner.events),
            _frozen(inner.bound - inner.globals - inner.nonlocals), _frozen(inner.loads),
            _frozen(inner.globals), _frozen(inner.nonlocals), inner.generator, returns, outer.block,
        )  # fmt: skip
        outer.event("def", start, end, None, None, node.name, (), index)

    def define_class(self, node: ast.ClassDef, start: int, end: int) -> None:
        outer = self.scope
        decorators = self.lower_all(node.decorator_list)
        bases = self.lower_all([base.value if isinstance(base, ast.Starred) else base for base in node.bases])
        keywords = tuple([(keyword.arg, self.lower(keyword.value)) for keyword in node.keywords if keyword.arg])
        index = len(self.classes)
        self.classes.append(None)
        qualname = outer.nested(node.name)
        outer.bound.add(node.name)
        self.scope = inner = Scope(qualname, outer.function, index)
        self.body(node.body)
        self.scope = outer
        methods = {event.name: event.ref for event in inner.events if event.kind == "def"}
        self.classes[index] = Class(
            index, node.name, qualname, Span(start, end), self.header(node, start), bases, keywords,
            decorators, outer.function, outer.owner, methods, tuple(inner.events), outer.block,
        )  # fmt: skip
        outer.event("class", start, end, None, None, node.name, (), index)

    def header(self, node: Definition, start: int) -> Span:
        """From `def` or `class` to the end of the name."""
        match = _DEFINED.match(self.text, start)
        return Span(start, match.end() if match else start + len(node.name))


def _frozen(names: set[str]) -> frozenset[str]:
    """Names for good. There is one empty set: each is an object of 216 bytes."""
    return frozenset(names) if names else _NONE
