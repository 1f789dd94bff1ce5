"""One walk over a module: its scopes, events and blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dllint.collect.definitions import Definitions
from dllint.collect.expressions import target_names
from dllint.model.facts import Block, EventKind, Expr, ImportedName
from dllint.source import Span

_AUGMENTED = {
    ast.Add: "Add", ast.Sub: "Subtract", ast.Mult: "Multiply", ast.Div: "Divide", ast.FloorDiv: "FloorDivide",
    ast.Mod: "Modulo", ast.Pow: "Power", ast.MatMult: "MatrixMultiply", ast.LShift: "LeftShift",
    ast.RShift: "RightShift", ast.BitAnd: "BitAnd", ast.BitOr: "BitOr", ast.BitXor: "BitXor",
}  # fmt: skip
_AS = re.compile(r"[\s\\)]*as[\s\\]+")


class Scopes(Definitions):
    """The walk. Its lists become the ModuleModel's tuples."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.imports: list[ImportedName] = []
        self.exports: tuple[str, ...] | None = None

    def suite(self, body: Iterable[ast.stmt]) -> None:
        for node in body:
            handler = _COLLECTED_BY.get(type(node))
            if handler is not None:
                start, end = self.at(node)
                handler(self, node, start, end)

    # Statements without suites.

    def expression(self, node: ast.Expr, start: int, end: int) -> None:
        self.scope.event("expr", start, end, None, self.lower(node.value))

    def assignment(self, node: ast.Assign, start: int, end: int) -> None:
        value = self.lower(node.value)
        for target in node.targets:
            self.assign("assign", start, end, target, value)
        first = node.targets[0]
        if isinstance(first, ast.Name) and first.id == "__all__" and value.kind in ("list", "tuple"):
            self.exports = tuple([item.value for item in value.args if isinstance(item.value, str)])

    def annotated(self, node: ast.AnnAssign, start: int, end: int) -> None:
        if node.value is None:
            self.assign("annotate", start, end, node.target, None)
        else:
            self.assign("assign", start, end, node.target, self.lower(node.value))

    def augmented(self, node: ast.AugAssign, start: int, end: int) -> None:
        if isinstance(node.target, ast.Name):
            self.scope.loads.add(node.target.id)
        self.assign("augment", start, end, node.target, self.lower(node.value), _AUGMENTED[type(node.op)])

    def assign(
        self, kind: EventKind, start: int, end: int, target: ast.expr, value: Expr | None, operator: str = ""
    ) -> None:
        """A target gets a value. The plain names that it binds aren't loads."""
        scope = self.scope
        names = target_names(target)
        scope.bound.update(names)
        scope.hidden = frozenset(names)
        lowered = self.lower(target)
        scope.hidden = frozenset()
        scope.event(kind, start, end, lowered, value, operator)

    def returned(self, node: ast.Return, start: int, end: int) -> None:
        self.scope.event("return", start, end, None, None if node.value is None else self.lower(node.value))

    def raised(self, node: ast.Raise, start: int, end: int) -> None:
        self.scope.event("raise", start, end, None, None if node.exc is None else self.lower(node.exc))

    def asserted(self, node: ast.Assert, start: int, end: int) -> None:
        self.scope.event("assert", start, end, None, self.lower(node.test))

    def deleted(self, node: ast.Delete, start: int, end: int) -> None:
        """What a `del` names: several targets are one tuple."""
        lowered = self.lower_all(node.targets)
        target = lowered[0] if len(lowered) == 1 else Expr("tuple", lowered[0].start, end, args=lowered)
        self.scope.event("del", start, end, target)

    def declared_global(self, node: ast.Global, start: int, end: int) -> None:
        self.scope.globals.update(node.names)
        self.scope.event("global", start, end, names=tuple(node.names))

    def declared_nonlocal(self, node: ast.Nonlocal, start: int, end: int) -> None:
        self.scope.nonlocals.update(node.names)
        self.scope.event("nonlocal", start, end, names=tuple(node.names))

    def jump(self, node: ast.Break | ast.Continue, start: int, end: int) -> None:
        self.scope.event("break" if isinstance(node, ast.Break) else "continue", start, end)

    def import_modules(self, node: ast.Import, start: int, end: int) -> None:
        names = [(alias.asname or alias.name.split(".")[0], alias.name, "") for alias in node.names]
        self.imported(names, 0, start, end)

    def import_names(self, node: ast.ImportFrom, start: int, end: int) -> None:
        module = node.module or ""
        names = [(alias.asname or alias.name, module, alias.name) for alias in node.names]
        self.imported(names, node.level, start, end)

    def imported(self, names: list[tuple[str, str, str]], level: int, start: int, end: int) -> None:
        """Names are imported: what each is bound to, its module and attribute."""
        scope, span = self.scope, Span(start, end)
        for bound, module, attribute in names:
            self.imports.append(ImportedName(bound, module, attribute, level, span, scope.function, scope.block))
        plain = tuple([name[0] for name in names if name[0] != "*"])
        scope.bound.update(plain)
        scope.event("import", start, end, names=plain)

    def type_alias(self, node: Any, start: int, end: int) -> None:
        self.scope.bound.add(node.name.id)

    # Statements with suites.

    def orelse(self, body: list[ast.stmt], kind: str, partner: int) -> None:
        if body:
            self.block(kind, body, None, partner)

    def if_statement(self, node: ast.If, start: int, end: int) -> None:
        test = self.lower(node.test)
        scope = self.scope
        scope.event("test", start, end, None, test)
        index = self.block("if", node.body, test)
        below = node.orelse[0] if len(node.orelse) == 1 else None
        if isinstance(below, ast.If) and self.text.startswith("elif", self.at(below)[0]):
            outer = scope.block
            first, last = self.at(below)
            scope.block = len(self.blocks)
            self.blocks.append(Block("else", outer, first, last, None, index))
            self.if_statement(below, first, last)
            scope.block = outer
        else:
            self.orelse(node.orelse, "else", index)

    def for_loop(self, node: ast.For | ast.AsyncFor, start: int, end: int) -> None:
        value = self.lower(node.iter)
        self.assign("for", start, end, node.target, value)
        self.orelse(node.orelse, "forelse", self.block("for", node.body, value))

    def while_loop(self, node: ast.While, start: int, end: int) -> None:
        value = self.lower(node.test)
        self.scope.event("test", start, end, None, value)
        self.orelse(node.orelse, "forelse", self.block("while", node.body, value))

    def with_statement(self, node: ast.With | ast.AsyncWith, start: int, end: int) -> None:
        context: Expr | None = None
        for item in node.items:
            context = self.lower(item.context_expr)
            if item.optional_vars is None:
                self.scope.event("with", start, end, None, context)
            else:
                self.assign("with", start, end, item.optional_vars, context)
        self.block("with", node.body, context)

    def try_statement(self, node: ast.Try, start: int, end: int) -> None:
        index = self.block("try", node.body)
        for handler in node.handlers:
            kind = None if handler.type is None else self.lower(handler.type)
            if kind is not None and handler.name is not None:
                self.scope.bound.add(handler.name)
                self.scope.event("except", *self.caught(kind.end, handler.name), names=(handler.name,))
            self.block("except", handler.body, kind, index)
        self.orelse(node.orelse, "tryelse", index)
        self.orelse(node.finalbody, "finally", index)

    def caught(self, offset: int, name: str) -> tuple[int, int]:
        """Where the name of `except Error as name` stands; its type ends at `offset`."""
        match = _AS.match(self.text, offset)
        start = match.end() if match else offset
        return start, start + len(name)

    def match_statement(self, node: ast.Match, start: int, end: int) -> None:
        self.scope.event("test", start, end, None, self.lower(node.subject))
        for case in node.cases:
            names = tuple(_captured(case.pattern))
            self.scope.bound.update(names)
            at = self.body_span(case.body)
            self.scope.event("case", at.start, at.end, names=names)
            self.block("case", case.body, self.case_test(case, node.subject))

    def case_test(self, case: ast.match_case, subject: ast.expr) -> Expr | None:
        """What must hold for a case: its guard, or that a name is a constant: `match __name__: case "__main__":`."""
        if case.guard is not None:
            return self.lower(case.guard)
        match case.pattern, subject:
            case ast.MatchValue(value=ast.Constant() as value), ast.Name() | ast.Attribute():
                left, right = self.lower(subject), self.lower(value)
                return Expr("compare", left.start, right.end, "==", (left, right))
        return None


