"""An `__init__` for a class that has none, so that a statement follows what its base does."""

from __future__ import annotations

import ast

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.nested import rows
from dllint.syntax.outline import outline

_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


def own_init(source: Source, klass: Span, statement: str) -> Edit | None:
    """The method above the others of a class: it passes everything on to the base, then runs a statement.

    None where the class has no method at all.
    """
    seen = outline(source.text)
    nodes = (node for node in ast.walk(seen.tree) if isinstance(node, ast.ClassDef)) if seen else ()
    node = next((node for node in nodes if seen and klass.start <= seen.offsets.span(node)[0] < klass.end), None)
    first = next((item for item in node.body if isinstance(item, _METHODS)), None) if node else None
    if seen is None or first is None:
        return None
    indent, unit = source.line(first.lineno)[: first.col_offset], source.unit
    at = source.line_starts[rows(source, seen, first)[0] - 1]
    lines = [f"{indent}def __init__(self, *args, **kwargs):"]
    lines += [f"{indent}{unit}{line}" for line in ("super().__init__(*args, **kwargs)", statement)]
    return Edit(source.path, Span(at, at), "".join(line + source.newline for line in [*lines, ""]))
