"""A definition inside a function that moves to module level: its lines, and whether its name may come along."""

from __future__ import annotations

import ast
import builtins
import re

from dllint.model.facts import ModuleModel
from dllint.source import Source
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import bindings
from dllint.syntax.write import reindent

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def rows(source: Source, seen: Outline, node: ast.stmt) -> tuple[int, int]:
    """First and last row of a definition, with its decorators, the comments right above it and those at its end."""
    parent, field = seen.parents[node]
    before = getattr(parent, field)
    index = before.index(node)
    floor = before[index - 1].end_lineno if index else getattr(parent, "lineno", 0)
    indent = source.line(node.lineno)[: node.col_offset]
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    last = node.end_lineno or node.lineno
    while first - 1 > floor and re.match(rf"{indent}#", source.line(first - 1)):
        first -= 1
    for row in range(last + 1, len(source.line_starts) + 1):
        if re.match(rf"{indent}[ \t]+#", source.line(row)):
            last = row
        elif source.line(row).strip():
            break
    return first, last


def end_of(source: Source, row: int) -> int:
    """The offset where the row below begins."""
    return source.line_starts[row] if row < len(source.line_starts) else len(source.text)


def empty_below(source: Source, offset: int) -> int:
    """The number of characters of the empty lines that begin at an offset."""
    return len(re.match(r"(?:[ \t]*(?:\r\n|\n|\r))*", source.text[offset:])[0])  # type: ignore[index]


def dedented(source: Source, lines: tuple[int, int], indent: str) -> str:
    """The lines of a definition without its indentation; "" where that cannot be done."""
    text = source.text[source.line_starts[lines[0] - 1] : end_of(source, lines[1])]
    try:
        return reindent(text if text.endswith(("\n", "\r")) else text + source.newline, indent, "")
    except ValueError:
        return ""


def known_above(seen: Outline, offset: int) -> set[str]:
    """The names that the module has bound where its code has come to an offset, and the builtins."""
    known = set(dir(builtins))
    for statement in seen.tree.body:
        if seen.offsets.span(statement)[1] <= offset:
            known |= set(bindings(ast.Module([statement], [])))
    return known


def read_at_once(node: ast.AST) -> set[str]:
    """The names that a definition reads when it runs, and not only when its functions are called."""
    found: set[str] = set()
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found.add(part.id)
        body = part.body if isinstance(part, _FUNCTIONS) else []
        inside = body if isinstance(body, list) else [body]
        stack += [child for child in ast.iter_child_nodes(part) if child not in inside]
    return found


def annotations_wait(seen: Outline) -> bool:
    """`from __future__ import annotations`: they are not evaluated."""
    return any(
        isinstance(item, ast.ImportFrom)
        and item.module == "__future__"
        and any(alias.name == "annotations" for alias in item.names)
        for item in seen.tree.body
    )


def has_attributes(parent: ast.AST, name: str) -> bool:
    """Whether attributes are set on what a name stands for, which every call of the parent makes anew."""
    stores = (
        node for node in ast.walk(parent) if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    )
    return any(isinstance(node.value, ast.Name) and node.value.id == name for node in stores)


def name_is_free(model: ModuleModel, parent: ast.AST, node: ast.stmt, name: str, around: int) -> bool:
    """Whether a definition can have its own name at module level, and just go from the function `around`."""
    if name in dir(builtins) or name in model.bound:
        return False
    if any(name in other.bound for other in model.functions if other.index != around):
        return False
    if any(name in other.globals or name in other.nonlocals for other in model.functions):
        return False
    hidden = "*" if not name.startswith("_") else name  # `import *` brings no private names
    if any(item.bound in (hidden, name) for item in model.imports):
        return False
    body = getattr(parent, "body", ())
    bound = [seen for item in bindings(parent).get(name, []) for seen in (item, *_assigned(parent, item))]
    return node in bound and len(bindings(parent)[name]) == 1 and node in body and len(body) > 1


def _assigned(parent: ast.AST, target: ast.AST) -> list[ast.AST]:
    """The assignments in a body that have this one target."""
    body = getattr(parent, "body", ())
    return [item for item in body if isinstance(item, ast.Assign) and item.targets == [target]]


def renamed(source: Source, start: int, name: str) -> str:
    """The def that begins at an offset, under another name and without indentation; "" where it is decorated."""
    seen = outline(source.text)
    node = seen.function_at(start) if seen else None
    if seen is None or not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return ""
    code = dedented(source, rows(source, seen, node), source.line(node.lineno)[: node.col_offset])
    return re.sub(rf"^(\s*def\s+){node.name}\b", rf"\g<1>{name}", code, count=1, flags=re.MULTILINE).rstrip()
