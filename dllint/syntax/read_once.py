"""An item that a function reads several times, named before the first read: each read may have to make it again."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import indent_at
from dllint.syntax.outline import FunctionNode, Outline, outline

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMES = ("record", "entry", "sample")
_FIRST = {(ast.If, "test"), (ast.While, "test"), (ast.For, "iter")}
"""The parts of compound statements that run in any case."""


def read_once(source: Source, reads: Sequence[Span]) -> list[Edit]:
    """The edits that read each item once, of those that a function reads several times.

    `reads` are the places of `self.rows` in `self.rows[index]`; nothing may change what that is outside of `__init__`.
    The index is a name that the function binds above the first read and not again before the last one, or an item of
    an attribute by such a name. Where the function may not come to the first read, all stay as they are.
    """
    seen = outline(source.text)
    items: dict[tuple[ast.AST, str], list[ast.Subscript]] = defaultdict(list)
    if seen is None:
        return []
    for read in reads:
        node = seen.expression_at(read)
        item = seen.parents[node][0] if node is not None else None
        if isinstance(item, ast.Subscript) and item.value is node and isinstance(item.ctx, ast.Load):
            function = next((above for above, _ in seen.path(item) if isinstance(above, FunctionNode)), None)
            if isinstance(function, _FUNCTIONS):
                items[function, ast.unparse(item)].append(item)
    return [edit for (function, _), found in items.items() for edit in _named(source, seen, function, found)]


def _named(source: Source, seen: Outline, function: ast.AST, items: list[ast.Subscript]) -> list[Edit]:
    """The edits for the reads of one item."""
    index, block = items[0].slice, _block(seen, items)
    statement = next((one for one in block if any(_is_in(seen, item, one) for item in items)), None)
    if len(items) < 2 or statement is None or not _is_settled(seen, function, index, _from(seen, block, items)):
        return []
    if not any(_surely_runs(seen, item, statement) for item in items):
        return []
    own = source.text[slice(*seen.offsets.span(items[0]))]
    start = seen.offsets.span(statement)[0]
    line = source.row_span(source.location(start)[0]).start
    first = []
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value in items and _is_bound_once(function, name):
            items = [item for item in items if item is not value]
        case _:
            name = _name(seen, function, items[0])
            first = [Edit(source.path, Span(line, line), f"{indent_at(source, start)}{name} = {own}{source.newline}")]
    if source.text[line:start].strip() or not name or source.newline in own:
        return []
    return [*first, *(Edit(source.path, Span(*seen.offsets.span(item)), name) for item in items)]


def _block(seen: Outline, items: Sequence[ast.AST]) -> list[ast.stmt]:
    """The statements of the innermost block that all nodes are in."""
    blocks = [[_statements(above, field) for above, field in _steps(seen, item)] for item in items]
    return next((block for block in blocks[0] if block and all(block in other for other in blocks)), [])


def _from(seen: Outline, block: Sequence[ast.stmt], items: Sequence[ast.AST]) -> Sequence[ast.stmt]:
    """The statements of a block from the first one that has an item to the last one."""
    having = [number for number, one in enumerate(block) if any(_is_in(seen, item, one) for item in items)]
    return block[having[0] : having[-1] + 1]


def _steps(seen: Outline, node: ast.AST) -> list[tuple[ast.AST, str]]:
    """The way up from a node to its function."""
    steps: list[tuple[ast.AST, str]] = []
    for above, field in seen.path(node):
        steps.append((above, field))
        if isinstance(above, _FUNCTIONS):
            break
    return steps


def _statements(node: ast.AST, field: str) -> list[ast.stmt]:
    """The block that a field of a node is, else nothing."""
    value = getattr(node, field)
    return value if isinstance(value, list) and all(isinstance(item, ast.stmt) for item in value) else []


def _is_in(seen: Outline, node: ast.AST, statement: ast.stmt) -> bool:
    return any(above is statement for above, _ in seen.path(node))


def _surely_runs(seen: Outline, node: ast.AST, statement: ast.stmt) -> bool:
    """Whether a statement that runs comes to a node: it is in no part that only runs in some cases."""
    below = node
    for above, field in seen.path(node):
        match above:
            case ast.IfExp() if field != "test":
                return False
            case ast.BoolOp(values=[first, *_]) if below is not first:
                return False
            case ast.Compare(comparators=[first, *_]) if field == "comparators" and below is not first:
                return False
            case ast.Assert() if field != "test":
                return False
            case ast.comprehension() if field != "iter":
                return False
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                if below is not above.generators[0]:
                    return False
            case ast.stmt() if above is not statement or hasattr(above, "body"):
                return above is statement and (type(above), field) in _FIRST
        if above is statement:
            return True
        below = above
    return False


def _is_settled(seen: Outline, function: ast.AST, index: ast.expr, within: Sequence[ast.stmt]) -> bool:
    """Whether an index stays what it is while some statements of a block run."""
    match index:
        case ast.Name(id=name):
            bound, before = _bindings(function, name), seen.offsets.span(within[0])[0]
            starts = [seen.offsets.span(one)[0] for one in bound if isinstance(one, ast.Name | ast.arg)]
            return (
                len(starts) == len(bound)
                and any(start < before for start in starts)
                and all(_is_own(seen, function, one) for one in bound)
                and not any(_is_in(seen, one, statement) for one in bound for statement in within)
                and (len(bound) == 1 or not any(_is_put_off(statement, name) for statement in within))
            )
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr=attribute), slice=ast.Name() as inner):
            uses = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Attribute) and node.attr == attribute)
            return _is_settled(seen, function, inner, within) and all(_only_reads(seen, node) for node in uses)
    return False


def _is_own(seen: Outline, function: ast.AST, bound: ast.AST) -> bool:
    """Whether a binding is a variable of a function itself, not of one in it or of a comprehension."""
    above = next(above for above, _ in seen.path(bound) if isinstance(above, FunctionNode | ast.comprehension))
    return above is function


def _is_put_off(statement: ast.stmt, name: str) -> bool:
    """Whether a statement has a generator that reads a name when it is asked for items, perhaps later."""
    generators = (node for node in ast.walk(statement) if isinstance(node, ast.GeneratorExp))
    return any(isinstance(node, ast.Name) and node.id == name for one in generators for node in ast.walk(one))


def _bindings(function: ast.AST, name: str) -> list[ast.AST]:
    """The nodes of a function that give a name to something, or take it away."""
    inside = (node for node in ast.walk(function) if node is not function)
    return [node for node in inside if name in _bound_by(node)]


def _is_bound_once(function: ast.AST, name: str) -> bool:
    return len(_bindings(function, name)) == 1


def _bound_by(node: ast.AST) -> Sequence[str | None]:
    match node:
        case ast.Name(id=own, ctx=ast.Store() | ast.Del()) | ast.arg(arg=own):
            return [own]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.alias(name=name, asname=other):
            return [other or name.partition(".")[0]]
        case ast.FunctionDef(name=own) | ast.AsyncFunctionDef(name=own) | ast.ClassDef(name=own):
            return [own]
        case ast.ExceptHandler(name=own) | ast.MatchAs(name=own) | ast.MatchStar(name=own) | ast.MatchMapping(rest=own):
            return [own]
    return []


def _only_reads(seen: Outline, node: ast.Attribute) -> bool:
    """Whether a use of an attribute outside of `__init__` takes an item of it, or its length."""
    functions = (above for above, _ in seen.path(node) if isinstance(above, _FUNCTIONS))
    if any(function.name == "__init__" for function in functions):
        return True
    match seen.parents[node]:
        case ast.Subscript(ctx=ast.Load()), "value":
            return isinstance(node.ctx, ast.Load)
        case ast.Call(func=ast.Name(id="len")), "args":
            return True
    return False


def _name(seen: Outline, function: ast.AST, item: ast.Subscript) -> str:
    """A name for an item that is free in a function: one that the file has for such items, or a usual one."""
    kept = ast.unparse(item.value)
    made = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Assign) and len(node.targets) == 1)
    own = [
        node.targets[0].id
        for node in made
        if isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Subscript)
        and ast.unparse(node.value.value) == kept
        and not isinstance(node.value.slice, ast.Slice)
    ]
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return next((name for name in (*own, *_NAMES) if name not in used and not _bindings(function, name)), "")
