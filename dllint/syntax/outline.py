"""A file's syntax as the running Python reads it, with parents and character offsets: what fixes ask about scopes."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import pairwise

from dllint.source import Span, line_starts
from dllint.syntax.deep import call_deep

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Offsets:
    """Character offsets of ast's positions, which count bytes of UTF-8 in a line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        self._wide: frozenset[int] = frozenset()
        """Rows where a character may be more than one byte."""
        if not text.isascii():
            borders = pairwise((*self.starts, len(text)))
            self._wide = frozenset(row for row, (a, b) in enumerate(borders, start=1) if not text[a:b].isascii())

    @property
    def simple(self) -> list[int] | None:
        """The offset at which each row starts, by its number, where every character is one byte."""
        return None if self._wide else [0, *self.starts]

    def of(self, row: int, column: int) -> int:
        """The offset of a row (from 1) and a column in bytes."""
        start = self.starts[row - 1]
        if row not in self._wide:
            return start + column
        return start + len(self.text[start : start + column].encode()[:column].decode(errors="ignore"))

    def span(self, node: ast.stmt | ast.expr | ast.arg | ast.keyword | ast.alias) -> tuple[int, int]:
        """Start and end of a statement, an expression, a parameter, an argument or an import; without decorators."""
        row, last, wide = node.lineno, node.end_lineno or 0, self._wide
        if row in wide or last in wide:
            return self.of(row, node.col_offset), self.of(last, node.end_col_offset or 0)
        return self.starts[row - 1] + node.col_offset, self.starts[last - 1] + (node.end_col_offset or 0)


class Outline:
    """The syntax tree of a text. Raises SyntaxError or ValueError where the running Python cannot read it."""

    def __init__(self, text: str) -> None:
        self.tree = parse_quietly(text)
        self.offsets = Offsets(text)

    @cached_property
    def parents(self) -> dict[ast.AST, tuple[ast.AST, str]]:
        """For every node its parent, and the parent's field that holds it."""
        return {
            child: (node, field)
            for node in ast.walk(self.tree)
            for field, value in ast.iter_fields(node)
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST)
        }

    def path(self, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
        """The way up from a node: each ancestor, with the field one came from."""
        while node in self.parents:
            step = self.parents[node]
            yield step
            node = step[0]

    def function_at(self, start: int) -> FunctionNode | None:
        """The def or lambda that begins at an offset."""
        return self._functions.get(start)

    @cached_property
    def _functions(self) -> dict[int, FunctionNode]:
        """The functions by their beginnings."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        return {self.offsets.span(node)[0]: node for node in ast.walk(self.tree) if isinstance(node, kinds)}

    def expression_at(self, span: Span) -> ast.Name | ast.Attribute | None:
        """The name or the attribute at a span."""
        return self._named.get((span.start, span.end))

    @cached_property
    def _named(self) -> dict[tuple[int, int], ast.Name | ast.Attribute]:
        """The names and attributes by their spans."""
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name | ast.Attribute))
        return {self.offsets.span(node): node for node in nodes}

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is or belongs to."""
        if isinstance(node, ast.stmt):
            return node
        return next(above for above, _ in self.path(node) if isinstance(above, ast.stmt))


def parse_quietly(text: str) -> ast.Module:
    """`ast.parse` without warnings, with room for deep recursion. Raises SyntaxError or ValueError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if threading.current_thread() is threading.main_thread():  # others may have little room
                with suppress(MemoryError, RecursionError):
                    return ast.parse(text)
            return call_deep(lambda: ast.parse(text))
    except (MemoryError, RecursionError) as error:
        raise ValueError(f"too deep for this Python: {error}") from None


@lru_cache(maxsize=8)
def outline(text: str) -> Outline | None:
    """The outline of a text, or None where the running Python cannot read it."""
    try:
        return Outline(text)
    except (SyntaxError, ValueError):
        return None