_COLLECTED_BY: dict[type, Callable[[Scopes, Any, int, int], None]] = {
    ast.Expr: Scopes.expression,
    ast.Assign: Scopes.assignment,
    ast.AnnAssign: Scopes.annotated,
    ast.AugAssign: Scopes.augmented,
    ast.Return: Scopes.returned,
    ast.Raise: Scopes.raised,
    ast.Assert: Scopes.asserted,
    ast.Delete: Scopes.deleted,
    ast.Global: Scopes.declared_global,
    ast.Nonlocal: Scopes.declared_nonlocal,
    ast.Import: Scopes.import_modules,
    ast.ImportFrom: Scopes.import_names,
    ast.Break: Scopes.jump,
    ast.Continue: Scopes.jump,
    ast.FunctionDef: Scopes.define_function,
    ast.AsyncFunctionDef: Scopes.define_function,
    ast.ClassDef: Scopes.define_class,
    ast.If: Scopes.if_statement,
    ast.For: Scopes.for_loop,
    ast.AsyncFor: Scopes.for_loop,
    ast.While: Scopes.while_loop,
    ast.With: Scopes.with_statement,
    ast.AsyncWith: Scopes.with_statement,
    ast.Match: Scopes.match_statement,
    ast.Try: Scopes.try_statement,
}
for _name, _handler in (("TryStar", Scopes.try_statement), ("TypeAlias", Scopes.type_alias)):
    if hasattr(ast, _name):  # not in every Python
        _COLLECTED_BY[getattr(ast, _name)] = _handler


def _captured(pattern: ast.pattern) -> Iterator[str]:
    """The names a match pattern binds."""
    for node in ast.walk(pattern):
        match node:
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
