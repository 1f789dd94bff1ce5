"""The fix that moves a class, or a named tuple, from the inside of a function to module level."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator

from dllint.fix import Applicability, Edit, Fix
from dllint.model.facts import ModuleModel
from dllint.source import Source, Span
from dllint.syntax.captures import FRAMES, free_names, mangled
from dllint.syntax.definition import insertion
from dllint.syntax.layout import indent_at
from dllint.syntax.module_names import Fate, ModuleNames
from dllint.syntax.nested import (
    annotations_wait,
    dedented,
    end_of,
    has_attributes,
    known_above,
    name_is_free,
    read_at_once,
    rows,
)
from dllint.syntax.outline import Outline, outline
from dllint.syntax.parse import Tree
from dllint.syntax.passed_in import PassedIn, passed_in
from dllint.syntax.refused import Refused, unfaithful
from dllint.syntax.removal import rows_of
from dllint.syntax.scoping import binder, bindings
from dllint.syntax.write import insertion_point

_MAKERS = {"dataclass", "field", "namedtuple", "property", "staticmethod", "classmethod", "TypeVar", "frozenset"}
"""Functions that a class body may call: they return the same at any time."""
_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def hoist_class(source: Source, tree: Tree, model: ModuleModel, start: int, around: int) -> Fix:
    """Move the class or the assignment of a named tuple at an offset out of the function `around`.

    Raises Refused where that would not mean the same: where it uses variables of the function, evaluates what is not
    known at module level, or where its name is taken there.
    """
    seen = outline(source.text)
    node = next((item for item in _statements(seen) if seen.offsets.span(item)[0] == start), None) if seen else None
    name = _name_of(node)
    if seen is None or node is None or not name:
        raise Refused("it is not made by a statement of its own")
    if not tree.faithful:
        raise Refused(unfaithful(source))
    parent = next((above for above, _ in seen.path(node) if isinstance(above, (*_FUNCTIONS, ast.Lambda))), None)
    lines = rows(source, seen, node)
    taken = _taken(seen, node, name) if isinstance(node, ast.ClassDef) else []
    passed = passed_in(source, seen, node, taken) if taken and isinstance(node, ast.ClassDef) else PassedIn(source, ())
    code = _code(passed.source, start)
    if parent is None or not code or not name_is_free(model, parent, node, name, around):
        raise Refused(f"`{name}` means something else in this file, too")
    if has_attributes(parent, name):
        raise Refused("attributes are set on it, and every call creates it again")
    _check_stands_alone(source, tree, seen, ModuleNames(seen, model), node, code, name, taken)
    opens = getattr(*seen.parents[node])[0] is node
    edits = (
        *_inserted(source, tree, seen, node, code),
        Edit(source.path, rows_of(source, lines, opens), ""),
        *passed.calls,
    )
    return Fix(f"Move `{name}` to module level", edits, Applicability.UNSAFE, defines=(name,))


def _code(source: Source, start: int) -> str:
    """The text of the class or the assignment at an offset, without indentation."""
    seen = outline(source.text)
    node = next(item for item in _statements(seen) if seen.offsets.span(item)[0] == start) if seen else None
    return dedented(source, rows(source, seen, node), indent_at(source, start)) if seen and node else ""


def _taken(seen: Outline, node: ast.ClassDef | ast.Assign, name: str) -> list[str]:
    """The variables of the functions around that it uses, in the order of their first use."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id != name]
    around = {id(above) for above, _ in seen.path(node)}
    ordered = sorted(names, key=lambda part: (part.lineno, part.col_offset))
    return list(dict.fromkeys(part.id for part in ordered if _is_taken(seen, part, around)))


def _is_taken(seen: Outline, part: ast.Name, around: Collection[int]) -> bool:
    """Whether a name means a variable of the functions around, and not what the body of a class binds itself."""
    scope = binder(seen, part, part.id)
    if scope is None or id(scope) not in around:
        return False
    inside = itertools.takewhile(lambda step: step[0] is not scope, seen.path(part))
    for above, field in inside:
        if isinstance(above, ast.ClassDef) and field == "body":
            return part.id not in bindings(above)
        if isinstance(above, _SCOPES) and field != "decorator_list":
            return True
    return True


