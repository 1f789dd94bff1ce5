"""What a process passes to the function that it was sent: `pool.map(f, rows)` calls `f(row)` there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr

if TYPE_CHECKING:
    from dllint.project.execution.processes import Task

_WITH_AN_ITEM = frozenset({"Pool.map", "Pool.map_async", "Pool.imap", "Pool.imap_unordered"})
_PACKED = {
    "Process": (3, "args", 4, "kwargs"),
    "Pool.apply": (1, "args", 2, "kwds"),
    "Pool.apply_async": (1, "args", 2, "kwds"),
}
"""What gets the arguments as a tuple and a dictionary: where, and by which names."""
_EXECUTOR = "ProcessPoolExecutor"


def call_in_process(task: Task, target: Expr) -> Expr | None:
    """The call of a target that the process makes, as far as the task's own call writes it; None: not known."""
    call = task.call
    if task.name in _WITH_AN_ITEM:
        return _call(call, target, (_item(call),))
    if task.name == f"{_EXECUTOR}.map":
        given = (arg if arg.kind == "star" else _item(call) for arg in call.args[2:])
        return _call(call, target, tuple(given)) if call.keyword("fn") is None else None
    if task.name == f"{_EXECUTOR}.submit":
        return _call(call, target, call.args[2:], call.keywords) if call.keyword("fn") is None else None
    if task.name in _PACKED and call.keyword("**") is None and all(arg.kind != "star" for arg in call.args):
        at, name, keywords_at, keywords_name = _PACKED[task.name]
        args, keywords = _given(call, at, name), _given(call, keywords_at, keywords_name)
        return _call(call, target, _elements(args), _entries(keywords))
    return None


def _call(call: Expr, target: Expr, args: tuple[Expr, ...], keywords: tuple[tuple[str, Expr], ...] = ()) -> Expr:
    return Expr("call", call.start, call.end, args=(target, *args), keywords=keywords)


def _item(call: Expr) -> Expr:
    return Expr("unknown", call.start, call.end)


def _given(call: Expr, position: int, name: str) -> Expr | None:
    return next(iter(call.args[position + 1 : position + 2]), None) or call.keyword(name)


def _elements(packed: Expr | None) -> tuple[Expr, ...]:
    """The arguments in a tuple; one that isn't written out may have any."""
    if packed is None or packed.kind in ("tuple", "list"):
        return packed.args if packed is not None else ()
    return (Expr("star", packed.start, packed.end, args=(packed,)),)


def _entries(packed: Expr | None) -> tuple[tuple[str, Expr], ...]:
    """The keywords in a dictionary; one that isn't written out may have any."""
    if packed is None:
        return ()
    pairs = list(zip(packed.args[::2], packed.args[1::2], strict=True)) if packed.kind == "dict" else []
    if packed.kind != "dict" or not all(isinstance(key.value, str) and key.kind == "constant" for key, _ in pairs):
        return (("**", packed),)
    return tuple((str(key.value), value) for key, value in pairs)
