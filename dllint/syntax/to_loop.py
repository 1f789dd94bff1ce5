"""A tensor that code in workers puts on a device, put there by the loops over their loader instead."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import indent_at
from dllint.syntax.nested import end_of
from dllint.syntax.outline import Outline, outline
from dllint.syntax.refused import Refused
from dllint.syntax.removal import lines_of, stands_alone

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def moved_to_loops(source: Source, call: int, loader: int, loops: Sequence[tuple[int, str]]) -> tuple[Edit, ...]:
    """The edits that take `.cuda()` or `.to(...)` from a value that is returned, and write it at the top of loops.

    `call` and `loader` are the offsets of the two calls, `loops` those of the loops over what the latter makes, each
    with its name for the value. Raises Refused where this does not mean the same.
    """
    seen = outline(source.text)
    node = _call_at(seen, call, ("cuda", "to")) if seen else None
    made = _call_at(seen, loader) if seen else None
    statements = [_loop_at(seen, at) for at, _ in loops] if seen else []
    if seen is None or node is None or made is None or not isinstance(node.func, ast.Attribute):
        raise Refused("it is not a call of `.cuda()` or `.to(...)`")
    _check_only_looped(seen, made, [loop for loop in statements if loop is not None])
    start, end = seen.offsets.span(node.func.value)[1], seen.offsets.span(node)[1]
    moved = source.text[start:end]
    if "\n" in moved or "#" in moved:
        raise Refused("it spans several lines")
    edits = [_without(source, seen, node, Span(start, end))]
    for loop, (_, name) in zip(statements, loops, strict=True):
        if loop is None or loop.body[0].lineno <= (loop.iter.end_lineno or loop.lineno):
            raise Refused("the loop over the loader has no line of its own for it")
        if not _moves_itself(loop, name):
            at, first = end_of(source, loop.iter.end_lineno or loop.lineno), seen.offsets.span(loop.body[0])[0]
            line = f"{indent_at(source, first)}{name} = {name}{moved}{source.newline}"
            edits.append(Edit(source.path, Span(at, at), line))
    return tuple(edits)


def _call_at(seen: Outline, start: int, names: Sequence[str] = ()) -> ast.Call | None:
    """The call that begins at an offset, the outermost one; with names, that of such a method."""
    calls = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Call))
    named = (node for node in calls if not names or getattr(node.func, "attr", "") in names)
    found = [node for node in named if seen.offsets.span(node)[0] == start]
    return max(found, key=lambda node: seen.offsets.span(node)[1], default=None)


def _loop_at(seen: Outline, start: int) -> ast.For | None:
    loops = (node for node in ast.walk(seen.tree) if isinstance(node, ast.For))
    return next((node for node in loops if seen.offsets.span(node)[0] == start), None)


def _check_only_looped(seen: Outline, made: ast.Call, loops: Sequence[ast.For]) -> None:
    """Raise Refused unless all that is done with a loader is to loop over it, and to ask for its length and parts."""
    if any(_is_inside(seen, made, loop.iter) for loop in loops):
        return
    statement, field = seen.parents[made]
    target = statement.targets[0] if isinstance(statement, ast.Assign) and field == "value" else None
    if not isinstance(target, ast.Name):
        raise Refused("the loader may be used elsewhere, too")
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load):
            above = seen.parents[node][0]
            asked = isinstance(above, ast.Attribute) or (
                isinstance(above, ast.Call) and ast.unparse(above.func) == "len"
            )
            if not asked and not any(_is_inside(seen, node, loop.iter) for loop in loops):
                raise Refused(f"line {node.lineno} uses `{node.id}`, too")


def _is_inside(seen: Outline, node: ast.AST, around: ast.AST) -> bool:
    return node is around or any(above is around for above, _ in seen.path(node))


def _without(source: Source, seen: Outline, node: ast.Call, moved: Span) -> Edit:
    """The edit that leaves a value where it is; it must only be returned."""
    statement = seen.statement(node)
    body = getattr(next((above for above, _ in seen.path(node) if isinstance(above, _FUNCTIONS)), None), "body", None)
    if not isinstance(body, list) or not isinstance(body[-1], ast.Return) or statement not in body:
        raise Refused("it is not returned in every case")
    cut = Edit(source.path, moved, "")
    if statement is body[-1]:
        return cut
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is node else None
    if not isinstance(target, ast.Name):
        raise Refused("it is used before it is returned")
    later = [part for item in body[body.index(statement) + 1 :] for part in ast.walk(item)]
    uses = [part for part in later if isinstance(part, ast.Name) and part.id == target.id]
    if len(uses) != 1 or seen.statement(uses[0]) is not body[-1]:
        raise Refused(f"`{target.id}` is used before it is returned")
    assert isinstance(node.func, ast.Attribute)
    itself = isinstance(node.func.value, ast.Name) and node.func.value.id == target.id
    if not itself or not stands_alone(source, seen, statement):
        return cut
    return Edit(source.path, lines_of(source, statement, body[0] is statement), "")


def _moves_itself(loop: ast.For, name: str) -> bool:
    """Whether the first thing that a loop does with a value is to move it."""
    for statement in loop.body:
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement)):
            match statement:
                case ast.Assign(
                    targets=[ast.Name(id=target)],
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr="cuda" | "to")),
                ):
                    return target == base == name
            return False
    return False
