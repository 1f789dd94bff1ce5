"""The arguments that `functools.partial` fills in for a lambda that becomes a function: only those it uses."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from dllint.syntax.outline import FunctionNode, Outline
from dllint.syntax.owner import as_parameters, attributes_read, is_owner, reads_further
from dllint.syntax.refused import Refused
from dllint.syntax.scoping import binder

_Function = ast.Lambda | ast.FunctionDef
MOST = 3
"""Parts of one variable that become parameters of their own."""


class Filled(NamedTuple):
    """A parameter that `functools.partial` fills in, and with what, both as they are written."""

    parameter: str
    value: str


class Narrowed(NamedTuple):
    """A function's text with parameters in place of what it used of captured variables."""

    code: str
    filled: tuple[Filled, ...]


def narrowed(seen: Outline, node: _Function, code: str, variables: Sequence[str]) -> Narrowed:
    """`cfg["size"]` or `args.size` as a parameter `size` where the function uses nothing else of `cfg` or `args`."""
    filled: list[Filled] = []
    edits: list[tuple[int, int, str]] = []
    start = seen.offsets.span(node)[0]
    for variable in variables:
        if is_owner(seen, binder(seen, node, variable), variable):
            named = parameters_for(seen, node, variable, variables)
            filled += [Filled(parameter, f"{variable}.{name}") for name, parameter in named.items()]
            for read in attributes_read(seen, node, variable) or ():
                first, last = seen.offsets.span(read)
                edits.append((first - start, last - start, named[read.attr]))
            continue
        parts = _parts(seen, node, variable)
        names = {text: _parameter(seen, node, part, filled) for text, part in parts.items()}
        if not 0 < len(parts) <= MOST or not all(names.values()) or len(set(names.values())) < len(names):
            filled.append(Filled(variable, variable))
            continue
        filled += [Filled(name, _text(seen, parts[text])) for text, name in names.items()]
        for part in _accesses(seen, node, variable) or ():
            first, last = seen.offsets.span(part)
            edits.append((first - start, last - start, names[ast.unparse(part)]))
    for first, last, name in sorted(edits, reverse=True):
        code = code[:first] + name + code[last:]
    return Narrowed(code, tuple(filled))


def parameters_for(seen: Outline, node: FunctionNode, owner: str, others: Sequence[str]) -> dict[str, str]:
    """The parameters in place of the attributes of an object. Raises Refused where one would be another's."""
    named = as_parameters(seen, node, owner, others)
    if not named:
        raise Refused(f"what it reads of `{owner}` has no names that are free in it")
    return named


def _parts(seen: Outline, node: _Function, variable: str) -> dict[str, ast.expr]:
    """The parts of a variable that the lambda reads, by their text; empty if it reads all of it, or they may change."""
    found = {ast.unparse(part): part for part in _accesses(seen, node, variable) or ()}
    scope = binder(seen, node, variable) or seen.tree
    return {} if any(_changes(part, variable, found.values()) for part in ast.walk(scope)) else found


def _accesses(seen: Outline, node: _Function, variable: str) -> list[ast.expr] | None:
    """Every `variable.name` and `variable["name"]` in a lambda; None where it is used in another way, too."""
    found: list[ast.expr] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id == variable:
            above = seen.parents[part][0]
            asked = _asked(seen, node, above, variable)
            if asked is not None:
                found.append(asked)
                continue
            whole = isinstance(above, ast.Attribute) or (
                isinstance(above, ast.Subscript) and above.value is part and isinstance(above.slice, ast.Constant)
            )
            if not whole or not isinstance(above, ast.expr) or seen.parents[above][1] == "func":
                return None
            if any(isinstance(outer, ast.JoinedStr) for outer, _ in seen.path(part)):
                return None
            found.append(above)
    return found


def _asked(seen: Outline, node: _Function, read: ast.AST, variable: str) -> ast.Call | None:
    """`kwargs.get("name")` of keyword arguments that nothing changes."""
    call, field = seen.parents[read]
    scope = binder(seen, node, variable)
    arguments = getattr(scope, "args", None)
    own = isinstance(arguments, ast.arguments) and arguments.kwarg is not None and arguments.kwarg.arg == variable
    if not own or not isinstance(read, ast.Attribute) or read.attr != "get" or field != "func":
        return None
    match call:
        case ast.Call(args=[ast.Constant(value=str())], keywords=[]) if scope is not None and _is_only_read(
            seen, scope, variable
        ):
            return call
    return None