def _inserted(
    source: Source, tree: Tree, seen: Outline, node: ast.ClassDef | ast.Assign, code: str
) -> tuple[Edit, ...]:
    """The definition above the statement it came from; an assignment joins those that stand there."""
    start = seen.offsets.span(node)[0]
    at = insertion_point(source, tree, start)
    above = [item for item in seen.tree.body if seen.offsets.span(item)[1] <= at][-1:]
    if isinstance(node, ast.ClassDef) or not isinstance(next(iter(above), None), (*_IMPORTS, ast.Assign)):
        return insertion(source, tree, start, code, False)
    place = end_of(source, above[0].end_lineno or 0)
    gap = source.newline if isinstance(above[0], _IMPORTS) else ""
    return (Edit(source.path, Span(place, place), gap + code),)


def _statements(seen: Outline) -> Iterator[ast.ClassDef | ast.Assign]:
    return (item for item in ast.walk(seen.tree) if isinstance(item, (ast.ClassDef, ast.Assign)))


def _name_of(node: ast.ClassDef | ast.Assign | None) -> str:
    match node:
        case ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
            return name
    return ""


def _check_stands_alone(
    source: Source,
    tree: Tree,
    seen: Outline,
    module: ModuleNames,
    node: ast.ClassDef | ast.Assign,
    code: str,
    name: str,
    passed: Collection[str],
) -> None:
    """Raise Refused unless the code means at module level what it means in the function."""
    free = free_names(code)
    if free is None or not free.isdisjoint(FRAMES - {"super", "__class__"}) or mangled(seen, node):
        raise Refused("it uses what only the function around it has")
    own = {item for part in ast.walk(node) if isinstance(part, ast.ClassDef) for item in bindings(part)}
    read = (free | (read_at_once(node) - own)) - {name}
    taken = sorted(item for item in read if item not in passed and binder(seen, node, item) is not None)
    if taken:
        raise Refused(f"it uses `{taken[0]}` of the function around it; pass that to its `__init__` first")
    other = sorted(item for item in read if item not in passed and module.fate(item) is not Fate.SAME)
    if other:
        raise Refused(f"`{other[0]}` may be something else in a process that imports the module again")
    known = known_above(seen, insertion_point(source, tree, seen.offsets.span(node)[0]))
    if not _is_fixed(node, known, annotations_wait(seen)):
        raise Refused("what its body evaluates may come out differently at another time")


def _is_fixed(node: ast.stmt, known: set[str], lazy: bool) -> bool:
    """Whether a definition comes out the same at any time, given the names that are known; `lazy`: annotations wait."""
    match node:
        case ast.ClassDef(body=body):
            inside = known | {node.name, *bindings(node)}
            heads = [*node.bases, *(keyword.value for keyword in node.keywords), *node.decorator_list]
            return all(_is_plain(head, known) for head in heads) and all(_is_fixed(item, inside, lazy) for item in body)
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            given = [*node.decorator_list, *arguments.defaults, *(item for item in arguments.kw_defaults if item)]
            notes = [item.annotation for item in ast.walk(arguments) if isinstance(item, ast.arg)]
            given += [] if lazy else [note for note in (*notes, node.returns) if note]
            return all(_is_plain(item, known) for item in given)
        case ast.AnnAssign(value=value, annotation=annotation):
            return (value is None or _is_plain(value, known)) and (lazy or _is_plain(annotation, known))
        case ast.Assign(value=value) | ast.Expr(value=value):
            return _is_plain(value, known)
    return isinstance(node, ast.Pass)


def _is_plain(node: ast.expr, known: set[str]) -> bool:
    """Whether an expression gives the same, and does nothing else, at any time and however often."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in known
        case ast.Attribute(value=value) | ast.UnaryOp(operand=value) | ast.Starred(value=value):
            return _is_plain(value, known)
        case ast.Tuple(elts=elements) | ast.BoolOp(values=elements):
            return all(_is_plain(item, known) for item in elements)
        case ast.List(elts=elements):
            return all(isinstance(item, ast.Constant) for item in elements)
        case ast.BinOp(left=left, right=right) | ast.Subscript(value=left, slice=right):
            return _is_plain(left, known) and _is_plain(right, known)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            given = [function, *arguments, *(keyword.value for keyword in keywords)]
            return last in _MAKERS and all(isinstance(item, ast.Lambda) or _is_plain(item, known) for item in given)
    return False
