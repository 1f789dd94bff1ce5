"""Fixes that move a function which pickle cannot find to module level, where it can."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from dllint.fix import Applicability, Edit, Fix, Import
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source, Span
from dllint.syntax.captures import Captures, captures
from dllint.syntax.definition import definition, insertion, returned, split_lambda, with_captured
from dllint.syntax.equal import defined_above, makes_arms_equal, times_bound
from dllint.syntax.fitted import fitted, without_silence
from dllint.syntax.layout import BLANK, blank_above, indent_at
from dllint.syntax.module_names import ModuleNames
from dllint.syntax.names import free_name, reference
from dllint.syntax.nested import has_attributes, name_is_free
from dllint.syntax.outline import Outline, outline
from dllint.syntax.own_text import constant_defaults, is_constant
from dllint.syntax.parse import Tree
from dllint.syntax.partials import Callee, Filled, narrowed, passed_along, reads_parts, spoken, without_defaults
from dllint.syntax.refused import Refused, unfaithful
from dllint.syntax.removal import imports_left_behind, lines_of, stands_alone
from dllint.syntax.suggest import suggest_name
from dllint.syntax.twins import twins
from dllint.syntax.width import LEAST, width

_NOTHING_MORE = re.compile(r"[ \t\f]*(#[^\r\n]*)?(?=[\r\n]|\Z)")
"""The rest of a line, which is blank or a comment."""
_BEHIND = re.compile(
    r"\)*,?([ \t]*#(?!\s*(?:noqa|type:|pylint|pyright|mypy|pragma|nosec|fmt:|dllint))[^\r\n]*)", re.IGNORECASE
)
"""A comment, but not one for a tool, behind an item that ends its line."""
_KEPT_APART = re.compile(r"#|\\|\"\"\"|'''|,\s*[)\]}]")
"""Comments, strings over several lines, and commas that keep lines apart."""
_GROUPING = (ast.BoolOp, ast.IfExp, ast.Dict, ast.List, ast.Assign, ast.keyword)
"""What a lambda is in, where parentheses right around it are none of a call."""
_STATEFUL = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def hoist_lambda(
    source: Source,
    tree: Tree,
    model: ModuleModel,
    function: Function,
    name: str = "",
    callee: Callee | None = None,
    own: Collection[str] = (),
    moved: Collection[str] = (),
    settled: Collection[str] = (),
) -> Fix:
    """Replace a lambda by a function at module level. Raises Refused where that would not mean the same.

    Captured variables become leading parameters that `functools.partial` fills in. `name` is the wanted name; without
    one the context suggests it. `callee` is what the lambda calls, where a `functools.partial` of that will do; what is
    in `own` moves along under its name, what is in `moved` stays a variable; what is in `settled` are attributes of
    the object around that stay what they are.
    """
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or not isinstance(node, ast.Lambda):
        raise Refused("this file is written for another Python")
    if not tree.faithful:
        raise Refused(unfaithful(source))
    code = source.text[function.span.start : function.span.end]
    taken = captures(seen, ModuleNames(seen, model), node, f"({code}\n)", own, moved, settled)
    if any(isinstance(part, _STATEFUL) for part in ast.walk(node)):
        raise Refused("it assigns, yields or awaits")
    plain = not taken.imports and "#" not in code and not reads_parts(seen, node, taken.variables)
    along = passed_along(seen, node, callee) if callee is not None and plain else None
    if along is not None and callee is not None and not _is_method(seen, node):
        calling = (twin for twin in twins(seen, node) if passed_along(seen, twin, callee) == along)
        return _partial_of(source, seen, model, [node, *calling], [callee.dotted, *along])
    made = _function_for(seen, node, code, taken)
    if made.filled and _is_method(seen, node):
        raise Refused("its class makes a method of it")
    body = [*taken.imports, _stated(source, seen, node, function.span, made.body)]
    target = _sole_name(seen, model, node)
    if target and not made.filled:
        return _define_in_place(source, seen, seen.statement(node), definition(source, target, made.own, body))
    if not made.filled and not function.parent < 0:
        fix = _without_variable(source, seen, tree, model, node, function, made.own, body)
        if fix is not None:
            return fix
    parameters = with_captured(node.args, [item.parameter for item in made.filled], made.own)
    same = defined_above(source, seen, model, function.span.start, parameters, body)
    name = same or free_name(model, *([name] if name else suggest_name(seen, node)))
    call, imports = filled_in(model, name, [item.value for item in made.filled], function.span.start)
    if same and makes_arms_equal(seen, node, call):
        raise Refused(f"the condition around it chooses between it and `{same}`, which does the same")
    alike = [
        twin
        for twin in twins(seen, node, anywhere=not made.filled)
        if _is_made_alike(seen, model, twin, code, made, own, moved, settled) and not makes_arms_equal(seen, twin, call)
    ]
    edits = _replaced(source, seen, [node, *alike], call)
    if not same:
        behind = next((found for item in [node, *alike] if (found := _comment_behind(source, seen, item))), None)
        if behind is not None:
            body[-1] += source.text[behind.start : behind.end]
            edits.append(Edit(source.path, behind, ""))
        text = definition(source, name, parameters, body)
        edits = [*insertion(source, tree, function.span.start, text, bool(imports)), *edits]
    edits += imports_left_behind(source, seen, node)
    trust = Applicability.UNSAFE if made.filled else Applicability.SAFE
    title = f"Use the function `{name}`" if same else f"Move the lambda to the function `{name}`"
    return Fix(title, tuple(edits), trust, imports, defines=() if same else (name,))


def _without_variable(
    source: Source,
    seen: Outline,
    tree: Tree,
    model: ModuleModel,
    node: ast.Lambda,
    function: Function,
    parameters: str,
    body: Sequence[str],
) -> Fix | None:
    """A function under the name of the local variable that a lambda was assigned to, and no such variable any more."""
    statement, field = seen.parents[node]
    parent = next((above for above, _ in seen.path(node) if isinstance(above, (ast.FunctionDef, ast.ClassDef))), None)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if field == "value" and isinstance(parent, ast.FunctionDef):
            free = name_is_free(model, parent, statement, name, function.parent)
            if not free or not stands_alone(source, seen, statement) or has_attributes(parent, name):
                return None
            text = definition(source, name, parameters, body)
            gone = Edit(source.path, lines_of(source, statement, parent.body[0] is statement), "")
            edits = (*insertion(source, tree, function.span.start, text, imports=False), gone)
            edits += imports_left_behind(source, seen, node)
            return Fix(f"Define `{name}` at module level", edits, Applicability.UNSAFE, defines=(name,))
    return None


def _stated(source: Source, seen: Outline, node: ast.Lambda, span: Span, body: str) -> str:
    """The statement that stands for a lambda's body, which is the last thing in its span.

    Nobody asks what `worker_init_fn` returns.
    """
    above, _ = seen.parents[node]
    ignored = isinstance(above, ast.keyword) and above.arg == "worker_init_fn" and isinstance(node.body, ast.Call)
    text = _returned(source, span, _on_one_line(source, body))
    return text.removeprefix("return ") if ignored and source.newline not in text else text


def _on_one_line(source: Source, body: str) -> str:
    """An expression of two lines on one where that is short now: the lambda was in the middle of a line."""
    first, *others = body.split(source.newline)
    rest = "".join(others).strip()
    attached = first.rstrip()[-1:] in tuple("([{.") or rest.startswith((".", ")", "]", "}"))
    together = f"{first.rstrip()}{'' if attached else ' '}{rest}"
    short = len(f"{source.unit}return {together}") <= min(LEAST, width(source))
    return together if len(others) == 1 and short and not _KEPT_APART.search(body) else body


def _comment_behind(source: Source, seen: Outline, node: ast.Lambda) -> Span | None:
    """The comment behind an entry of a table, with the space before it, which explains the literal in the lambda.

    None without a literal, and where both do not fit a line.
    """
    start, end = seen.offsets.span(node)
    found = _BEHIND.match(source.text, end)
    literals = (part for part in ast.walk(node.body) if isinstance(part, ast.Constant) and part.value is not None)
    in_table = isinstance(seen.parents[node][0], ast.Dict) and source.newline not in source.text[start:end]
    if not (found and in_table and any(literals)):
        return None
    below = f"{source.unit}return {source.text[start:end].partition(':')[2].strip()}{found[1]}"
    return Span(*found.span(1)) if len(below) <= width(source) else None


def _returned(source: Source, span: Span, body: str) -> str:
    at = source.text.rfind(body, span.start, span.end)
    column = source.location(at)[1] - 1 if at >= 0 else -1
    return returned(body, indent_at(source, span.start), source.unit, column)


def _is_made_alike(
    seen: Outline,
    model: ModuleModel,
    twin: ast.Lambda,
    code: str,
    made: _Made,
    own: Collection[str],
    moved: Collection[str],
    settled: Collection[str],
) -> bool:
    """Whether the function for a lambda will do for one that is written alike."""
    try:
        taken = captures(seen, ModuleNames(seen, model), twin, f"({code}\n)", own, moved, settled)
        return not taken.imports and _function_for(seen, twin, code, taken) == made and not _is_method(seen, twin)
    except Refused:
        return False


class _Made(NamedTuple):
    """A function that does what a lambda does: its own parameters and its body as text, and what is filled in."""

    own: str
    body: str
    filled: tuple[Filled, ...]


def _function_for(seen: Outline, node: ast.Lambda, code: str, taken: Captures) -> _Made:
    less = narrowed(seen, node, code, taken.variables)
    parts = split_lambda(less.code)
    if parts is None:
        raise Refused("a comment among its parameters would be lost")
    if constant_defaults(node.args):
        return _Made(*parts, less.filled)
    fixed = [value for value in [*node.args.defaults, *node.args.kw_defaults] if value and is_constant(value)]
    found = without_defaults(seen, node, fixed)
    names = {item.parameter for item in less.filled} & {item.parameter for item in found[1]} if found else set()
    if found is None or names:
        raise Refused("the defaults of its parameters are created each time")
    body, filled = spoken(parts[1], found[1], {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)})
    return _Made(found[0], body, (*less.filled, *filled))


def _partial_of(
    source: Source, seen: Outline, model: ModuleModel, nodes: Sequence[ast.Lambda], given: Sequence[str]
) -> Fix:
    """A `functools.partial` in place of lambdas, or the function itself where there is nothing to fill in."""
    start = seen.offsets.span(nodes[0])[0]
    partial, imports = reference(model, "functools", "partial", start) if len(given) > 1 else ("", ())
    call = f"{partial}({', '.join(given)})" if partial else given[0]
    edits = _replaced(source, seen, nodes, call)
    return Fix(f"Use `{call}` instead of the lambda", tuple(edits), Applicability.UNSAFE, imports)


def _replaced(source: Source, seen: Outline, nodes: Sequence[ast.Lambda], call: str) -> list[Edit]:
    """The edits that put a call in place of lambdas; older Pythons want one in an f-string to be on one line."""
    spans = [_in_parentheses(source, seen, node) for node in nodes]
    inside = any(isinstance(above, ast.JoinedStr) for node in nodes for above, _ in seen.path(node))
    edits = sorted({edit for span in spans for edit in fitted(source, span, call)})
    apart = all(one.span.end <= other.span.start for one, other in pairwise(edits))
    return edits if apart and not inside else [Edit(source.path, span, call) for span in spans]


def _in_parentheses(source: Source, seen: Outline, node: ast.Lambda) -> Span:
    """A lambda with the parentheses that only it needs: `transform or (lambda image: image)`."""
    span = Span(*seen.offsets.span(node))
    before, after = source.text[: span.start].rstrip(" "), source.text[span.end :].lstrip(" ")
    if isinstance(seen.parents[node][0], _GROUPING) and before.endswith("(") and after.startswith(")"):
        return Span(len(before) - 1, len(source.text) - len(after) + 1)
    return span


def filled_in(model: ModuleModel, name: str, values: Sequence[str], use: int) -> tuple[str, tuple[Import, ...]]:
    """How to write a moved function at the place it came from."""
    if not values:
        return name, ()
    partial, imports = reference(model, "functools", "partial", use)
    return f"{partial}({', '.join([name, *values])})", imports


def _is_method(seen: Outline, node: ast.Lambda) -> bool:
    """Whether a class may turn the lambda into a method, as it would not a `functools.partial`."""
    return isinstance(seen.parents[seen.statement(node)][0], ast.ClassDef)


def _sole_name(seen: Outline, model: ModuleModel, node: ast.Lambda) -> str:
    """The module's name for the lambda in `name = lambda ...` on lines of its own, where nothing else binds it."""
    statement, field = seen.parents[node]
    if not isinstance(statement, ast.Assign) or field != "value" or seen.parents[statement][0] is not seen.tree:
        return ""
    start, end = seen.offsets.span(statement)
    alone = start == seen.offsets.starts[statement.lineno - 1] and _NOTHING_MORE.match(seen.offsets.text, end)
    match statement.targets:
        case [ast.Name(id=name)] if alone and times_bound(model, name) == 1:
            return name
    return ""


def _define_in_place(source: Source, seen: Outline, statement: ast.stmt, text: str) -> Fix:
    """`name = lambda ...` as a `def`; a comment after it stays after it."""
    start, end = seen.offsets.span(statement)
    first, last = source.location(start)[0], source.location(end)[0]
    attached = first > 1 and source.line(first - 1).startswith("#")
    edits = [
        Edit(
            source.path,
            Span(start, end),
            source.newline * (0 if attached else blank_above(source, first)) + text.rstrip(),
        ),
        *without_silence(source, end),
    ]
    below = next((row for row in range(last + 1, len(source.line_starts) + 1) if source.line(row).strip()), 0)
    if below and below - last <= BLANK and not re.match(r"\w+\s*=\s*lambda\b", source.line(below)):
        at = source.line_starts[last]
        edits.append(Edit(source.path, Span(at, at), source.newline * (BLANK - (below - last - 1))))
    return Fix("Define the lambda as a function", tuple(edits), Applicability.SAFE)
