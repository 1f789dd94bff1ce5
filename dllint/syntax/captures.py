"""The variables that a function takes from those around it, and whether `functools.partial` may fill them in."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Collection, Iterator
from typing import NamedTuple

from dllint.syntax.module_names import Fate, ModuleNames
from dllint.syntax.outline import FunctionNode, Outline
from dllint.syntax.owner import attributes_read, is_owner
from dllint.syntax.refused import Refused
from dllint.syntax.scoping import binder, bindings, parameters, type_parameters

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_KEEPING = {"append", "appendleft", "add", "insert", "extend", "setdefault", "update", "put", "register"}
"""Methods that keep what they are given for the rounds to come."""
FRAMES = {"super", "__class__", "locals", "vars", "dir", "eval", "exec"}
"""Names whose meaning depends on the function they are used in."""


class Captures(NamedTuple):
    """Variables of the functions around, in the order of their first use, and the imports made there."""

    variables: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


def captures(
    outline: Outline,
    module: ModuleNames,
    function: FunctionNode,
    code: str,
    own: Collection[str] = (),
    moved: Collection[str] = (),
    settled: Collection[str] = (),
) -> Captures:
    """The captures of a function. Raises Refused where a copy at module level would not mean the same.

    `code` is the function alone, without indentation; names in `own` do not count; the functions that are called as in
    `moved` go to module level as well, so that pickle finds them. A variable qualifies when the value it has where the
    function is made is the one it keeps. `self` would take its whole object along; of its attributes, those in
    `settled` qualify. So do variables that the module binds under its main guard, where workers do not.
    """
    free = free_names(code)
    if free is None:
        raise Refused("it sets a variable of the functions around it or of the module")
    if not free.isdisjoint(FRAMES):
        raise Refused(f"`{min(free & FRAMES)}` means something else outside of the function around it")
    if mangled(outline, function):
        raise Refused("it reads a private attribute, whose name depends on the class around it")
    variables, imports = [], []
    for name in sorted(free.difference(own), key=lambda name: first_use(function, name)):
        scope = binder(outline, function, name)
        fate = module.fate(name) if scope is None else None
        if fate is Fate.SAME:
            continue
        if fate is Fate.OTHER or (fate is Fate.GUARDED and not _is_settled(outline, function, name)):
            bound = bindings(outline.tree).get(name)
            why = (
                "may be something else in a process that imports the module again"
                if bound
                else "is bound nowhere in this file"
            )
            raise Refused(f"`{name}` {why}")
        binding = bindings(scope or outline.tree).get(name, [])
        if len(binding) == 1 and isinstance(binding[0], ast.alias):
            imports.append(_import(outline, binding[0]))
        elif scope is not None and is_owner(outline, scope, name):
            _check_owner(outline, function, name, settled)
            variables.append(name)
        elif scope is None or is_fixed(outline, function, scope, name, name in moved):
            variables.append(name)
        else:
            raise Refused(_why_not(outline, function, scope, name))
    return Captures(tuple(variables), tuple(imports))


def _check_owner(outline: Outline, function: FunctionNode, name: str, settled: Collection[str]) -> None:
    """Raise Refused where a function needs more of an object than attributes that stay what they are."""
    read = attributes_read(outline, function, name)
    if read is None:
        raise Refused(f"it reads `{name}`, and the whole object would go along")
    changing = sorted({part.attr for part in read} - set(settled))
    if changing:
        raise Refused(f"`{name}.{changing[0]}` may change after this line, or be a method")


def _why_not(outline: Outline, function: FunctionNode, scope: ast.AST, name: str) -> str:
    """Why a variable cannot be filled in."""
    made = bindings(scope).get(name, [])
    if any(isinstance(node, (*_FUNCTIONS, ast.ClassDef)) for node in made):
        return f"it uses `{name}`, which is local, too; move that to module level first"
    if any(isinstance(getattr(outline.statement(node), "value", None), ast.Lambda) for node in made):
        return f"it uses `{name}`, which is a `lambda` itself"
    if isinstance(scope, _COMPREHENSIONS) or any(isinstance(outline.statement(node), _LOOPS) for node in made):
        return f"`{name}` changes with every round of the loop around it"
    return f"`{name}` may still change after this line"


def free_names(code: str) -> set[str] | None:
    """Names that a function, given alone, reads from outside; None where it writes there."""
    try:
        tables = list(_tables(symtable.symtable(code, "<function>", "exec")))
    except (SyntaxError, ValueError):
        return None
    symbols = [symbol for table in tables for symbol in table.get_symbols()]
    if any(symbol.is_declared_global() and symbol.is_assigned() for symbol in symbols):
        return None
    return {symbol.get_name() for symbol in symbols if symbol.is_global() and symbol.is_referenced()}


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _tables(child)


def mangled(outline: Outline, node: ast.expr | ast.stmt) -> bool:
    """Whether names in it depend on the class around it: `self.__x` means `self._Class__x` there."""
    if not any(isinstance(above, ast.ClassDef) for above, _ in outline.path(node)):
        return False
    start, end = outline.offsets.span(node)
    return re.search(r"\b__(?!\w*__\b)\w", outline.offsets.text[start:end]) is not None


def first_use(function: FunctionNode, name: str) -> tuple[int, int, str]:
    """Where a function first reads a name, to sort names by."""
    uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    return (*min(((node.lineno, node.col_offset) for node in uses), default=(0, 0)), name)


def _import(outline: Outline, alias: ast.alias) -> str:
    """The import of one name as a statement."""
    statement = outline.parents[alias][0]
    if isinstance(statement, ast.ImportFrom):
        return ast.unparse(ast.ImportFrom(statement.module, [alias], statement.level))
    return ast.unparse(ast.Import([alias]))


def is_fixed(
    outline: Outline, function: FunctionNode | ast.ClassDef, scope: ast.AST, name: str, functions: bool = False
) -> bool:
    """Whether a variable surely has its last value where the function is made; `functions`: which may be a function."""
    if isinstance(scope, _COMPREHENSIONS) or is_owner(outline, scope, name):
        return False
    if any(parameter.name == name for parameter in type_parameters(scope)):
        return False
    if any(isinstance(node, ast.Nonlocal) and name in node.names for node in ast.walk(scope)):
        return False
    made = bindings(scope).get(name, [])
    if not made:
        return name in parameters(scope)
    if scope is not _nearest(outline, function):
        return False  # it may be bound after the call that makes the function
    if not all(_precedes(outline, binding, function, scope, functions) for binding in made):
        return False
    return name in parameters(scope) or any(_always(outline, binding, function) for binding in made)


def _is_settled(outline: Outline, function: FunctionNode, name: str) -> bool:
    """Whether the module's only binding of a name happens before the function is made, as far as is seen."""
    (binding,) = bindings(outline.tree)[name]
    if _nearest(outline, function) is not None:
        return not isinstance(outline.statement(binding), (ast.Delete, *_LOOPS))
    return _precedes(outline, binding, function, outline.tree)


