"""An attribute that `__init__` declares with an annotation, which may be wrong of what the method keeps in the end."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import NamedTuple

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.outline import FunctionNode, Outline, outline
from dllint.syntax.removal import lines_of, stands_alone, without_import
from dllint.syntax.scoping import bindings, parameters

_OPEN = {"open", "io.open", "gzip.open", "bz2.open", "lzma.open"}
_HOOKS = {"__setattr__", "__getattr__", "__getattribute__"}


def is_declared(source: Source, target: Span) -> bool:
    """Whether the attribute at a span gets a value together with an annotation."""
    return _declaration(source, target) is not None


def as_variable(source: Source, target: Span, line: tuple[int, str], members: Collection[str]) -> str:
    """The name of a local variable that can take a declared attribute's place above a line with an indentation.

    `members` are the methods and properties of its object. "" where something else may ask for the attribute before,
    or the line may not be reached.
    """
    found = _declaration(source, target)
    if found is None:
        return ""
    until, indent = line
    beside = source.text[source.row_span(found.statement.lineno).start : target.start] == indent
    leaves = any(isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) for node in found.below(until))
    sure = beside and not leaves and found.is_plain and found.is_own(until, members)
    return found.free_name() if sure else ""


def without_declaration(source: Source, target: Span, set_at: Span, members: Collection[str]) -> tuple[Edit, ...]:
    """The edits that remove a declaration whose value nothing reads before the attribute is set at another span.

    Empty where this isn't certain.
    """
    found = _declaration(source, target)
    node = found.seen.expression_at(set_at) if found is not None else None
    if found is None or node is None:
        return ()
    seen, statement, setting = found.seen, found.statement, found.seen.statement(node)
    parent, field = seen.parents[statement]
    siblings = getattr(parent, field)
    until = seen.offsets.span(setting)[1]
    reads = any(found.is_it(other) and other is not node for other in found.below(until))
    always = any(around in siblings[siblings.index(statement) + 1 :] for around in _always(seen, setting))
    sure = always and not reads and found.is_plain and found.is_own(until, members)
    if not sure or not stands_alone(source, seen, statement):
        return ()
    names = sorted({part.id for part in ast.walk(statement.annotation) if isinstance(part, ast.Name)})
    lines = lines_of(source, statement, siblings[0] is statement)
    return Edit(source.path, lines, ""), *(edit for name in names for edit in without_import(source, name))


class _Declaration(NamedTuple):
    """A statement that declares an attribute of its method's object."""

    seen: Outline
    statement: ast.AnnAssign
    attribute: str
    function: ast.FunctionDef
    receiver: str

    def below(self, until: int) -> Iterator[ast.stmt | ast.expr]:
        """What the method has between the statement and an offset."""
        since = self.seen.offsets.span(self.statement)[1]
        placed = (node for node in ast.walk(self.function) if isinstance(node, ast.stmt | ast.expr))
        return (node for node in placed if since <= self.seen.offsets.span(node)[0] < until)

    def is_it(self, node: ast.AST) -> bool:
        """Whether a node is the attribute."""
        found = isinstance(node, ast.Attribute) and node.attr == self.attribute and node.value
        return isinstance(found, ast.Name) and found.id == self.receiver

    @property
    def is_plain(self) -> bool:
        """Whether the statement is in no loop, and in nothing that may go on where what is below it raises."""
        path = (above for above, _ in self.seen.path(self.statement))
        around = takewhile(lambda above: above is not self.function, path)
        return all(isinstance(above, ast.If) or _is_of_files(above) for above in around)

    def is_own(self, until: int, members: Collection[str]) -> bool:
        """Whether only the method's own statements can ask for the attribute before an offset.

        They hand on neither the object nor a method of it, call none below, and no function in them has the attribute.
        """
        below = set(self.below(until))
        names = [node for node in ast.walk(self.function) if isinstance(node, ast.Name)]
        above = [node for node in names if self.seen.offsets.span(node)[0] < until]
        bases = any(node.id == "super" for node in above if node in below)
        uses = (node for node in above if node.id == self.receiver)
        return (
            not bases and _HOOKS.isdisjoint(members) and all(self._is_own(use, use in below, members) for use in uses)
        )

    def _is_own(self, receiver: ast.Name, below: bool, members: Collection[str]) -> bool:
        """Whether a use of the object runs no other code that may ask for the attribute, and prepares none."""
        parent = self.seen.parents[receiver][0]
        if isinstance(parent, ast.Call):
            return ast.unparse(parent.func) == "super" and not below
        if not isinstance(parent, ast.Attribute):
            return False
        if self.is_it(parent):
            functions = (above for above, _ in self.seen.path(parent) if isinstance(above, FunctionNode))
            return next(functions) is self.function
        called, own = self.seen.parents[parent][1] == "func", parent.attr in members
        return not (called or own) if below else called or not own

    def free_name(self) -> str:
        """The attribute's name as that of a variable; "" where the method has another one, or Python."""
        name = self.attribute.lstrip("_")
        known = {*dir(builtins), *keyword.kwlist, *bindings(self.function), *parameters(self.function)}
        used = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(self.function))
        return name if name.isidentifier() and not (name in known or used) else ""


def _declaration(source: Source, target: Span) -> _Declaration | None:
    """The declaration of the attribute at a span."""
    seen = outline(source.text)
    node = seen.expression_at(target) if seen is not None else None
    if seen is None or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    statement = seen.parents[node][0]
    functions = (above for above, _ in seen.path(node) if isinstance(above, ast.FunctionDef))
    function = next(functions, None)
    if not isinstance(statement, ast.AnnAssign) or statement.value is None or function is None:
        return None
    own = function.name == "__init__" and [one.arg for one in function.args.args[:1]] == [node.value.id]
    return _Declaration(seen, statement, node.attr, function, node.value.id) if own else None


def _always(seen: Outline, statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement, and the blocks around it that it always runs in."""
    yield statement
    yield from takewhile(_is_of_files, (above for above, _ in seen.path(statement)))


def _is_of_files(node: ast.AST) -> bool:
    """Whether a node is a `with` of files, which lets through what its statements raise."""
    calls = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
    named = [ast.unparse(call.func) for call in calls if isinstance(call, ast.Call)]
    return bool(calls) and len(named) == len(calls) and _OPEN.issuperset(named)
