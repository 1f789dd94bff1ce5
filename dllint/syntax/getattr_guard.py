"""The lines that keep `__getattr__` from asking itself for what is not there yet."""

from __future__ import annotations

import ast

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import in_quotes
from dllint.syntax.outline import Outline, outline

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def guard_getattr(source: Source, inside: int) -> Edit | None:
    """A test at the top of the `__getattr__` around an offset: names with `__` and what it reads itself it has not.

    None where its body is on the line of its `def`.
    """
    seen = outline(source.text)
    method = _method_around(seen, inside) if seen else None
    if seen is None or method is None or len(method.args.args) != 2:
        return None
    receiver, name = (argument.arg for argument in method.args.args)
    own = _read(seen, method, receiver)
    docstring = ast.get_docstring(method, clean=False) is not None
    first = method.body[1] if docstring and len(method.body) > 1 else method.body[0]
    at = source.line_starts[first.lineno - 1]
    margin = source.text[at : seen.offsets.span(first)[0]]
    if margin.strip() or first.lineno == method.lineno or not own:
        return None
    quoted = ", ".join(f'"{attribute}"' for attribute in own)
    known = f"{name} == {quoted}" if len(own) == 1 else f"{name} in ({quoted})"
    lines = (
        in_quotes(source, f'if {name}.startswith("__") or {known}:'),
        f"{source.unit}raise AttributeError({name})",
    )
    return Edit(source.path, Span(at, at), "".join(f"{margin}{line}{source.newline}" for line in lines))


def _method_around(seen: Outline, inside: int) -> ast.FunctionDef | None:
    """The innermost function around an offset, if it is one that is named `__getattr__`."""
    around = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, _DEFINITIONS) and seen.offsets.span(node)[0] <= inside < seen.offsets.span(node)[1]
    ]
    inner = max(around, key=lambda node: seen.offsets.span(node)[0], default=None)
    return inner if isinstance(inner, ast.FunctionDef) and inner.name == "__getattr__" else None


def _read(seen: Outline, method: ast.FunctionDef, receiver: str) -> list[str]:
    """The attributes of its object that a method reads, but for those that the class defines itself."""
    defined = {getattr(item, "name", "") for item in getattr(seen.parents[method][0], "body", [])}
    found = dict.fromkeys(
        node.attr
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == receiver
    )
    return [attribute for attribute in found if not attribute.startswith("__") and attribute not in defined]
