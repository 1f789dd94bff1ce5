"""Memory maps, and what NumPy makes of them that shows the same file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Value
from dllint.project.evaluate.shapes import Argument
from dllint.source import Span

if TYPE_CHECKING:
    from dllint.project import Project

MAPS = frozenset({"numpy.memmap", "numpy.lib.format.open_memmap"})
_VIEWS = frozenset({"reshape", "view", "transpose", "swapaxes", "squeeze", "ravel"})
"""Methods of an array whose result shows the same memory; `ravel` where that is in one piece."""
_VIEWED = frozenset({
    *("numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray", "numpy.frombuffer"),
    *("numpy.reshape", "numpy.transpose", "numpy.squeeze", "numpy.ravel", "numpy.swapaxes", "numpy.atleast_2d"),
})  # fmt: skip
"""Functions that give their first argument back, or a view of it. Each was run: mapped still, and pickled whole."""
_FEW = 1000
"""So many rows are few."""


def mapped(project: Project, value: Value) -> ExtInst | None:
    """The memory map that a value shows, itself or through views; None where it shows none."""
    waiting, seen = [value], set[Value]()
    while waiting:
        shown = waiting.pop()
        if not isinstance(shown, ExtInst) or shown in seen:
            continue
        if is_map(project, shown):
            return shown
        seen.add(shown)
        waiting += reversed(list(_shown(project, shown)))
    return None


def is_map(project: Project, made: ExtInst) -> bool:
    """Whether a value is a memory-mapped array that the call itself maps."""
    if made.name in MAPS:
        return True
    modes = _modes(project, made) if made.name == "numpy.load" and not _reads_open_file(project, made) else []
    return bool(modes) and all(_names_mode(value) for mode in modes for value in project.values(*mode))


def _reads_open_file(project: Project, made: ExtInst) -> bool:
    """Whether it is given an open file, which NumPy refuses to map: `with open(path, "rb") as file`."""
    given = project.evaluator.arguments.argument(made.call, made.env, 0, "file")[0]
    values = [value for pair in given for value in project.values(*pair)]
    return bool(values) and all(isinstance(item, ExtInst) and item.name.endswith(".open") for item in values)


def asked_at(project: Project, made: ExtInst) -> tuple[str, Span]:
    """The call that asks for a memory map: of a function that hands `mmap_mode` on, or returns the map, its call."""
    call, env = made.call, made.env
    for _, where in _modes(project, made)[:1]:
        while env is not where and env.call is not None and env.caller is not None:
            call, env = env.call, env.caller
        if env is not where:
            call, env = made.call, made.env
    while env.call is not None and env.caller is not None and _returns(env, call):
        call, env = env.call, env.caller
    return env.module.path, call.span


def _returns(env: Env, call: Expr) -> bool:
    """Whether a function, none of a class, returns what a call gives."""
    if env.module.method_owner(env.function) >= 0:
        return False
    return any(event.kind == "return" and event.value is call for event in env.module.events(env.function))


def _modes(project: Project, made: ExtInst) -> list[Argument]:
    return project.evaluator.arguments.argument(made.call, made.env, 1, "mmap_mode")[0]


def _shown(project: Project, made: ExtInst) -> Iterator[Value]:
    """What a value is a view of."""
    call, last = made.call, made.name.rpartition(".")[2]
    if made.name.endswith("[]"):
        if made.base is not None and call.kind == "subscript" and _is_slice(call.args[1]):
            yield made.base
    elif made.name in _VIEWED:
        if call.kind == "call" and len(call.args) > 1 and not _converts(call, made.env):
            yield from project.values(call.args[1], made.env)
    elif made.base is not None and last.removesuffix("()") in _VIEWS:
        yield made.base


def _is_slice(index: Expr) -> bool:
    """`[a:b]`, `[:, a:b]`, `[...]`: what numbers, lists and masks take out is small, or a copy."""
    parts = index.args if index.kind == "tuple" else (index,)
    whole = [part for part in parts if part.kind in ("slice", "ellipsis")]
    if any(part.kind == "slice" and _is_short(part) for part in whole):
        return False
    return bool(whole) and all(part in whole or part.kind == "constant" for part in parts)


def _is_short(piece: Expr) -> bool:
    """`[:100]`: a few rows of many, which are little to copy."""
    start, stop = piece.args[0].value, piece.args[1].value
    first = 0 if start is None else start
    return isinstance(first, int) and isinstance(stop, int) and 0 <= first <= stop <= first + _FEW


def _converts(call: Expr, env: Env) -> bool:
    """Whether another type is asked for, which makes a copy."""
    return call.keyword("dtype") is not None or (call.args[0].name != "reshape" and len(call.args) > 2)


def _names_mode(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)
