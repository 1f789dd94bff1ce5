"""What code asks the entries of a container for, and what it sets in one anew whenever it takes it out."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import NamedTuple

from dllint.source import Source, Span
from dllint.syntax.changed import entry_of, is_changed
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings, parameters

_FIXED = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Compare, ast.BoolOp, ast.UnaryOp)
_FIXED_PARTS = (ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop)
_ASKING = {"get", "pop", "setdefault"}


class EntryKeys(NamedTuple):
    """The keys that code asks an entry for, and those that it sets before it asks for them, whatever they had.

    `guards`: the attributes of its object on which it depends whether it sets them.
    """

    asked: frozenset[str]
    anew: frozenset[str] = frozenset()
    guards: frozenset[str] = frozenset()


def entry_keys(source: Source, container: Span) -> EntryKeys | None:
    """The keys of the entry that code takes out of the container at a span; None if it does anything else with it.

    Nothing else gets the entry, so nothing but this code sees what it sets.
    """
    seen = outline(source.text)
    node = seen.expression_at(container) if seen is not None else None
    if seen is not None and node is not None and _is_counted(seen, node):
        return EntryKeys(frozenset())
    entry = entry_of(seen, node) if seen is not None and node is not None else None
    if seen is None or entry is None or (isinstance(entry, ast.Subscript) and isinstance(entry.slice, ast.Slice)):
        return None
    uses = _uses(seen, entry)
    parts = [_part(seen, use) for use in uses]
    asked = {part: key for part, key in filter(None, parts) if isinstance(part.ctx, ast.Load)}
    stored = {part: key for part, key in filter(None, parts) if isinstance(part.ctx, ast.Store)}
    if None in parts or any(is_changed(seen, part.value) for part in asked):
        return None
    guards = _guards(seen, entry, asked, stored) if stored else frozenset()
    return None if guards is None else EntryKeys(frozenset(asked.values()), frozenset(stored.values()), guards)


def asks_for(source: Source, keys: Collection[str], within: Span, container: Span | None) -> bool:
    """Whether code between two offsets, which may have the entries from elsewhere, asks anything for one of some keys.

    It does not count what `__init__` asks for, and the function that the container's span is in.
    """
    seen = outline(source.text)
    if seen is None:
        return True
    for part in ast.walk(seen.tree):
        if isinstance(part, ast.Subscript | ast.Call) and _key(part) in keys:
            start = seen.offsets.span(part)[0]
            around = [above for above, _ in seen.path(part) if isinstance(above, ast.FunctionDef)]
            own = any(above.name == "__init__" or (container and _is_in(seen, container, above)) for above in around)
            if within.start <= start < within.end and not own:
                return True
    return False


def only_decides(source: Source, span: Span) -> bool:
    """Whether the attribute at a span is asked for its truth alone: `if self.mixed and not self.sorted`."""
    seen = outline(source.text)
    node: ast.AST | None = seen.expression_at(span) if seen is not None else None
    field = ""
    while seen is not None and node is not None:
        node, field = seen.parents[node]
        if not isinstance(node, ast.BoolOp | ast.UnaryOp):
            break
    return field == "test"


def _is_counted(seen: Outline, node: ast.expr) -> bool:
    match seen.parents[node]:
        case (ast.Call(func=ast.Name(id="len")), "args"):
            return True
    return False


def _is_in(seen: Outline, inner: Span, function: ast.FunctionDef) -> bool:
    start, end = seen.offsets.span(function)
    return start <= inner.start and inner.end <= end


def _key(part: ast.Subscript | ast.Call) -> object:
    """The key that an expression asks something for, if it is written out."""
    match part:
        case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Load()):
            return key
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=key), *_]) if method in _ASKING:
            return key
    return None


def _uses(seen: Outline, entry: ast.expr) -> list[ast.expr]:
    """The entry, or the uses of a variable that is bound to it and to nothing else."""
    match seen.parents[entry]:
        case (ast.Assign(targets=[ast.Name(id=name) as target]), "value"):
            scope = binder(seen, target, name)
            if scope is not None and len(bindings(scope)[name]) == 1 and name not in parameters(scope):
                names = (part for part in ast.walk(scope) if isinstance(part, ast.Name) and part.id == name)
                return [part for part in names if part is not target]
    return [entry]


def _part(seen: Outline, use: ast.expr) -> tuple[ast.Subscript, str] | None:
    """The part of an entry under a key that is written out, if this is all that a use asks for, or sets."""
    match seen.parents[use]:
        case (ast.Subscript(slice=ast.Constant(value=str(key)), ctx=ast.Load() | ast.Store()) as part, "value"):
            return part, key
    return None


def _guards(
    seen: Outline, entry: ast.expr, asked: dict[ast.Subscript, str], stored: dict[ast.Subscript, str]
) -> frozenset[str] | None:
    """The attributes on which it depends whether some parts are stored; None if something may ask for them before.

    Where these attributes stay what they are, a part is stored at each visit or at none.
    """
    bound = seen.parents[entry][0]
    scope = next((above for above, _ in seen.path(entry) if isinstance(above, ast.FunctionDef)), None)
    if scope is None or not isinstance(bound, ast.Assign) or _conditions(seen, bound, scope) is None:
        return None
    own = _receiver(seen, scope)
    found: set[str] = set()
    for part, key in stored.items():
        store = _assignment(seen, part)
        tests = _conditions(seen, store, scope) if store is not None else None
        if store is None or tests is None or not own:
            return None
        start, end = seen.offsets.span(store)
        earlier = (seen.offsets.span(other)[0] < end for other, name in asked.items() if name == key)
        if start < seen.offsets.span(bound)[1] or any(earlier):
            return None
        for test in tests:
            if not all(_is_fixed(seen, item, own) for item in ast.walk(test)):
                return None
            found.update(item.attr for item in ast.walk(test) if isinstance(item, ast.Attribute))
    return frozenset(found)


def _assignment(seen: Outline, part: ast.Subscript) -> ast.Assign | None:
    """The assignment that stores a part, alone or with others."""
    above, field = seen.parents[part]
    while isinstance(above, ast.Tuple | ast.List):
        above, field = seen.parents[above]
    return above if isinstance(above, ast.Assign) and field == "targets" else None


def _conditions(seen: Outline, statement: ast.stmt, scope: ast.AST) -> list[ast.expr] | None:
    """What decides in a function whether a statement runs; None where that is a loop, `try` or the like."""
    above = [node for node, _ in seen.path(statement)]
    branches = above[: above.index(scope)]
    tests = [node.test for node in branches if isinstance(node, ast.If)]
    return tests if len(tests) == len(branches) else None


def _receiver(seen: Outline, function: ast.FunctionDef) -> str:
    """The name of the object of a method that isn't asked for an item again while it runs; else ""."""
    own = function.args.args[0].arg if function.args.args else ""
    for part in ast.walk(function):
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return ""
        if isinstance(part, ast.Name) and part.id == own:
            asked = seen.parents[part][0]
            if not isinstance(asked, ast.Attribute) or asked.attr == function.name:
                return ""
    return own


def _is_fixed(seen: Outline, part: ast.AST, own: str) -> bool:
    """Whether a part of a condition is an attribute of the object, a constant, or compares these."""
    match part:
        case ast.Attribute(value=ast.Name(id=name)):
            return name == own
        case ast.Name():
            return isinstance(seen.parents[part][0], ast.Attribute)
    return isinstance(part, (*_FIXED, *_FIXED_PARTS))
