"""Code that does the same as other code: a function that is there already, a condition whose arms become equal."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from typing import cast

from dllint.model.facts import ModuleModel
from dllint.source import Source
from dllint.syntax.definition import definition
from dllint.syntax.latest import latest
from dllint.syntax.names import bound_by
from dllint.syntax.outline import Outline


def defined_above(
    source: Source, seen: Outline, model: ModuleModel, use: int, parameters: str, body: Sequence[str]
) -> str:
    """The module's function above an offset that does just what a new one would do, where there is one."""
    wanted = _without_names(ast.parse(definition(source, "_", parameters, body)).body[0])
    for item, does in _functions(seen):
        if does == wanted and seen.offsets.span(item)[1] < use and times_bound(model, item.name) == 1:
            return item.name
    return ""


@latest
def _functions(seen: Outline) -> list[tuple[ast.FunctionDef, str]]:
    """The undecorated functions of a module, with what each does."""
    found = (item for item in seen.tree.body if isinstance(item, ast.FunctionDef) and not item.decorator_list)
    return [(item, _without_names(item)) for item in found]


def _without_names(function: ast.stmt) -> str:
    """A key for what a function does, whatever it calls its positional parameters."""
    copy = cast(ast.FunctionDef, ast.parse(ast.unparse(function)).body[0])
    positional = [*copy.args.posonlyargs, *copy.args.args]
    numbers = {parameter.arg: f"{number}" for number, parameter in enumerate(positional)}
    docstring = isinstance(copy.body[0], ast.Expr) and isinstance(copy.body[0].value, ast.Constant)
    copy.body = copy.body[docstring and len(copy.body) > 1 :]
    for part in ast.walk(copy):
        if isinstance(part, ast.Name):
            part.id = numbers.get(part.id, part.id)
        elif isinstance(part, ast.arg):
            part.arg, part.annotation = numbers.get(part.arg, part.arg), None
    return ast.dump(copy.args) + "".join(map(ast.dump, copy.body))


def makes_arms_equal(seen: Outline, node: ast.AST, text: str) -> bool:
    """Whether a condition around a node would choose between two of the same with a text in place of the node."""
    start, end = seen.offsets.span(node)  # type: ignore[arg-type]
    for above, field in seen.path(node):
        if isinstance(above, (ast.If, ast.IfExp)) and field in ("body", "orelse"):
            other = getattr(above, "orelse" if field == "body" else "body")
            if _written(seen, getattr(above, field), start, end, text) == _written(seen, other, 0, 0, ""):
                return True
    return False


def _written(seen: Outline, arm: ast.expr | list[ast.stmt], start: int, end: int, text: str) -> str:
    """An arm without its layout, with a text in place of what stands between two offsets."""
    parts: list[str] = []
    for node in arm if isinstance(arm, list) else [arm]:
        first, last = seen.offsets.span(node)
        code = seen.offsets.text[first:last]
        inside = first <= start < last
        parts.append(code[: start - first] + text + code[end - first :] if inside else code)
    return re.sub(r"\s+", "", "\n".join(parts))


def times_bound(model: ModuleModel, name: str) -> int:
    """How often the module binds a name at its top level or through `global`."""
    return _bindings(model)[name]


@latest
def _bindings(model: ModuleModel) -> Counter[str]:
    written = Counter(name for event in model.events if event.kind != "expr" for name in bound_by(event.target))
    for event in model.events:
        written.update({*event.names, event.name} if event.kind in ("def", "class") else {*event.names})
    for function in model.functions:
        written.update(function.globals)
    return written
