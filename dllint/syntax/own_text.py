"""What changes in the text of a nested function that moves: defaults that are made each time, calls of itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from dllint.syntax.outline import Offsets, Outline
from dllint.syntax.partials import is_settled
from dllint.syntax.refused import Refused
from dllint.syntax.scoping import binder, bindings, defaults

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Kept(NamedTuple):
    """A function's text without the defaults that a `functools.partial` fills in, and these, as keyword arguments."""

    code: str
    given: tuple[str, ...] = ()
    values: tuple[ast.expr, ...] = ()


def without_kept(seen: Outline, node: Definition, code: str) -> Kept:
    """The text of a function without defaults that are not constants. Raises Refused where a partial has no place.

    `def f(x, size=size)` keeps the `size` of now, and so does `functools.partial(f, size=size)`.
    """
    kept = [(item, value) for item, value in defaults(node.args) if not is_constant(value)]
    if not kept:
        return Kept(code)
    if not all(is_settled(value, ()) for _, value in kept) or node.args.posonlyargs or node.args.vararg:
        raise Refused("the defaults of its parameters are created each time")
    names = {item.arg for item, _ in kept}
    count = len(node.args.args) - len(node.args.defaults)
    if names & {item.arg for item in node.args.args[:count]} or _has_gap(node.args, names):
        raise Refused("the defaults of its parameters are created each time")
    starts, alone = Offsets(code), _parsed(code)
    text = code
    for item, value in sorted(defaults(alone.args), key=lambda pair: -starts.span(pair[1])[0]):
        begin, end = starts.span(item)[1], starts.span(value)[1]
        if item.arg in names:
            if "\n" in code[begin:end]:
                raise Refused("the defaults of its parameters are created each time")
            text = text[:begin] + text[end:]
    given = tuple(f"{item.arg}={seen.offsets.text[slice(*seen.offsets.span(value))]}" for item, value in kept)
    ordered = sorted(zip(given, (value for _, value in kept), strict=True), key=lambda pair: seen.offsets.span(pair[1]))
    return Kept(text, tuple(one for one, _ in ordered), tuple(value for _, value in ordered))


def _has_gap(arguments: ast.arguments, names: set[str]) -> bool:
    """Whether a parameter with a default would come before one without."""
    count = len(arguments.args) - len(arguments.defaults)
    without = [item.arg in names for item in arguments.args[count:]]
    return without != sorted(without, reverse=True)


def hold_still(seen: Outline, scope: ast.AST, node: Definition, use: ast.expr, values: Sequence[ast.expr]) -> bool:
    """Whether values mean the same at a function's use as at its definition: nothing in between sets their names."""
    names = {part.id for value in values for part in ast.walk(value) if isinstance(part, ast.Name)}
    start, end = seen.offsets.span(node)[1], seen.offsets.span(use)[0]
    made = [seen.offsets.span(part)[0] for name in names for part in bindings(scope).get(name, ())]  # type: ignore[arg-type]
    plain = all(isinstance(part, (ast.Name, ast.Constant, ast.Load)) for value in values for part in ast.walk(value))
    return not any(start <= at < end for at in made) and (plain or not seen.offsets.text[start:end].strip("\n\r \t"))


def calling_itself(seen: Outline, node: Definition, kept: Kept, name: str, captured: Sequence[str]) -> str:
    """The text of a function that passes what it captures on to itself, under its new name.

    Raises Refused where it does more with itself than to call itself.
    """
    code, scope = kept.code, binder(seen, node, node.name)
    here = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == node.name]
    if here and kept.given:
        raise Refused("it calls itself, and needs what it captures for that")
    for part in here:
        above, field = seen.parents[part]
        same = all(binder(seen, part, variable) is binder(seen, node, variable) for variable in captured)
        if binder(seen, part, node.name) is not scope or not isinstance(above, ast.Call) or field != "func" or not same:
            raise Refused("it calls itself, and needs what it captures for that")
    starts = Offsets(code)
    calls = [part for part in ast.walk(_parsed(code)) if isinstance(part, ast.Call)]
    own = [part for part in calls if isinstance(part.func, ast.Name) and part.func.id == node.name]
    for call in sorted(own, key=lambda part: -starts.span(part)[0]):
        begin, end = starts.span(call.func)
        inside = code.index("(", end) + 1
        more = ", " if call.args or call.keywords else ""
        code = f"{code[:begin]}{name}{code[end:inside]}{', '.join(captured)}{more}{code[inside:]}"
    return code


def _parsed(code: str) -> Definition:
    node = ast.parse(code).body[0]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    return node


def constant_defaults(arguments: ast.arguments) -> bool:
    """Whether all defaults are constants, which mean the same at any place and time."""
    return all(is_constant(value) for _, value in defaults(arguments))


def is_constant(node: ast.expr) -> bool:
    """Whether an expression means the same at any place and time."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return is_constant(operand)
        case ast.Tuple(elts=elements):
            return all(map(is_constant, elements))
    return False
