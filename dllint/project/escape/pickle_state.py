"""The attributes that an object's own `__getstate__` leaves out of its pickle, for the usual ways of writing one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.knowledge import DROP_STATE
from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Inst, Klass, Method

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_COPIERS = frozenset({"dict", "copy", "deepcopy"})


def left_out(evaluator: Evaluator, inst: Inst | Klass) -> frozenset[str] | None:
    """The attributes that do not go along when an object is pickled; None where its class decides in unknown ways.

    Known are copies of `__dict__` with entries that are replaced or taken out.
    """
    if (inst.klass if isinstance(inst, Inst) else inst) in evaluator.classes.pickled_by_others:
        return None
    own = [name for name in DROP_STATE if evaluator.classes.method(inst, name) is not None]
    if own != ["__getstate__"]:
        return None if own else frozenset()
    method = evaluator.classes.method(inst, "__getstate__")
    assert method is not None
    chain = evaluator.classes.mro(inst.klass if isinstance(inst, Inst) else inst)
    if "super" in method.func.facts.loads and sum("__getstate__" in klass.facts.methods for klass in chain) > 1:
        return None
    receiver = method.func.module.receiver_name(method.func.index)
    events = method.func.facts.events
    ends = [event.value for event in events if event.kind == "return" and event.value is not None]
    if len(ends) != 1:
        return None
    whole = _replaced(ends[0], receiver)
    if whole is None:
        copies = (event for event in events if event.kind == "assign" and event.target is not None)
        first = next((event for event in copies if _is_name(event.target, ends[0].dotted)), None)
        whole = _replaced(first.value, receiver) if first is not None else None
        events = tuple(event for event in events if event is not first)
    taken = [_taken(event, ends[0].dotted, receiver) for event in events if event.kind != "return"]
    return None if whole is None or None in taken else whole | {name for name in taken if name}


def pickled_by(evaluator: Evaluator, inst: Inst) -> Method | None:
    """The method of an object's class that says what its pickle has, instead of its attributes."""
    if inst.klass in evaluator.classes.pickled_by_others:
        return None
    found = (evaluator.classes.method(inst, name) for name in ("__reduce_ex__", "__reduce__", "__getstate__"))
    return next((method for method in found if method is not None), None)


def _is_name(target: Expr | None, name: str) -> bool:
    return target is not None and name != "" and target.dotted == name


def _replaced(made: Expr | None, receiver: str) -> frozenset[str] | None:
    """The entries that a copy of `__dict__` has new values for; None for something else."""
    match made:
        case Expr(kind="attribute") if _is_dict(made, receiver):
            return frozenset()
        case Expr(kind="dict", args=(Expr(kind="star"), whole, *entries)) if _is_dict(whole, receiver):
            keys = entries[::2]
            plain = all(isinstance(key.value, str) and key.kind == "constant" for key in keys)
            return frozenset(str(key.value) for key in keys) if plain else None
        case Expr(kind="call", args=(Expr(name="__getstate__", args=(Expr(kind="call", args=(base,)),)),)):
            return frozenset() if base.name == "super" else None
        case Expr(kind="call", args=(callee, *given), keywords=()):
            if callee.kind == "attribute" and callee.name == "copy" and not given:
                given = [callee.args[0]]
            copied = callee.name in _COPIERS and len(given) == 1 and _is_dict(given[0], receiver)
            return frozenset() if copied else None
    return None


def _is_dict(expr: Expr, receiver: str) -> bool:
    """`self.__dict__` or `vars(self)`."""
    if expr.kind == "call":
        return expr.args[0].dotted == "vars" and [arg.dotted for arg in expr.args[1:]] == [receiver]
    return expr.dotted == f"{receiver}.__dict__"


def _taken(event: Event, state: str, receiver: str) -> str | None:
    """The entry that a statement replaces or takes out, "" for one that has nothing to do with it, None for others."""
    target, value = event.target, event.value
    if target is not None and target.kind == "attribute" and target.args[0].dotted == receiver:
        return target.name  # set to something else just before
    if event.kind == "test" or not state or all(part.dotted != state for part in event.walk()):
        return ""
    if event.kind in ("assign", "del") and target is not None and target.kind == "subscript":
        return _entry(target.args[0], target.args[1], state)
    if event.kind in ("expr", "assign") and value is not None and value.kind == "call":
        callee = value.args[0]
        if callee.kind == "attribute" and callee.name == "pop" and len(value.args) > 1:
            return _entry(callee.args[0], value.args[1], state)
    return None


def _entry(base: Expr, key: Expr, state: str) -> str | None:
    return key.value if base.dotted == state and isinstance(key.value, str) and key.value else None
