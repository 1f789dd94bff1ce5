"""Names for functions that had none: after what they do, and after the place that keeps them."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from dllint.syntax.actions import MOST, action, is_bare, snake
from dllint.syntax.outline import Outline
from dllint.syntax.scoping import defaults

_MAKERS = re.compile(r"^(?:get|make|build|create|init|initialize|set_?up|prepare|return)_")
_GETS = re.compile(r"^get_")
_ENDINGS = re.compile(r"_(?:fn|func|function|lambda|callback)$")
_SAYS_NOTHING = {
    *("f", "fn", "func", "function", "fun", "g", "h", "lambd", "callback", "cb", "op", "method", "key", "map", "apply"),
    *("filter", "predicate", "sort"),
    *("transform", "transforms", "trans", "tf", "t", "target", "target_transform", "data", "item", "x", "y", "value"),
    *("wrapper", "wrapped", "inner", "closure", "helper", "run", "call", "result", "res", "out", "tmp", "ds", "args"),
}
"""Roles and names that hold for any function."""
_ENTRIES = {"main", "run", "cli", "app", "script", "start"}
"""Names of functions that a program begins with: what is in them may be about anything."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRIEF = 12
"""Characters of an action that goes with a role."""
_COLLATING = {"first": "first_only"}


def suggest_name(outline: Outline, node: ast.Lambda) -> Iterator[str]:
    """Names from the best on: `_default_word2id` for the factory of `self.word2id`, `_collate_zipped` for `collate_fn`.

    A role that holds for any function, as `func=` or `transform=` do, gives way to what the lambda does: `_to_float`.
    """
    role, does = _role(outline, node), action(node)
    found: list[str] = []
    several = _is_one_of_several(outline, node)
    if role.startswith("default_") and not several:
        found = [role]
    elif re.search(r"(?:^|_)collate$", role) and does != "identity":
        found = [does if "collate" in does else f"{role}_{_COLLATING.get(does, does)}" if len(does) <= _BRIEF else role]
        found = [found[0].rstrip("_"), role]
    elif re.fullmatch(r"(?:worker_)?init|worker_init", role):
        found = ["seed_worker" if "seed" in does else "init_worker"]
    elif does in ("always_true", "always_false"):
        found = [does]
    elif is_bare(does) and role and not several:
        found = [role if role not in _SAYS_NOTHING else "", *(name for name in _about(node, role) if name != "apply")]
    elif does != "identity" and role and role not in _SAYS_NOTHING:
        found = [does if several else role, does, f"{role}_{does}" if does else ""]
    found += [does, *_about(node, role)]
    yield from dict.fromkeys(f"_{name}" for name in found if name and len(name) <= MOST + 8)


def _is_one_of_several(outline: Outline, node: ast.Lambda) -> bool:
    """Whether a list keeps it, a dictionary has it twice, or its attribute is set to another lambda, too.

    The names of these are no names for one of the items.
    """
    if _has_alternative(outline, node):
        return True
    inside = itertools.takewhile(lambda step: not isinstance(step[0], (ast.stmt, ast.Lambda)), outline.path(node))
    return any(isinstance(above, (ast.List, ast.Tuple)) or _has_twice(above, node) for above, _ in inside)


def _has_alternative(outline: Outline, node: ast.Lambda) -> bool:
    """Whether the method around sets the attribute that keeps a lambda to another one in another branch."""
    statement, field = outline.parents[node]
    if not isinstance(statement, ast.Assign) or field != "value" or not isinstance(statement.targets[0], ast.Attribute):
        return False
    around = next((above for above, _ in outline.path(node) if isinstance(above, _FUNCTIONS)), outline.tree)
    wanted, own = [ast.dump(target) for target in statement.targets], ast.dump(node)
    others = (part for part in ast.walk(around) if isinstance(part, ast.Assign) and isinstance(part.value, ast.Lambda))
    return any(wanted == [*map(ast.dump, part.targets)] and own != ast.dump(part.value) for part in others)


def _has_twice(table: ast.AST, node: ast.AST) -> bool:
    """Whether a dictionary has a value for several keys."""
    values = [ast.dump(value) for value in table.values] if isinstance(table, ast.Dict) else []
    return values.count(ast.dump(node)) > 1


def _about(node: ast.Lambda, role: str) -> Iterator[str]:
    """The last resort where neither role nor action say much: the parameter, if it is a word."""
    parameters = [part.arg for part in node.args.args]
    if parameters and len(snake(parameters[0])) > 2 and parameters[0] not in _SAYS_NOTHING:
        verb = "process" if role in _SAYS_NOTHING or not role else role
        yield f"{verb}_{snake(parameters[0])}" if not verb.endswith(snake(parameters[0])) else ""
    general = "target_transform" if role == "target_transform" else "transform" if "trans" in role else "apply"
    yield role if role not in _SAYS_NOTHING else general


def function_name(name: str, around: str) -> str:
    """A name at module level for a nested function: one that says nothing is told apart by the function around it."""
    plain, made = name.strip("_"), snake(_MAKERS.sub("", around))
    outer = snake(around) or f"make_{made}"
    says = 2 < len(made) <= MOST and outer not in _ENTRIES
    if says and plain.lower().rstrip("_0123456789") in _SAYS_NOTHING:
        if made == outer.removesuffix(f"_{plain}"):
            return f"_{outer}_{plain}"
        return f"_{made}" if made != outer else f"_apply_{outer}"
    return f"_{plain}"


def told_apart(name: str, around: str) -> list[str]:
    """Other names for a nested function whose name is taken: `_test_merge` in `TestMergeFn`."""
    outer = _MAKERS.sub("", _ENDINGS.sub("", snake(around)))
    joined = outer if outer.endswith(name.strip("_")) else f"{outer}{name}"
    return [f"_{joined}"] if outer and len(joined) <= MOST else []


def _role(outline: Outline, node: ast.Lambda) -> str:
    """The name of the place that keeps a lambda; "" if it has none."""
    prefix = ""
    inner: ast.AST = node
    for above, _ in outline.path(node):
        if isinstance(above, ast.Call) and _last(above.func) == "defaultdict":
            prefix = "default_"
        found = _short(_name_given(above, inner), makes=not node.args.args and isinstance(node.body, ast.Call))
        if found or isinstance(above, (ast.stmt, ast.Lambda)):
            return prefix + found if found or not prefix else "default_value"
        inner = above
    return prefix


def _short(name: str, makes: bool) -> str:
    """A place's name as one for a function; `makes`: what it keeps calls something, and takes nothing."""
    words = _ENDINGS.sub("", snake(name))
    if makes and words != snake(name) and words not in _SAYS_NOTHING and not _MAKERS.match(words):
        return f"make_{words}"
    return _GETS.sub("", words) or words


def _name_given(above: ast.AST, inner: ast.AST) -> str:
    """The name that a node gives to the child it holds."""
    match above:
        case ast.keyword(arg=str(name)):
            return name
        case ast.arguments():
            return next((parameter.arg for parameter, value in defaults(above) if value is inner), "")
        case ast.Dict(keys=keys, values=values) if inner in values and not _has_twice(above, inner):
            return _last(keys[values.index(inner)])
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            return _last(target)
    return ""


def _last(node: ast.AST | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name
        case ast.Subscript(slice=index, value=value):
            return (isinstance(index, ast.Constant) and _last(index)) or _last(value)
    return ""
