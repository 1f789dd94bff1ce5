"""The fix that makes a method of a function which a method defines: pickle finds it with the object, and so does it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dllint.fix import Applicability, Edit, Fix
from dllint.model.facts import Function, ModuleModel
from dllint.source import Source, Span
from dllint.syntax.captures import captures
from dllint.syntax.fitted import fitted
from dllint.syntax.hoist import filled_in
from dllint.syntax.hoist_function import annotated, named_for, only_use, parts_known, with_imports
from dllint.syntax.layout import indent_at
from dllint.syntax.module_names import ModuleNames
from dllint.syntax.nested import dedented, end_of, has_attributes, rows
from dllint.syntax.outline import Outline, outline
from dllint.syntax.own_text import without_kept
from dllint.syntax.owner import is_owner
from dllint.syntax.parse import Tree
from dllint.syntax.refused import Refused, unfaithful
from dllint.syntax.removal import imports_left_behind, rows_of
from dllint.syntax.scoping import bindings
from dllint.syntax.suggest import told_apart
from dllint.syntax.width import folded
from dllint.syntax.write import reindent


def to_method(source: Source, tree: Tree, model: ModuleModel, function: Function, taken: Collection[str]) -> Fix:
    """Make a function inside a method a method below it. Raises Refused where that would not mean the same.

    What else it captures becomes parameters that `functools.partial` fills in. `taken` are the names that the class and
    its relatives use.
    """
    seen = outline(source.text)
    node = seen.function_at(function.span.start) if seen else None
    if seen is None or not isinstance(node, ast.FunctionDef) or node.decorator_list or not tree.faithful:
        raise Refused(unfaithful(source) if not tree.faithful else "its lines cannot be moved")
    method = _method_around(seen, node)
    receiver = method.args.args[0].arg
    lines = rows(source, seen, node)
    code = dedented(source, lines, indent_at(source, function.span.start))
    if not code:
        raise Refused("its lines cannot be moved")
    if all(part.id != receiver for part in ast.walk(node) if isinstance(part, ast.Name)):
        raise Refused("it does not read the object")
    found = captures(seen, ModuleNames(seen, model), node, code, {receiver})
    kept = without_kept(seen, node, code)
    if _named_in_header(node) & bindings(seen.parents[method][0]).keys() or not parts_known(source, tree, seen, node):
        raise Refused("its annotations mean something else in the body of the class")
    if has_attributes(method, node.name):
        raise Refused("attributes are set on it, and every call creates it again")
    wanted = named_for(node, method)
    name = next((item for item in (wanted, *told_apart(wanted, method.name)) if item not in taken), "")
    if not name:
        raise Refused(f"the class, or one that is related to it, uses `{wanted}` for something else")
    parameters = annotated(source, tree, seen, node, found.variables)
    text = with_imports(source, node, kept.code, name, found, [receiver, *parameters], lines[0])
    if not text:
        raise Refused("it has type parameters, or is on one line")
    margin, indent = indent_at(source, seen.offsets.span(method)[0]), indent_at(source, function.span.start)
    call, imports = filled_in(model, f"{receiver}.{name}", [*found.variables, *kept.given], function.span.start)
    use = only_use(seen, method, node, kept)
    at = seen.offsets.span(use) if use else None
    left = "" if at else f"{indent}{folded(source, f'{node.name} = {call}', indent, len(indent))}{source.newline}"
    start, end = source.line_starts[lines[0] - 1], end_of(source, lines[1])
    opens = getattr(*seen.parents[node])[0] is node
    below = end_of(source, rows(source, seen, method)[1])
    gap = source.newline if source.text[:below].endswith(("\n", "\r")) else 2 * source.newline
    edits = (
        Edit(source.path, rows_of(source, lines, opens) if at else Span(start, end), left),
        *(fitted(source, Span(*at), call) if at else ()),
        *(imports_left_behind(source, seen, node) if found.imports else ()),
        Edit(source.path, Span(below, below), gap + reindent(text, "", margin)),
    )
    return Fix(f"Make `{node.name}` the method `{name}`", edits, Applicability.UNSAFE, imports)


def _method_around(seen: Outline, node: ast.FunctionDef) -> ast.FunctionDef:
    """The method that defines a function. Raises Refused where its object is not the one that the function reads."""
    method = seen.parents[node][0]
    while not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.Module)):
        method = seen.parents[method][0]
    if isinstance(method, ast.FunctionDef) and method.args.args:
        receiver = method.args.args[0].arg
        makers = [item for item in method.decorator_list if isinstance(item, ast.Name) and item.id == "classmethod"]
        if is_owner(seen, method, receiver) and not makers and not bindings(method).get(receiver):
            return method
    raise Refused("it is not made by a method of the object")


def _named_in_header(node: ast.FunctionDef) -> set[str]:
    """The names in a function's annotations."""
    own = [part.annotation for part in ast.walk(node.args) if isinstance(part, ast.arg) and part.annotation]
    roots = [*own, *([node.returns] if node.returns else [])]
    return {part.id for root in roots for part in ast.walk(root) if isinstance(part, ast.Name)}


def names_in_class(source: Source, start: int, but: int) -> set[str] | None:
    """The names that the class at an offset has for what it keeps, calls or defines; None where it cannot be read.

    Among them are those of the functions that its methods define and that may become methods, except the one at `but`.
    """
    seen = outline(source.text)
    node = next((item for item in _classes(seen) if seen.offsets.span(item)[0] == start), None) if seen else None
    if seen is None or node is None:
        return None
    found = set(bindings(node))
    for part in ast.walk(node):
        match part:
            case ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                found.add(name)
            case ast.FunctionDef(name=name) if seen.offsets.span(part)[0] != but and _reads_owner(seen, part):
                found.add(named_for(part, seen.parents[part][0]))
    return found


def _reads_owner(seen: Outline, node: ast.FunctionDef) -> bool:
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return any(is_owner(seen, above, name) for above, _ in seen.path(node) for name in names)


def _classes(seen: Outline) -> Iterator[ast.ClassDef]:
    return (item for item in ast.walk(seen.tree) if isinstance(item, ast.ClassDef))
