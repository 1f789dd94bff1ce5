"""One walk over a module: its scopes, events and blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from dllint.collect.expressions import Lowering, target_names
from dllint.model.facts import Block, Class, Event, Expr, Function, ImportedName, Parameter
from dllint.source import Span

_AUGMENTED = {
    ast.Add: "Add", ast.Sub: "Subtract", ast.Mult: "Multiply", ast.Div: "Divide", ast.FloorDiv: "FloorDivide",
    ast.Mod: "Modulo", ast.Pow: "Power", ast.MatMult: "MatrixMultiply", ast.LShift: "LeftShift",
    ast.RShift: "RightShift", ast.BitAnd: "BitAnd", ast.BitOr: "BitOr", ast.BitXor: "BitXor",
}  # fmt: skip
_DEFINED = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+\w+")
_AS = re.compile(r"[\s\\)]*as[\s\\]+")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Scope:
    """The scope being collected: module, class body, function or lambda."""

    def __init__(self, qualname: str, function: int, owner: int) -> None:
        self.qualname = qualname
        self.function = function
        self.owner = owner
        self.events: list[Event] = []
        self.bound: set[str] = set()
        self.loads: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.hidden: list[set[str]] = []
        self.generator = False
        self.block = -1


class Scopes(Lowering):
    """The walk. Its lists become the ModuleModel's tuples."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.scope = Scope("", -1, -1)
        self.functions: list[Function | None] = []
        self.classes: list[Class | None] = []
        self.blocks: list[Block] = []
        self.imports: list[ImportedName] = []
        self.exports: tuple[str, ...] | None = None

    # Expressions.

    def on_load(self, name: str) -> None:
        if not any(name in names for names in self.scope.hidden):
            self.scope.loads.add(name)

    def hide(self, names: set[str]) -> None:
        self.scope.hidden.append(names)

    def unhide(self) -> None:
        self.scope.hidden.pop()

    def on_yield(self) -> None:
        self.scope.generator = True

    def on_walrus(self, target: Expr, value: Expr) -> None:
        self.scope.bound.add(target.name)
        self.event("assign", (target.start, value.end), target=target, value=value)

    def on_lambda(self, node: ast.Lambda, start: int, end: int) -> int:
        outer = self.scope
        parameters = self.parameters(node.args)
        index = len(self.functions)
        self.functions.append(None)
        qualname = self.nested("<lambda>")
        self.scope = inner = Scope(qualname, index, -1)
        inner.bound.update(parameter.name for parameter in parameters)
        body = self.lower(node.body)
        self.event("return", (body.start, body.end), value=body)
        self.scope = outer
        span = Span(start, end)
        self.functions[index] = Function(
            index, "lambda", "<lambda>", qualname, span, span, body.span, parameters, (), outer.function,
            outer.owner, tuple(inner.events), frozenset(inner.bound), frozenset(inner.loads),
            is_generator=inner.generator, block=outer.block,
        )  # fmt: skip
        return index

    # Scopes.

    def nested(self, name: str) -> str:
        """Python's qualname of something defined here."""
        scope = self.scope
        if not scope.qualname:
            return name
        return f"{scope.qualname}.{name}" if scope.owner >= 0 else f"{scope.qualname}.<locals>.{name}"

    def event(self, kind: str, at: tuple[int, int], **what: object) -> None:
        self.scope.events.append(Event(kind, at[0], at[1], self.scope.block, **what))  # type: ignore[arg-type]

    def parameters(self, node: ast.arguments) -> tuple[Parameter, ...]:
        plain = [*((arg, "posonly") for arg in node.posonlyargs), *((arg, "positional") for arg in node.args)]
        missing = len(plain) - len(node.defaults)
        found = [
            self.parameter(arg, kind, None if place < missing else node.defaults[place - missing])
            for place, (arg, kind) in enumerate(plain)
        ]
        if node.vararg is not None:
            found.append(self.parameter(node.vararg, "args"))
        found += [
            self.parameter(arg, "keyword", value) for arg, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)
        ]
        if node.kwarg is not None:
            found.append(self.parameter(node.kwarg, "kwargs"))
        return tuple(found)

    def parameter(self, node: ast.arg, kind: str, value: ast.expr | None = None) -> Parameter:
        default = None if value is None else self.lower(value)
        annotation = None if node.annotation is None else self.lower(node.annotation)
        return Parameter(node.arg, kind, default, annotation)

    def define_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.scope
        decorators = self.lower_all(node.decorator_list)
        parameters = self.parameters(node.args)
        returns = None if node.returns is None else self.lower(node.returns)
        index = len(self.functions)
        self.functions.append(None)
        qualname = self.nested(node.name)
        self.bind(node.name)
        self.scope = inner = Scope(qualname, index, -1)
        inner.bound.update(parameter.name for parameter in parameters)
        self.suite(node.body)
        self.scope = outer
        start, end = self.at(node)
        self.functions[index] = Function(
            index, "def", node.name, qualname, Span(start, end), self.header(node, start), self.body_span(node.body),
            parameters, decorators, outer.function, outer.owner, tuple(inner.events),
            frozenset(inner.bound - inner.globals - inner.nonlocals), frozenset(inner.loads),
            frozenset(inner.globals), frozenset(inner.nonlocals), inner.generator, returns, outer.block,
        )  # fmt: skip
        self.event("def", (start, end), name=node.name, ref=index)

    def define_class(self, node: ast.ClassDef) -> None:
        outer = self.scope
        decorators = self.lower_all(node.decorator_list)
        bases = tuple([self.lower(base.value if isinstance(base, ast.Starred) else base) for base in node.bases])
        keywords = tuple([(keyword.arg, self.lower(keyword.value)) for keyword in node.keywords if keyword.arg])
        index = len(self.classes)
        self.classes.append(None)
        qualname = self.nested(node.name)
        self.bind(node.name)
        self.scope = inner = Scope(qualname, outer.function, index)
        self.suite(node.body)
        self.scope = outer
        start, end = self.at(node)
        methods = {event.name: event.ref for event in inner.events if event.kind == "def"}
        self.classes[index] = Class(
            index, node.name, qualname, Span(start, end), self.header(node, start), bases, keywords,
            decorators, outer.function, outer.owner, methods, tuple(inner.events), outer.block,
        )  # fmt: skip
        self.event("class", (start, end), name=node.name, ref=index)

    def header(self, node: Definition, start: int) -> Span:
        """From `def` or `class` to the end of the name."""
        match = _DEFINED.match(self.text, start)
        return Span(start, match.end() if match else start + len(node.name))

    def body_span(self, body: Sequence[ast.stmt]) -> Span:
        """From the first to the last character of a suite, decorators included."""
        first, start = body[0], self.at(body[0])[0]
        if isinstance(first, Definition) and first.decorator_list:
            start = self.at(first.decorator_list[0])[0] - 1
        return Span(start, self.at(body[-1])[1])

    def bind(self, name: str) -> None:
        self.scope.bound.add(name)

    # Statements.

    def suite(self, body: Iterable[ast.stmt]) -> None:
        """Collect statements."""
        for statement in body:
            self.statement(statement)

    def block(self, kind: str, body: Sequence[ast.stmt], test: Expr | None = None, partner: int = -1) -> int:
        """Collect a nested suite; the index of its block."""
        index = len(self.blocks)
        outer = self.scope.block
        at = self.body_span(body)
        self.blocks.append(Block(kind, outer, at.start, at.end, test, partner))
        self.scope.block = index
        self.suite(body)
        self.scope.block = outer
        return index

    def statement(self, node: ast.stmt) -> None:
        at = self.at(node)
        match node:
            case ast.Expr(value=value):
                self.event("expr", at, value=self.lower(value))
            case ast.Assign(targets=targets, value=value):
                lowered = self.lower(value)
                for target in targets:
                    self.assign("assign", at, target, lowered)
                self.note_exports(targets[0], lowered)
            case ast.AnnAssign(target=target, value=None):
                self.assign("annotate", at, target, None)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assign("assign", at, target, self.lower(value))
            case ast.AugAssign(target=target, op=operator, value=value):
                if isinstance(target, ast.Name):
                    self.on_load(target.id)
                self.assign("augment", at, target, self.lower(value), _AUGMENTED[type(operator)])
            case ast.Return(value=value):
                self.event("return", at, value=None if value is None else self.lower(value))
            case ast.Raise(exc=value):
                self.event("raise", at, value=None if value is None else self.lower(value))
            case ast.Assert(test=test):
                self.event("assert", at, value=self.lower(test))
            case ast.Delete(targets=targets):
                self.event("del", at, target=self.deleted(targets, at))
            case ast.Global(names=names):
                self.scope.globals.update(names)
                self.event("global", at, names=tuple(names))
            case ast.Nonlocal(names=names):
                self.scope.nonlocals.update(names)
                self.event("nonlocal", at, names=tuple(names))
            case ast.Import():
                self.import_modules(node, at)
            case ast.ImportFrom():
                self.import_names(node, at)
            case ast.Break() | ast.Continue():
                self.event(type(node).__name__.lower(), at)
            case _:
                self.compound(node, at)

    def deleted(self, targets: list[ast.expr], at: tuple[int, int]) -> Expr:
        """What a `del` names: several targets are one tuple."""
        lowered = self.lower_all(targets)
        return lowered[0] if len(lowered) == 1 else Expr("tuple", lowered[0].start, at[1], args=lowered)

    def assign(self, kind: str, at: tuple[int, int], target: ast.expr, value: Expr | None, operator: str = "") -> None:
        names = set(target_names(target))
        self.scope.bound.update(names)
        self.hide(names)  # the plain names that a target binds are no loads
        lowered = self.lower(target)
        self.unhide()
        self.event(kind, at, target=lowered, value=value, name=operator)

    def note_exports(self, target: ast.expr, value: Expr) -> None:
        if isinstance(target, ast.Name) and target.id == "__all__" and value.kind in ("list", "tuple"):
            self.exports = tuple(item.value for item in value.args if isinstance(item.value, str))

    def import_modules(self, node: ast.Import, at: tuple[int, int]) -> None:
        bound = []
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            self.imported(name, alias.name, "", 0, at)
            bound.append(name)
        self.event("import", at, names=tuple(bound))

    def import_names(self, node: ast.ImportFrom, at: tuple[int, int]) -> None:
        bound = []
        for alias in node.names:
            name = alias.asname or alias.name
            self.imported(name, node.module or "", alias.name, node.level, at)
            if name != "*":
                bound.append(name)
        self.event("import", at, names=tuple(bound))

    def imported(self, bound: str, module: str, attribute: str, level: int, at: tuple[int, int]) -> None:
        if bound != "*":
            self.bind(bound)
        scope = self.scope
        self.imports.append(ImportedName(bound, module, attribute, level, Span(*at), scope.function, scope.block))

    def compound(self, node: ast.stmt, at: tuple[int, int]) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.define_function(node)
            case ast.ClassDef():
                self.define_class(node)
            case ast.If():
                self.if_statement(node, at)
            case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
                value = self.lower(iterable)
                self.assign("for", at, target, value)
                self.orelse(node.orelse, "forelse", self.block("for", node.body, value))
            case ast.While(test=test):
                value = self.lower(test)
                self.event("test", at, value=value)
                self.orelse(node.orelse, "forelse", self.block("while", node.body, value))
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                self.with_statement(items, body, at)
            case ast.Match(subject=subject, cases=cases):
                self.event("test", at, value=self.lower(subject))
                for case in cases:
                    self.match_case(case)
            case _ if hasattr(node, "finalbody"):  # `except*` is a class of its own, and not in every Python
                self.try_statement(node)  # type: ignore[arg-type]
            case _ if isinstance(getattr(node, "name", None), ast.Name):  # `type X = ...`
                self.bind(node.name.id)  # type: ignore[attr-defined]

    def orelse(self, body: list[ast.stmt], kind: str, partner: int) -> None:
        if body:
            self.block(kind, body, partner=partner)

    def if_statement(self, node: ast.If, at: tuple[int, int]) -> None:
        test = self.lower(node.test)
        self.event("test", at, value=test)
        index = self.block("if", node.body, test)
        below = node.orelse[0] if len(node.orelse) == 1 else None
        if isinstance(below, ast.If) and self.text.startswith("elif", self.at(below)[0]):
            outer = self.scope.block
            there = self.at(below)
            self.scope.block = len(self.blocks)
            self.blocks.append(Block("else", outer, there[0], there[1], None, index))
            self.if_statement(below, there)
            self.scope.block = outer
        else:
            self.orelse(node.orelse, "else", index)

    def with_statement(self, items: Iterable[ast.withitem], body: list[ast.stmt], at: tuple[int, int]) -> None:
        context: Expr | None = None
        for item in items:
            context = self.lower(item.context_expr)
            if item.optional_vars is None:
                self.event("with", at, value=context)
            else:
                self.assign("with", at, item.optional_vars, context)
        self.block("with", body, context)

    def try_statement(self, node: ast.Try) -> None:
        index = self.block("try", node.body)
        for handler in node.handlers:
            kind = None if handler.type is None else self.lower(handler.type)
            if kind is not None and handler.name is not None:
                self.bind(handler.name)
                self.event("except", self.caught(kind.end, handler.name), names=(handler.name,))
            self.block("except", handler.body, kind, index)
        self.orelse(node.orelse, "tryelse", index)
        self.orelse(node.finalbody, "finally", index)

    def caught(self, offset: int, name: str) -> tuple[int, int]:
        """Where the name of `except Error as name` stands; its type ends at `offset`."""
        match = _AS.match(self.text, offset)
        start = match.end() if match else offset
        return start, start + len(name)

    def match_case(self, case: ast.match_case) -> None:
        names = tuple(_captured(case.pattern))
        self.scope.bound.update(names)
        at = self.body_span(case.body)
        self.event("case", (at.start, at.end), names=names)
        self.block("case", case.body, None if case.guard is None else self.lower(case.guard))


def _captured(pattern: ast.pattern) -> Iterator[str]:
    """The names a match pattern binds."""
    for node in ast.walk(pattern):
        match node:
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