def _nearest(outline: Outline, node: ast.AST) -> ast.AST | None:
    kinds = (*_FUNCTIONS, ast.Lambda)
    return next((above for above, _ in outline.path(node) if isinstance(above, kinds)), None)


def _precedes(
    outline: Outline,
    binding: ast.AST,
    function: FunctionNode | ast.ClassDef,
    scope: ast.AST,
    functions: bool = False,
) -> bool:
    """Whether a binding happens before the function is made, and never again, and makes a value that has a name.

    `functions`: so does the definition of a function.
    """
    if isinstance(binding, (ast.ClassDef, ast.alias, ast.ExceptHandler)):
        return False
    if isinstance(binding, _FUNCTIONS) and not functions:
        return False
    statement = outline.statement(binding)
    if isinstance(statement, ast.For) and _is_for_this_round(outline, statement, function):
        return _is_set_by_loop(outline, statement, binding, scope)
    if isinstance(statement, (ast.Delete, *_LOOPS)):
        return False
    if isinstance(getattr(statement, "value", None), ast.Lambda) and not functions:
        return False
    loops = [above for above, _ in _below(outline, function, scope) if isinstance(above, _LOOPS)]
    if any(_contains(outline, loop, binding) for loop in loops):
        return False
    start, end = outline.offsets.span(statement)
    made = outline.offsets.span(function)[0]
    in_body = isinstance(statement, (ast.With, ast.AsyncWith)) and (statement, "body") in outline.path(function)
    return end <= made or (start <= made and in_body)


def _is_for_this_round(outline: Outline, loop: ast.For, function: FunctionNode | ast.ClassDef) -> bool:
    """Whether a lambda is passed to a call in the body of a loop, and not kept for later."""
    if not isinstance(function, ast.Lambda):
        return False
    passed = False
    for above, field in outline.path(function):
        if above is loop:
            return passed and field == "body"
        if isinstance(above, (ast.Yield, ast.Return, ast.Lambda)):
            return False
        if isinstance(above, ast.Call) and field in ("args", "keywords"):
            called = above.func.attr if isinstance(above.func, ast.Attribute) else ""
            if called in _KEEPING:
                return False
            passed = True
    return False


def _is_set_by_loop(outline: Outline, loop: ast.For, binding: ast.AST, scope: ast.AST) -> bool:
    """Whether nothing in a loop sets its variable but the loop itself."""
    name = binding.id if isinstance(binding, ast.Name) else ""
    own = bindings(scope).get(name, [])
    return not any(other is not binding and _contains(outline, loop, other) for other in own)


def _below(outline: Outline, node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    for above, field in outline.path(node):
        if above is scope:
            return
        yield above, field


def _contains(outline: Outline, outer: ast.AST, inner: ast.AST) -> bool:
    return any(above is outer for above, _ in outline.path(inner))


def _always(outline: Outline, binding: ast.AST, function: FunctionNode | ast.ClassDef) -> bool:
    """Whether the function cannot be made without this binding: it stands in no branch that the function is not in."""
    way = set(outline.path(function))
    return all(step in way for step in outline.path(outline.statement(binding)))
