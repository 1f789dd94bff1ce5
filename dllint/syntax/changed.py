"""Where code changes an entry that it takes out of a container, and not a copy, or chooses a part of it."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dllint.source import Source, Span
from dllint.syntax.mapping_uses import of_view
from dllint.syntax.outline import Outline, outline
from dllint.syntax.scoping import binder, bindings

_CHANGING = {
    *("append", "extend", "insert", "remove", "clear", "sort", "reverse", "update", "add", "discard"),
}
"""Methods that change lists, dictionaries and sets; as statements, since others have some that return a copy."""
_TAKING = {"pop", "popitem", "setdefault"}
"""Methods that do both, change and return something."""


def changed_entry(source: Source, container: Span) -> Span | None:
    """Where an entry of the container that an expression reads is changed: itself, or a variable for it.

    The expression is an attribute or a name; what a loop over it is given counts as an entry.
    """
    seen = outline(source.text)
    node = seen.expression_at(container) if seen is not None else None
    if seen is None or node is None:
        return None
    changed = _of_entry(seen, node, is_changed)
    if changed is None and entry_of(seen, node) is None:
        variables = _loop_variables(seen, of_view(seen, node))
        changed = next(filter(None, (_of_variable(seen, name, is_changed) for name in variables)), None)
    return Span(*seen.offsets.span(changed)) if changed is not None else None


def chosen_part(source: Source, container: Span) -> Span | None:
    """Where code takes an entry out of a container, and of it one part, by an index or key that may vary: its span.

    Or where it draws parts by chance, or only asks for the length: the span of this call. A loop that reads many parts
    of one entry, which a variable has, takes the entry out once.
    """
    seen = outline(source.text)
    node = seen.expression_at(container) if seen is not None else None
    entry = _of_entry(seen, node, _is_chosen_from) if seen is not None and node is not None else None
    if seen is None or entry is None:
        return None
    drawing = _drawing(seen, entry)
    if drawing is not None:
        return Span(*seen.offsets.span(drawing))
    part = seen.parents[entry][0]
    asked = seen.parents[part][0] if isinstance(part, ast.Attribute) else part
    return Span(seen.offsets.span(entry)[1], seen.offsets.span(asked)[1]) if isinstance(asked, ast.expr) else None


def takes_apart(source: Source, container: Span) -> bool:
    """Whether code only asks a container for its length, or for entries of which it takes the parts at once.

    `a, b = rows[index]`, `rows[index][0]` and a loop over `a, b` do the latter: what the entries are does not matter.
    """
    return _asks_length(source, container) or entry_taken_apart(source, container) is not None


def entry_taken_apart(source: Source, container: Span) -> Span | None:
    """The entry of a container whose parts code takes at once; what a loop goes through that does so with each."""
    seen = outline(source.text)
    node = seen.expression_at(container) if seen is not None else None
    if seen is None or node is None:
        return None
    above, field = seen.parents[node]
    match above:
        case ast.For(target=ast.Tuple()) | ast.comprehension(target=ast.Tuple()) if field == "iter":
            return container
        case ast.Subscript(ctx=ast.Load(), slice=index) if field == "value" and not isinstance(index, ast.Slice):
            return Span(*seen.offsets.span(above)) if _is_taken_apart(*seen.parents[above]) else None
    return None


def _asks_length(source: Source, container: Span) -> bool:
    """Whether code asks a container for its length."""
    seen = outline(source.text)
    node = seen.expression_at(container) if seen is not None else None
    above, field = seen.parents[node] if seen is not None and node is not None else (None, "")
    match above:
        case ast.Call(func=ast.Name(id="len"), args=[_]):
            return field == "args"
    return False


def _is_taken_apart(above: ast.AST, field: str) -> bool:
    match above:
        case ast.Assign(targets=[ast.Tuple(elts=parts)]):
            return field == "value" and not any(isinstance(part, ast.Starred) for part in parts)
        case ast.Subscript(ctx=ast.Load(), slice=ast.Constant() | ast.UnaryOp(operand=ast.Constant())):
            return field == "value"
    return False


_Test = Callable[[Outline, ast.expr, ast.Name | None], bool]
"""Of an entry, or of a variable for it, with where that is bound."""


def _of_entry(seen: Outline, node: ast.expr, test: _Test) -> ast.expr | None:
    """The entry that an expression takes out of a container, or the first use of a variable for it, with a property."""
    entry = entry_of(seen, node)
    if entry is None or test(seen, entry, None):
        return entry
    chosen: ast.AST = entry
    while isinstance(seen.parents[chosen][0], ast.BoolOp | ast.IfExp):
        chosen = seen.parents[chosen][0]  # `rows.get(name) or []`
    return next(filter(None, (_of_variable(seen, name, test) for name in _bound_to(seen, chosen))), None)


def _bound_to(seen: Outline, value: ast.AST) -> list[ast.Name]:
    """The variables that are bound to a value: by `row = rows[0]`, also with a type, and `first, row = 1, rows[0]`."""
    above, field = seen.parents[value]
    found: list[ast.expr] = []
    match above:
        case ast.Assign(targets=targets):
            found = targets if field == "value" else []
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            found = [target] if field == "value" else []
        case ast.Tuple(elts=elements):
            match seen.parents[above][0]:
                case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(elements):
                    found = [target for target, one in zip(targets, elements, strict=True) if one is value]
    return [target for target in found if isinstance(target, ast.Name)]


def entry_of(seen: Outline, node: ast.expr) -> ast.expr | None:
    """What takes one entry out of a container: an index, or `get`."""
    above, field = seen.parents[node]
    if isinstance(above, ast.Subscript) and field == "value" and isinstance(above.ctx, ast.Load):
        return above
    call, role = seen.parents[above]
    asked = isinstance(above, ast.Attribute) and field == "value" and above.attr == "get"
    return call if asked and isinstance(call, ast.Call) and role == "func" else None


def _loop_variables(seen: Outline, node: ast.expr) -> list[ast.Name]:
    """The variables of the loop that goes over a container, itself or what a function makes of it."""
    above, field = seen.parents[node]
    while isinstance(above, ast.Call) and field == "args":
        above, field = seen.parents[above]
    if field != "iter" or not isinstance(above, ast.For | ast.AsyncFor | ast.comprehension):
        return []
    return [part for part in ast.walk(above.target) if isinstance(part, ast.Name)]


def _of_variable(seen: Outline, target: ast.Name, test: _Test) -> ast.Name | None:
    """The first use of a variable while it has what was bound to it here, as far as the order of lines tells."""
    scope = binder(seen, target, target.id)
    if scope is None:
        return None
    names = (node for node in bindings(scope).get(target.id, ()) if isinstance(node, ast.Name))
    bound = sorted(map(seen.offsets.span, names))
    own = seen.offsets.span(target)
    uses = (part for part in ast.walk(scope) if isinstance(part, ast.Name) and part.id == target.id)
    found = sorted((part for part in uses if test(seen, part, target)), key=seen.offsets.span)
    last = (max((span for span in bound if span < seen.offsets.span(use)), default=own) for use in found)
    return next((use for use, binding in zip(found, last, strict=True) if binding == own), None)


def is_changed(seen: Outline, node: ast.expr, bound: ast.Name | None = None) -> bool:
    """Whether an entry is changed, or a part of it: `row["boxes"].sort()`, `for box in row["boxes"]: box.pop()`."""
    if _changes(seen, node, bound):
        return True
    above, field = seen.parents[node]
    while isinstance(above, ast.Subscript) and field == "value" and not isinstance(above.slice, ast.Slice):
        if _changes(seen, above, None) or any(_of_variable(seen, name, _changes) for name in _names(seen, above)):
            return True
        above, field = seen.parents[above]
    return False


def _names(seen: Outline, part: ast.expr) -> list[ast.Name]:
    """The variables that get a part of an entry, or in turn what is in it."""
    match seen.parents[part][0]:
        case ast.Assign(targets=[ast.Name() as name], value=value) if value is part:
            return [name]
    return _loop_variables(seen, part)


def _changes(seen: Outline, node: ast.expr, _: ast.Name | None) -> bool:
    above, field = seen.parents[node]
    match above:
        case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
            return field == "value"
        case ast.Attribute(attr=method) if method in _CHANGING | _TAKING:
            call, role = seen.parents[above]
            return role == "func" and (method in _TAKING or isinstance(seen.parents[call][0], ast.Expr))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="random"), attr="shuffle")):
            return field == "args"
    return False


def _is_chosen_from(seen: Outline, node: ast.expr, bound: ast.Name | None) -> bool:
    above, field = seen.parents[node]
    match above:
        case ast.Subscript(ctx=ast.Load(), slice=index) if field == "value":
            chosen = index
        case ast.Attribute(attr="get"):
            call = seen.parents[above][0]
            if not isinstance(call, ast.Call) or call.func is not above or not call.args:
                return False
            chosen = call.args[0]
        case _:
            return _drawing(seen, node, bound) is not None and _as_often(seen, node, bound)
    return not _is_fixed(chosen) and _as_often(seen, node, bound)


def _drawing(seen: Outline, node: ast.expr, bound: ast.Name | None = None) -> ast.Call | None:
    """The call that draws parts of an entry by chance, or of a copy: `random.choice(row)`; or that asks its length.

    Code that asks the length of a variable has the entry for something else.
    """
    above, field = seen.parents[node]
    call = seen.parents[above][0] if isinstance(above, ast.Attribute) and above.attr == "copy" else above
    if not isinstance(call, ast.Call) or (call is above and (field != "args" or call.args[0] is not node)):
        return None
    match call.func:
        case ast.Attribute(attr="copy") | ast.Name(id="list"):
            return _drawing(seen, call, bound)
        case ast.Attribute(attr="choice" | "choices") | ast.Attribute(value=ast.Name(id="random"), attr="sample"):
            return call
        case ast.Name(id="len"):
            return call if bound is None else None
    return None


def _as_often(seen: Outline, node: ast.expr, bound: ast.Name | None) -> bool:
    """Whether an entry, or a variable for it, is used once for each time that it is taken out."""
    return bound is None or _loops(seen, bound).issuperset(_loops(seen, node))


def _is_fixed(index: ast.expr) -> bool:
    """Whether an index is written out, or is a slice, which gives more than a part."""
    match index:
        case ast.Constant() | ast.Slice():
            return True
        case ast.UnaryOp(operand=operand):
            return _is_fixed(operand)
        case ast.IfExp(body=body, orelse=other):
            return _is_fixed(body) and _is_fixed(other)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
    return False


def _loops(seen: Outline, node: ast.expr) -> set[ast.AST]:
    """The loops around an expression."""
    kinds = ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    return {above for above, _ in seen.path(node) if isinstance(above, kinds)}
