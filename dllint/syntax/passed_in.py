"""Variables of a function that a class inside it uses, passed to its `__init__`: then it may stand at module level."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from dllint.fix import Edit, apply
from dllint.source import Source, Span
from dllint.syntax.captures import is_fixed
from dllint.syntax.outline import Outline
from dllint.syntax.own_text import is_constant
from dllint.syntax.refused import Refused
from dllint.syntax.scoping import binder, bindings, defaults

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class PassedIn(NamedTuple):
    """The file with the other class, and the edits of the calls that make its objects."""

    source: Source
    calls: tuple[Edit, ...]


def passed_in(source: Source, seen: Outline, node: ast.ClassDef, names: Sequence[str]) -> PassedIn:
    """The class with the variables as parameters of its `__init__`. Raises Refused where that is not the same."""
    init = next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"), None)
    for name in names:
        scope = binder(seen, node, name)
        if init is None or scope is None or not is_fixed(seen, node, scope, name):
            raise Refused(f"it uses `{name}` of the function around it; pass that to its `__init__` first")
    assert init is not None
    arguments = init.args
    own = {part.arg for part in ast.walk(arguments) if isinstance(part, ast.arg)}
    if init.decorator_list or arguments.posonlyargs or not arguments.args or own & set(names):
        raise Refused("its `__init__` does not take what it would have to be given")
    behind = _behind(seen, node, arguments, names)
    found = _calls(seen, node, names)
    if behind:
        calls = tuple(_added(source, seen, call, len(arguments.args) - 1, behind) for call in found)
    else:
        calls = tuple(_given(source, seen, call, names) for call in found)
    replaced, kept = _uses(source, seen, node, names)
    last = arguments.args[-1 if behind else 0]
    start, end = seen.offsets.span(last)
    end = seen.offsets.span(arguments.defaults[-1])[1] if behind and arguments.defaults else end
    taken = [_annotated(seen, node, arguments, name, bool(behind)) for name in behind or names]
    edits = [_after(source, start, end, taken), *replaced, *_stored(source, seen, init, kept)]
    return PassedIn(Source(source.path, apply(source.text, edits), source.encoding, source.bom), calls)


def _behind(seen: Outline, node: ast.ClassDef, own: ast.arguments, names: Sequence[str]) -> list[str]:
    """The variables in an order in which they may follow the parameters that `__init__` has; [] where they may not."""
    fixed = [name for name in names if _default(seen, node, name)]
    open_ended = (
        own.vararg or own.kwarg or own.kwonlyargs or not all(_is_one_token(seen, value) for value in own.defaults)
    )
    others = [name for name in names if name not in fixed]
    return [] if open_ended or (own.defaults and others) else [*others, *fixed]


def _is_one_token(seen: Outline, value: ast.expr) -> bool:
    """Whether a default is a constant without brackets around it."""
    start = seen.offsets.span(value)[0]
    bare = seen.offsets.text[:start].rstrip(" ").endswith("=")
    return bare and isinstance(value, ast.Constant) and value.end_lineno == value.lineno


def _default(seen: Outline, node: ast.ClassDef, name: str) -> str:
    """The constant that a parameter of the function around is if nobody passes it; "" for other variables."""
    scope = binder(seen, node, name)
    arguments = getattr(scope, "args", None)
    if scope is None or not isinstance(arguments, ast.arguments) or bindings(scope).get(name):
        return ""
    given = next((value for item, value in defaults(arguments) if item.arg == name), None)
    return seen.offsets.text[slice(*seen.offsets.span(given))] if given is not None and is_constant(given) else ""


def _added(source: Source, seen: Outline, call: ast.Call, own: int, names: Sequence[str]) -> Edit:
    """The variables as the last arguments of a call, by their names where it does not pass all others by position."""
    if any(isinstance(item, ast.GeneratorExp) for item in call.args):
        raise Refused("a call that makes its objects has no room for another argument")
    plain = len(call.args) == own and not call.keywords and not any(isinstance(a, ast.Starred) for a in call.args)
    texts = [name if plain else f"{name}={name}" for name in names]
    close = seen.offsets.span(call)[1] - 1
    parts: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not parts:
        return Edit(source.path, Span(close, close), ", ".join(texts))
    start, end = max(map(seen.offsets.span, parts))
    if source.text[end:close].strip("), \t\r\n"):
        raise Refused("a comment stands where its objects would have to be given more")
    return _after(source, start, len(source.text[:close].rstrip().removesuffix(",").rstrip()), texts)


def _after(source: Source, start: int, end: int, texts: Sequence[str]) -> Edit:
    """More of what stands in brackets, after the last, which begins and ends there: on lines of their own as that."""
    before = source.text[source.line_starts[source.location(start)[0] - 1] : start]
    between = " " if before.strip() else f"{source.newline}{before}"
    return Edit(source.path, Span(end, end), "".join(f",{between}{text}" for text in texts))


def _calls(seen: Outline, node: ast.ClassDef, names: Sequence[str]) -> list[ast.Call]:
    """The calls that make objects of the class, which nothing else is done with."""
    scope = binder(seen, node, node.name)
    found: list[ast.Call] = []
    for part in ast.walk(scope or node):
        if isinstance(part, ast.Name) and part.id == node.name:
            above, field = seen.parents[part]
            called = isinstance(above, ast.Call) and field == "func"
            inside = any(step is node for step, _ in seen.path(part))
            same = all(binder(seen, part, name) is binder(seen, node, name) for name in names)
            if called == inside or (called and not same):
                raise Refused(f"`{node.name}` is used for more than to make its objects in the function around it")
            if isinstance(above, ast.Call) and called:
                found.append(above)
    if not found:
        raise Refused(f"the function around it gives `{node.name}` away, and others make its objects")
    return found


def _given(source: Source, seen: Outline, call: ast.Call, names: Sequence[str]) -> Edit:
    at = source.text.index("(", seen.offsets.span(call.func)[1]) + 1
    blank = re.compile(r"\s*").match(source.text, at)
    assert blank is not None
    rest = f",{blank[0]}" if "\n" in blank[0] else ", "
    more = bool(call.args or call.keywords)
    return Edit(source.path, Span(blank.end(), blank.end()), ", ".join(names) + (rest if more else ""))


def _uses(source: Source, seen: Outline, node: ast.ClassDef, names: Sequence[str]) -> tuple[list[Edit], list[str]]:
    """The edits of uses outside `__init__`, and the variables that objects must keep for them."""
    edits: list[Edit] = []
    kept: dict[str, None] = {}
    for part in ast.walk(node):
        if (
            not isinstance(part, ast.Name)
            or part.id not in names
            or binder(seen, part, part.id) is not binder(seen, node, part.id)
        ):
            continue
        way = list(seen.path(part))
        steps = way[: next(index for index, (above, _) in enumerate(way) if above is node)]
        method, field = steps[-1] if steps else (node, "")
        plain = isinstance(method, ast.FunctionDef) and field == "body" and not method.decorator_list
        if not plain or any(isinstance(above, ast.ClassDef) for above, _ in steps):
            raise Refused(f"it uses `{part.id}` of the function around it where it is defined")
        assert isinstance(method, ast.FunctionDef)
        if method.name == "__init__":
            continue
        self = method.args.args[0].arg if method.args.args else ""
        if not self or binder(seen, part, self) is not method or any(isinstance(a, ast.JoinedStr) for a, _ in steps):
            raise Refused(f"it uses `{part.id}` of the function around it in `{method.name}`")
        kept[part.id] = None
        edits.append(Edit(source.path, Span(*seen.offsets.span(part)), f"{self}.{part.id}"))
    text = source.text[slice(*seen.offsets.span(node))]
    taken = next((name for name in kept if re.search(rf"\.{name}\b|\bdef {name}\b", text)), "")
    if taken:
        raise Refused(f"its objects have a `{taken}` already, and it uses that of the function around it")
    return edits, list(kept)


def _annotated(seen: Outline, node: ast.ClassDef, own: ast.arguments, name: str, last: bool) -> str:
    """A parameter with the annotation that the variable has as one, where the others have some.

    `last`: it comes after the others, so that it may have a default.
    """
    default = _default(seen, node, name) if last else ""
    annotation = _annotation(seen, node, own, name)
    sign = " = " if annotation else "="
    return f"{name}{annotation}{sign}{default}" if default else f"{name}{annotation}"


def _annotation(seen: Outline, node: ast.ClassDef, own: ast.arguments, name: str) -> str:
    arguments = getattr(binder(seen, node, name), "args", None)
    found = ast.walk(arguments) if isinstance(arguments, ast.arguments) else ()
    given = next((part.annotation for part in found if isinstance(part, ast.arg) and part.arg == name), None)
    if given is None or not all(part.annotation for part in own.args[1:]) or len(own.args) < 2:
        return ""
    return f": {' '.join(seen.offsets.text[slice(*seen.offsets.span(given))].split())}"


def _stored(source: Source, seen: Outline, init: ast.FunctionDef, kept: Sequence[str]) -> list[Edit]:
    """The lines of `__init__` that keep the variables."""
    if not kept:
        return []
    docstring = ast.get_docstring(init, clean=False) is not None
    first = next(iter(init.body[docstring:]), None)
    if first is None or first.lineno == init.lineno:
        raise Refused("its `__init__` has no line of its own")
    at = source.line_starts[first.lineno - 1]
    margin, self = source.text[at : seen.offsets.span(first)[0]], init.args.args[0].arg
    lines = (f"{margin}{self}.{name} = {name}{source.newline}" for name in kept)
    return [Edit(source.path, Span(at, at), "".join(lines))]
