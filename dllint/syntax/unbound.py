"""A method as a function of what it uses of its object, for a person to paste."""

from __future__ import annotations

import ast
from typing import NamedTuple

from dllint.source import Source
from dllint.syntax.nested import dedented, rows
from dllint.syntax.outline import Outline, outline


class Unbound(NamedTuple):
    """The function's text, its name, and the attributes that are its first parameters."""

    text: str
    name: str
    attributes: tuple[str, ...]


def unbound(source: Source, start: int) -> Unbound | None:
    """The method that begins at an offset; None where it does more with its object than read attributes."""
    seen = outline(source.text)
    node = seen.function_at(start) if seen else None
    if seen is None or not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return None
    parameters = [*node.args.posonlyargs, *node.args.args]
    if not parameters:
        return None
    self = parameters[0].arg
    uses = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == self]
    reads = [seen.parents[use][0] for use in uses]
    plain = [read for read in reads if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load)]
    if len(plain) != len(uses) or any(_is_method(seen, node, read) for read in plain):
        return None
    attributes = tuple(dict.fromkeys(read.attr for read in sorted(plain, key=seen.offsets.span)))
    local = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    local |= {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
    lines = rows(source, seen, node)
    code = dedented(source, (node.lineno, lines[1]), source.line(node.lineno)[: node.col_offset])
    if local & set(attributes) or not code:
        return None
    text = _without_receiver(code, self, attributes)
    return Unbound(text, node.name, attributes) if outline(text) else None


def _is_method(seen: Outline, node: ast.FunctionDef, read: ast.Attribute) -> bool:
    """Whether what is called may be a method of the class, which needs the object, and not something that it keeps."""
    parent, field = seen.parents[read]
    if not isinstance(parent, ast.Call) or field != "func":
        return False
    parts = ast.walk(seen.parents[node][0])
    return not any(
        isinstance(part, ast.Attribute) and part.attr == read.attr and isinstance(part.ctx, ast.Store) for part in parts
    )


def _without_receiver(code: str, self: str, attributes: tuple[str, ...]) -> str:
    """The text with the attributes in place of the first parameter and of what is read of it."""
    seen = outline(code)
    assert seen is not None
    (node,) = seen.tree.body
    assert isinstance(node, ast.FunctionDef)
    first = [*node.args.posonlyargs, *node.args.args][0]
    begin = seen.offsets.of(first.lineno, first.col_offset)
    end = seen.offsets.of(first.end_lineno or first.lineno, first.end_col_offset or first.col_offset)
    rest = code[end:].lstrip()
    given = ", ".join(attributes)
    if rest.startswith(","):
        given, end = "".join(f"{name}, " for name in attributes), len(code) - len(rest[1:].lstrip())
    spans = [(begin, end, given)]
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == self:
            spans.append((*seen.offsets.span(part), part.attr))
    for start, stop, text in sorted(spans, reverse=True):
        code = code[:start] + text + code[stop:]
    return code
