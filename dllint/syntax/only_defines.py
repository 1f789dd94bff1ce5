"""Modules whose code does nothing when they are imported but give names to functions, classes and constants."""

from __future__ import annotations

import ast

from dllint.source import Source
from dllint.syntax.module_names import is_main_guard
from dllint.syntax.outline import outline

_MAKING = frozenset({
    *("dict", "list", "set", "frozenset", "tuple", "range", "len", "sorted", "zip", "enumerate", "map", "filter"),
    *("int", "float", "str", "bool", "bytes", "min", "max", "sum", "object", "partial", "namedtuple", "field"),
    *("OrderedDict", "defaultdict", "Counter", "TypeVar", "NewType", "Path", "getLogger", "re.compile"),
    *("join", "dirname", "abspath", "realpath", "basename", "format", "split", "strip", "lower", "upper"),
    *("keys", "values", "items", "array", "getenv", "os.environ.get"),
})  # fmt: skip
"""Functions and methods, by their last names, that make a value and change nothing."""
_SUITES = (ast.Try, ast.If, ast.ExceptHandler, ast.ClassDef)


def only_defines(source: Source) -> bool:
    """Whether the import of a module does nothing but define names, apart from what its own imports do."""
    seen = outline(source.text)
    return seen is not None and all(map(_defines, seen.tree.body))


def _defines(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Raise() | ast.Expr(value=ast.Constant()):
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            return not any(map(_registers, node.decorator_list)) and all(map(_makes, defaults))
        case ast.Assign(targets=targets) if all(isinstance(target, (ast.Name, ast.Tuple)) for target in targets):
            return _makes(node.value)
        case ast.AnnAssign(target=ast.Name()) | ast.AugAssign(target=ast.Name()):
            return node.value is None or _makes(node.value)
        case ast.If() if is_main_guard(node.test):
            return all(map(_defines, node.orelse))
        case ast.ClassDef() if any(map(_registers, node.decorator_list)):
            return False
        case ast.If() if not _makes(node.test):
            return False
    suite = (part for field in ("body", "handlers", "orelse", "finalbody") for part in getattr(node, field, ()))
    return isinstance(node, _SUITES) and all(map(_defines, suite))


def _makes(value: ast.AST) -> bool:
    """Whether an expression calls nothing but functions that make values."""
    if isinstance(value, ast.Lambda):
        return True
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func)
        if _MAKING.isdisjoint((name, name.rpartition(".")[2])):
            return False
    return all(map(_makes, ast.iter_child_nodes(value)))


def _registers(decorator: ast.expr) -> bool:
    """Whether a decorator puts what it decorates into a table."""
    return "regist" in ast.unparse(decorator).lower()
