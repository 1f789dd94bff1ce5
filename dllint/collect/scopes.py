"""One walk over a module: its scopes, events and blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from dllint.collect.expressions import Lowering, target_names
from dllint.model.facts import Block, Class, Event, Expr, Function, ImportedName, Parameter
from dllint.source import Span


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

    def __init__(self, positions: dict[cst.CSTNode, tuple[int, int]]) -> None:
        super().__init__(positions)
        self.scope = Scope("", -1, -1)
        self.functions: list[Function | None] = []
        self.classes: list[Class | None] = []
        self.blocks: list[Block] = []
        self.imports: list[ImportedName] = []
        self.exports: tuple[str, ...] | None = None

    def module(self, module: cst.Module) -> None:
        """Collect a whole module."""
        self.suite(module.body)

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

    def on_lambda(self, node: cst.Lambda, start: int, end: int) -> int:
        outer = self.scope
        parameters = self.parameters(node.params)
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

    def parameters(self, node: cst.Parameters) -> tuple[Parameter, ...]:
        found = [self.parameter(param, "posonly") for param in node.posonly_params]
        found += [self.parameter(param, "positional") for param in node.params]
        if isinstance(node.star_arg, cst.Param):
            found.append(self.parameter(node.star_arg, "args"))
        found += [self.parameter(param, "keyword") for param in node.kwonly_params]
        if node.star_kwarg is not None:
            found.append(self.parameter(node.star_kwarg, "kwargs"))
        return tuple(found)

    def parameter(self, node: cst.Param, kind: str) -> Parameter:
        default = None if node.default is None else self.lower(node.default)
        annotation = None if node.annotation is None else self.lower(node.annotation.annotation)
        return Parameter(node.name.value, kind, default, annotation)

    def define_function(self, node: cst.FunctionDef) -> None:
        outer = self.scope
        decorators = self.lower_all(decorator.decorator for decorator in node.decorators)
        parameters = self.parameters(node.params)
        returns = None if node.returns is None else self.lower(node.returns.annotation)
        index = len(self.functions)
        self.functions.append(None)
        name = node.name.value
        qualname = self.nested(name)
        self.bind(name)
        self.scope = inner = Scope(qualname, index, -1)
        inner.bound.update(parameter.name for parameter in parameters)
        self.suite(node.body)
        self.scope = outer
        start, end = self.positions[node]
        self.functions[index] = Function(
            index, "def", name, qualname, Span(start, end), Span(start, self.positions[node.name][1]),
            self.body_span(node.body), parameters, decorators, outer.function, outer.owner, tuple(inner.events),
            frozenset(inner.bound - inner.globals - inner.nonlocals), frozenset(inner.loads),
            frozenset(inner.globals), frozenset(inner.nonlocals), node.asynchronous is not None, inner.generator,
            returns, outer.block,
        )  # fmt: skip
        self.event("def", (start, end), name=name, ref=index)

    def define_class(self, node: cst.ClassDef) -> None:
        outer = self.scope
        decorators = self.lower_all(decorator.decorator for decorator in node.decorators)
        bases = self.lower_all(arg.value for arg in node.bases)
        keywords = tuple((arg.keyword.value, self.lower(arg.value)) for arg in node.keywords if arg.keyword)
        index = len(self.classes)
        self.classes.append(None)
        name = node.name.value
        qualname = self.nested(name)
        self.bind(name)
        self.scope = inner = Scope(qualname, outer.function, index)
        self.suite(node.body)
        self.scope = outer
        start, end = self.positions[node]
        methods = {event.name: event.ref for event in inner.events if event.kind == "def"}
        self.classes[index] = Class(
            index, name, qualname, Span(start, end), Span(start, self.positions[node.name][1]), bases, keywords,
            decorators, outer.function, outer.owner, methods, tuple(inner.events), outer.block,
        )  # fmt: skip
        self.event("class", (start, end), name=name, ref=index)

    def body_span(self, body: cst.BaseSuite) -> Span:
        statements = body.body
        if not statements:
            return Span(0, 0)
        return Span(self.extent(statements[0])[0], self.extent(statements[-1])[1])

    def extent(self, node: cst.CSTNode) -> tuple[int, int]:
        """From the first to the last character of a statement, decorators included."""
        if isinstance(node, cst.SimpleStatementLine):
            return self.positions[node.body[0]][0], self.positions[node.body[-1]][1]
        start, end = self.positions[node]
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.decorators:
            start = self.positions[node.decorators[0].decorator][0] - 1
        return start, end

    def bind(self, name: str) -> None:
        self.scope.bound.add(name)

    # Statements.

    def suite(self, body: cst.BaseSuite | Sequence[cst.BaseStatement | cst.BaseSmallStatement]) -> None:
        statements = body.body if isinstance(body, cst.BaseSuite) else body
        for statement in statements:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self.small(small)
            elif isinstance(statement, cst.BaseSmallStatement):
                self.small(statement)
            else:
                self.compound(statement)

    def block(
        self, kind: str, body: cst.BaseSuite, at: tuple[int, int], test: Expr | None = None, partner: int = -1
    ) -> int:
        """Collect a nested suite; the index of its block."""
        index = len(self.blocks)
        outer = self.scope.block
        self.blocks.append(Block(kind, outer, at[0], at[1], test, partner))
        self.scope.block = index
        self.suite(body)
        self.scope.block = outer
        return index

    def around(self, body: cst.BaseSuite) -> tuple[int, int]:
        span = self.body_span(body)
        return span.start, span.end

    def small(self, node: cst.BaseSmallStatement) -> None:
        at = self.positions[node]
        match node:
            case cst.Expr(value=value):
                self.event("expr", at, value=self.lower(value))
            case cst.Assign(targets=targets, value=value):
                lowered = self.lower(value)
                for target in targets:
                    self.assign("assign", at, target.target, lowered)
                self.note_exports(targets[0].target, lowered)
            case cst.AnnAssign(target=target, value=None):
                self.assign("annotate", at, target, None)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                self.assign("assign", at, target, self.lower(value))
            case cst.AugAssign(target=target, value=value):
                operator = type(node.operator).__name__.removesuffix("Assign")
                self.on_target_load(target)
                self.assign("augment", at, target, self.lower(value), operator)
            case cst.Return(value=value):
                self.event("return", at, value=None if value is None else self.lower(value))
            case cst.Raise(exc=value):
                self.event("raise", at, value=None if value is None else self.lower(value))
            case cst.Assert(test=test):
                self.event("assert", at, value=self.lower(test))
            case cst.Del(target=target):
                self.event("del", at, target=self.lower(target))
            case cst.Global(names=names):
                found = tuple(item.name.value for item in names)
                self.scope.globals.update(found)
                self.event("global", at, names=found)
            case cst.Nonlocal(names=names):
                found = tuple(item.name.value for item in names)
                self.scope.nonlocals.update(found)
                self.event("nonlocal", at, names=found)
            case cst.Import():
                self.import_modules(node, at)
            case cst.ImportFrom():
                self.import_names(node, at)
            case cst.Break() | cst.Continue():
                self.event(type(node).__name__.lower(), at)

    def on_target_load(self, target: cst.CSTNode) -> None:
        if isinstance(target, cst.Name):
            self.on_load(target.value)

    def assign(
        self, kind: str, at: tuple[int, int], target: cst.CSTNode, value: Expr | None, operator: str = ""
    ) -> None:
        names = list(target_names(target))
        self.scope.bound.update(names)
        self.event(kind, at, target=self.target(target), value=value, name=operator)

    def target(self, node: cst.CSTNode) -> Expr:
        """A target as an expression; the plain names it binds are no loads."""
        self.hide(set(target_names(node)))
        lowered = self.lower(node)
        self.unhide()
        return lowered

    def note_exports(self, target: cst.CSTNode, value: Expr) -> None:
        if isinstance(target, cst.Name) and target.value == "__all__" and value.kind in ("list", "tuple"):
            self.exports = tuple(item.value for item in value.args if isinstance(item.value, str))

    def import_modules(self, node: cst.Import, at: tuple[int, int]) -> None:
        bound = []
        for alias in node.names:
            module = alias.evaluated_name
            name = alias.evaluated_alias or module.split(".")[0]
            self.imported(name, module, "", 0, at)
            bound.append(name)
        self.event("import", at, names=tuple(bound))

    def import_names(self, node: cst.ImportFrom, at: tuple[int, int]) -> None:
        module = "" if node.module is None else dotted_name(node.module)
        level = len(node.relative)
        bound = []
        if isinstance(node.names, cst.ImportStar):
            self.imported("*", module, "*", level, at)
        else:
            for alias in node.names:
                name = alias.evaluated_alias or alias.evaluated_name
                self.imported(name, module, alias.evaluated_name, level, at)
                bound.append(name)
        self.event("import", at, names=tuple(bound))

    def imported(self, bound: str, module: str, attribute: str, level: int, at: tuple[int, int]) -> None:
        if bound != "*":
            self.bind(bound)
        scope = self.scope
        self.imports.append(ImportedName(bound, module, attribute, level, Span(*at), scope.function, scope.block))

    def compound(self, node: cst.CSTNode) -> None:
        at = self.positions[node]
        match node:
            case cst.FunctionDef():
                self.define_function(node)
            case cst.ClassDef():
                self.define_class(node)
            case cst.If():
                self.if_statement(node)
            case cst.For(target=target, iter=iterable, body=body, orelse=orelse):
                value = self.lower(iterable)
                self.assign("for", at, target, value)
                index = self.block("for", body, self.around(body), value)
                self.orelse(orelse, "forelse", index)
            case cst.While(test=test, body=body, orelse=orelse):
                value = self.lower(test)
                self.event("test", at, value=value)
                index = self.block("while", body, self.around(body), value)
                self.orelse(orelse, "forelse", index)
            case cst.With(items=items, body=body):
                self.with_statement(items, body, at)
            case cst.Try() | cst.TryStar():
                self.try_statement(node)
            case cst.Match(subject=subject, cases=cases):
                self.event("test", at, value=self.lower(subject))
                for case in cases:
                    self.match_case(case)

    def orelse(self, node: cst.Else | None, kind: str, partner: int) -> None:
        if node is not None:
            self.block(kind, node.body, self.around(node.body), partner=partner)

    def if_statement(self, node: cst.If) -> None:
        test = self.lower(node.test)
        self.event("test", self.positions[node], value=test)
        index = self.block("if", node.body, self.around(node.body), test)
        if isinstance(node.orelse, cst.If):
            outer = self.scope.block
            at = self.positions[node.orelse]
            self.scope.block = len(self.blocks)
            self.blocks.append(Block("else", outer, at[0], at[1], None, index))
            self.if_statement(node.orelse)
            self.scope.block = outer
        else:
            self.orelse(node.orelse, "else", index)

    def with_statement(self, items: Iterable[cst.WithItem], body: cst.BaseSuite, at: tuple[int, int]) -> None:
        context: Expr | None = None
        for item in items:
            context = self.lower(item.item)
            if item.asname is None:
                self.event("with", at, value=context)
            else:
                self.assign("with", at, item.asname.name, context)
        self.block("with", body, self.around(body), context)

    def try_statement(self, node: cst.Try | cst.TryStar) -> None:
        index = self.block("try", node.body, self.around(node.body))
        for handler in node.handlers:
            kind = None if handler.type is None else self.lower(handler.type)
            at = self.positions[handler.name.name] if handler.name else self.around(handler.body)
            if handler.name is not None:
                names = tuple(target_names(handler.name.name))
                self.scope.bound.update(names)
                self.event("except", at, names=names)
            self.block("except", handler.body, self.around(handler.body), kind, index)
        self.orelse(node.orelse, "tryelse", index)
        if node.finalbody is not None:
            self.block("finally", node.finalbody.body, self.around(node.finalbody.body), partner=index)

    def match_case(self, case: cst.MatchCase) -> None:
        names = tuple(_captured(case.pattern))
        self.scope.bound.update(names)
        self.event("case", self.around(case.body), names=names)
        guard = None if case.guard is None else self.lower(case.guard)
        self.block("case", case.body, self.around(case.body), guard)


def _captured(pattern: cst.CSTNode) -> Iterable[str]:
    """The names a match pattern binds."""
    stack: list[cst.CSTNode] = [pattern]
    while stack:
        node = stack.pop()
        if isinstance(node, (cst.MatchAs, cst.MatchStar)) and node.name is not None:
            yield node.name.value
        if isinstance(node, cst.MatchMapping) and node.rest is not None:
            yield node.rest.value
        stack.extend(node.children)


def dotted_name(node: cst.BaseExpression) -> str:
    """`a.b.c` of a name or a chain of attributes."""
    if isinstance(node, cst.Attribute):
        return f"{dotted_name(node.value)}.{node.attr.value}"
    return cst.ensure_type(node, cst.Name).value
