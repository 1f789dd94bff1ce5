"""The fix that moves a function defined in a function to module level."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize

from dllint.fix import Applicability, Edit, Fix
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source, Span
from dllint.syntax.captures import Captures, binder, bindings, captures
from dllint.syntax.definition import insertion, with_captured
from dllint.syntax.hoist import constant_defaults, filled_in, times_bound
from dllint.syntax.layout import indent_at
from dllint.syntax.names import free_name
from dllint.syntax.outline import Offsets, Outline, outline
from dllint.syntax.parse import Tree
from dllint.syntax.write import insertion_point, reindent

Definition = ast.FunctionDef | ast.AsyncFunctionDef


def hoist_function(source: Source, tree: Tree, model: ModuleModel, function: Function) -> Fix | None:
    """Move a nested function to module level; None where that would not mean the same.

    Without captures it keeps its name if that is free there. Else the name stays a local variable: for the moved
    function, or for a `functools.partial` of it that fills in the captured variables.
    """
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or not isinstance(node, Definition) or not model.faithful or node.decorator_list:
        return None
    parent = next(
        (above for above, _ in seen.path(node) if isinstance(above, (*Definition.__args__, ast.Lambda))), None
    )
    rows = _rows(source, seen, node)
    code = _dedented(source, rows, indent_at(source, function.span.start))
    taken = captures(seen, node, code, {node.name}) if code else None
    if (
        parent is None
        or taken is None
        or not constant_defaults(node.args)
        or not _parts_known(source, tree, seen, node)
    ):
        return None
    if _has_attributes(parent, node.name):
        return None
    keeps_name = not taken.variables and _name_is_free(model, parent, node, function)
    if not keeps_name and _uses(node, node.name):
        return None
    name = node.name if keeps_name else free_name(model, "_" + node.name.lstrip("_"))
    text = _moved(source, node, code, name, taken, rows[0])
    if text is None:
        return None
    call, imports = filled_in(model, name, taken, function.span.start)
    start, end = source.line_starts[rows[0] - 1], _end_of(source, rows[1])
    left = "" if keeps_name else f"{indent_at(source, function.span.start)}{node.name} = {call}{source.newline}"
    if keeps_name:
        end += len(re.match(r"(?:[ \t]*(?:\r\n|\n|\r))*", source.text[end:])[0])  # type: ignore[index]
    edits = (
        *insertion(source, tree, function.span.start, text, bool(imports)),
        Edit(source.path, Span(start, end), left),
    )
    title = f"Move `{node.name}` to module level" + ("" if keeps_name else f" as `{name}`")
    return Fix(title, edits, Applicability.UNSAFE, imports, defines=(name,))


def _rows(source: Source, seen: Outline, node: Definition) -> tuple[int, int]:
    """First and last row of a function, with the comments right above it and those at its end."""
    parent, field = seen.parents[node]
    before = getattr(parent, field)
    index = before.index(node)
    floor = before[index - 1].end_lineno if index else getattr(parent, "lineno", 0)
    indent = source.line(node.lineno)[: node.col_offset]
    first, last = node.lineno, node.end_lineno or node.lineno
    while first - 1 > floor and re.match(rf"{indent}#", source.line(first - 1)):
        first -= 1
    for row in range(last + 1, len(source.line_starts) + 1):
        if re.match(rf"{indent}[ \t]+#", source.line(row)):
            last = row
        elif source.line(row).strip():
            break
    return first, last


def _end_of(source: Source, row: int) -> int:
    return source.line_starts[row] if row < len(source.line_starts) else len(source.text)


def _dedented(source: Source, rows: tuple[int, int], indent: str) -> str:
    """The lines of a function without its indentation; "" where that cannot be done."""
    lines = source.text[source.line_starts[rows[0] - 1] : _end_of(source, rows[1])]
    try:
        return reindent(lines if lines.endswith(("\n", "\r")) else lines + source.newline, indent, "")
    except ValueError:
        return ""


def _parts_known(source: Source, tree: Tree, seen: Outline, node: Definition) -> bool:
    """Whether its annotations can be evaluated at module level, where the function goes."""
    future = "annotations" in {
        alias.name
        for item in seen.tree.body
        if isinstance(item, ast.ImportFrom) and item.module == "__future__"
        for alias in item.names
    }
    if future:
        return True
    at = insertion_point(source, tree, seen.offsets.span(node)[0])
    known = set(dir(builtins))
    for statement in seen.tree.body:
        if seen.offsets.span(statement)[1] <= at:
            known |= _defined(statement)
    given = [part.annotation for part in ast.walk(node.args) if isinstance(part, ast.arg) and part.annotation]
    parts = [part for root in [*given, *([node.returns] if node.returns else [])] for part in ast.walk(root)]
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names <= known and all(binder(seen, node, name) is None for name in names)


def _defined(statement: ast.stmt) -> set[str]:
    return set(bindings(ast.Module([statement], [])))


def _has_attributes(parent: ast.AST, name: str) -> bool:
    """Whether attributes are set on the function, which every call of the parent makes anew."""
    stores = (
        node for node in ast.walk(parent) if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    )
    return any(isinstance(node.value, ast.Name) and node.value.id == name for node in stores)


def _name_is_free(model: ModuleModel, parent: ast.AST, node: Definition, function: Function) -> bool:
    """Whether the function can have its own name at module level, and its definition just go."""
    name = node.name
    others = (other for other in model.functions if other.index != function.parent)
    if name in dir(builtins) or name in model.bound or times_bound(model, name):
        return False
    if any(name in other.bound for other in others) or any(item.bound in ("*", name) for item in model.imports):
        return False
    local = bindings(parent).get(name, [])
    return local == [node] and node in getattr(parent, "body", ()) and len(getattr(parent, "body", ())) > 1


def _uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _moved(source: Source, node: Definition, code: str, name: str, taken: Captures, first: int) -> str | None:
    """The function's text under its new name, with the captured variables and imports."""
    if not taken.imports:
        return _renamed(code, name, node, taken)
    docstring = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
    at = node.body[1] if docstring and len(node.body) > 1 else node.body[0]
    if at.lineno == node.lineno:
        return None
    row = min([at.lineno, *(item.lineno for item in getattr(at, "decorator_list", ()))]) - first
    start = Offsets(code).starts[row]
    margin = re.match(r"[ \t]*", code[start:])[0]  # type: ignore[index]
    lines = "".join(f"{margin}{statement}{source.newline}" for statement in taken.imports)
    return _renamed(code[:start] + lines + code[start:], name, node, taken)


def _renamed(code: str, name: str, node: Definition, taken: Captures) -> str | None:
    starts = Offsets(code).starts
    tokens = list(tokenize.generate_tokens(io.StringIO(code, newline="").readline))
    index = next(index for index, token in enumerate(tokens) if token.string == "def") + 1
    old, bracket = tokens[index], tokens[index + 1]
    if bracket.string != "(":  # type parameters
        return None
    begin, end = (starts[row - 1] + column for row, column in (old.start, old.end))
    inside = starts[bracket.end[0] - 1] + bracket.end[1]
    has_own = any(isinstance(part, ast.arg) for part in ast.walk(node.args))
    front = with_captured(node.args, taken.variables, "§" if has_own else "").removesuffix("§")
    front = front.rstrip() if code[inside : inside + 1] in "\r\n" else front
    return code[:begin] + name + code[end:inside] + (front if taken.variables else "") + code[inside:]