def _is_only_read(seen: Outline, scope: ast.AST, variable: str) -> bool:
    """Whether all that is done with keyword arguments is to look things up and to pass them on as such."""
    for part in ast.walk(scope):
        if isinstance(part, ast.Name) and part.id == variable:
            above, field = seen.parents[part]
            looked_up = isinstance(above, ast.Attribute) and above.attr in ("get", "items", "keys", "values")
            taken = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load) and field == "value"
            passed = isinstance(above, ast.keyword) and above.arg is None
            if not (looked_up or taken or passed or isinstance(above, ast.Compare)):
                return False
    return True


def _changes(part: ast.AST, variable: str, read: Iterable[ast.expr]) -> bool:
    """Whether an assignment to a part of a variable may be one to a part that is read."""
    match part:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store() | ast.Del()) if name == variable:
            return any(not isinstance(item, ast.Attribute) or item.attr == attribute for item in read)
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()) if name == variable:
            return True
    return False


def _parameter(seen: Outline, node: _Function, part: ast.expr, others: Sequence[Filled]) -> str:
    """A name for a part of a variable; "" where it would be another one's."""
    match part:
        case (
            ast.Attribute(attr=name)
            | ast.Subscript(slice=ast.Constant(value=str(name)))
            | ast.Call(args=[ast.Constant(value=str(name))])
        ):
            taken = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
            taken |= {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
            taken |= {item.parameter for item in others} | set(dir(builtins)) | set(keyword.kwlist)
            return name if name.isidentifier() and name not in taken else ""
    return ""


def without_defaults(
    seen: Outline, node: ast.Lambda, fixed: Sequence[ast.expr]
) -> tuple[str, tuple[Filled, ...]] | None:
    """The parameters as they are written without those whose default is not fixed, and these filled in.

    `lambda x, k=n: ...` keeps the `n` of now, and so does a `functools.partial`. None where a caller could mean such a
    parameter by its position.
    """
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    count = len(positional) - len(arguments.defaults)
    filled = [
        Filled(parameter.arg, _text(seen, value))
        for parameter, value in zip(positional[count:], arguments.defaults, strict=True)
        if value not in fixed
    ]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    filled += [Filled(item.arg, _text(seen, value)) for item, value in keywords if value and value not in fixed]
    if arguments.vararg is not None or arguments.posonlyargs or arguments.kwarg is not None:
        return None
    values = [*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)]
    if not all(value in fixed or is_settled(value, ()) for value in values):
        return None
    gone = {item.parameter for item in filled}
    kept = [item for item in positional if item.arg not in gone]
    after = [item.arg in gone for item in positional[count:]]
    if after != sorted(after):  # a later parameter would move up
        return None
    defaults = [value for value in arguments.defaults if value in fixed]
    named = [(item, value) for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    left = ast.arguments(
        posonlyargs=[],
        args=kept,
        kwonlyargs=[item for item, _ in named if item.arg not in gone],
        kw_defaults=[value for item, value in named if item.arg not in gone],
        defaults=defaults,
    )
    return ast.unparse(left), tuple(filled)


def spoken(body: str, filled: Sequence[Filled], taken: Collection[str]) -> tuple[str, tuple[Filled, ...]]:
    """A body whose filled in parameters of one letter are called what they are filled with, and these parameters."""
    named: list[Filled] = []
    for item in filled:
        code = _renamed(body, item.parameter, item.value, taken) if len(item.parameter) == 1 else ""
        body = code or body
        named.append(Filled(item.value, item.value) if code else item)
    return body, tuple(named)


def _renamed(body: str, name: str, new: str, taken: Collection[str]) -> str:
    """An expression with another name in it; "" where that is none, or means something there already."""
    tree = ast.parse(f"(\n{body}\n)")
    parts = list(ast.walk(tree))
    names = [part for part in parts if isinstance(part, ast.Name)]
    plain = new.isidentifier() and len(new) > 2 and new not in taken and body.isascii()
    scopes = any(isinstance(part, (ast.Lambda, ast.comprehension, ast.JoinedStr)) for part in parts)
    if not plain or scopes or any(part.id == new for part in names):
        return ""
    lines = body.split("\n")
    for part in sorted(names, key=lambda part: (part.lineno, part.col_offset), reverse=True):
        if part.id == name:
            line = lines[part.lineno - 2]
            lines[part.lineno - 2] = line[: part.col_offset] + new + line[part.col_offset + len(name) :]
    return "\n".join(lines)


class Callee(NamedTuple):
    """A function that pickles by its name, as a lambda calls it, and its parameters where they are known."""

    dotted: str
    parameters: tuple[str, ...] = ()


def passed_along(seen: Outline, node: ast.Lambda | ast.FunctionDef, callee: Callee) -> list[str] | None:
    """The arguments of a `functools.partial` that replaces a lambda that only calls a function.

    `lambda x, k=n: f(x, k)` keeps the `n` of now, as the partial does. None where the lambda does something else.
    """
    arguments, body = node.args, _value(node)
    kept = _defaults_kept(arguments) if isinstance(node, ast.Lambda) else {}
    own = [item.arg for item in arguments.args if item.arg not in kept]
    own += [f"*{arguments.vararg.arg}"] if arguments.vararg is not None else []
    only = ast.arguments(
        posonlyargs=[],
        args=arguments.args,
        vararg=arguments.vararg,
        kwonlyargs=[],
        kw_defaults=[],
        defaults=arguments.defaults if kept else [],
        kwarg=arguments.kwarg,
    )
    if not isinstance(body, ast.Call) or ast.unparse(body.func) != callee.dotted or not own:
        return None
    open_ended = [item.value.id for item in body.keywords if item.arg is None and isinstance(item.value, ast.Name)]
    passed = [arguments.kwarg.arg] if arguments.kwarg is not None else []
    if ast.dump(only) != ast.dump(arguments) or open_ended != passed:
        return None
    if len(passed) < sum(item.arg is None for item in body.keywords):
        return None
    given = [ast.unparse(item) if isinstance(item, (ast.Name, ast.Starred)) else "" for item in body.args]
    at = given.index(own[0]) if own[0] in given else -1
    if at < 0 or given[at : at + len(own)] != own:
        return None
    before, after = body.args[:at], body.args[at + len(own) :]
    names = callee.parameters[at + len(own) : len(body.args)]
    keywords = [item for item in body.keywords if item.arg is not None]
    rest = [*before, *after, *(item.value for item in keywords)]
    if after and (before or arguments.vararg is not None or len(names) < len(after)):
        return None
    if not all(is_settled(item, [name.lstrip("*") for name in own]) for item in rest):
        return None
    values = [kept.get(item.id, item) if isinstance(item, ast.Name) else item for item in rest]
    if any(_reads_any(item, kept) for item in rest if not isinstance(item, ast.Name)):
        return None
    names = (*("" for _ in before), *names[: len(after)], *(item.arg or "" for item in keywords))
    texts = [_text(seen, value) for value in values]
    return [f"{name}={text}" if name else text for name, text in zip(names, texts, strict=True)]


def _defaults_kept(arguments: ast.arguments) -> dict[str, ast.expr]:
    """The last parameters whose defaults are variables, which no caller means to pass; empty if others have some."""
    count = len(arguments.defaults)
    last = arguments.args[len(arguments.args) - count :]
    if arguments.vararg or arguments.kwarg or len(last) < count:
        return {}
    variable = all(is_settled(value, ()) and _reads_any(value, None) for value in arguments.defaults)
    return {item.arg: value for item, value in zip(last, arguments.defaults, strict=True)} if variable else {}


def _reads_any(node: ast.expr, names: Collection[str] | None) -> bool:
    """Whether an expression reads one of some names, or any name."""
    return any(isinstance(part, ast.Name) and (names is None or part.id in names) for part in ast.walk(node))


def reads_parts(seen: Outline, node: FunctionNode, variables: Sequence[str]) -> bool:
    """Whether a function reads parts of an object's attributes, which may change while the attributes stay."""
    owners = (name for name in variables if is_owner(seen, binder(seen, node, name), name))
    return any(reads_further(seen, node, name) for name in owners)


def _value(node: ast.Lambda | ast.FunctionDef) -> ast.expr | None:
    """The expression that a function returns if it does nothing else."""
    if isinstance(node, ast.Lambda):
        return node.body
    docstring = ast.get_docstring(node, clean=False) is not None
    match node.body[docstring:]:
        case [ast.Return(value=value)]:
            return value
    return None


def is_settled(node: ast.expr, own: Sequence[str]) -> bool:
    """Whether an argument is the same each time: a constant, a variable, a part of one."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name not in own
        case ast.Attribute(value=value) | ast.UnaryOp(operand=value) | ast.Subscript(value=value, slice=ast.Constant()):
            return is_settled(value, own)
        case ast.Tuple(elts=elements):
            return all(is_settled(item, own) for item in elements)
    return False


def _text(seen: Outline, node: ast.expr) -> str:
    """An expression as it is written, on one line."""
    start, end = seen.offsets.span(node)
    return " ".join(seen.offsets.text[start:end].split())
