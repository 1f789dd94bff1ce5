"""Whether a function takes the arguments of a call. If not, the call raises `TypeError` before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr, Function
from dllint.project.evaluate.abstract_values import Func, Inst, Klass, Method, Value
from dllint.project.evaluate.shapes import decorated

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_USUAL = ("builtins.", "abc.", "typing.", "torch.", "multiprocessing.", "threading.")
"""Where bases come from whose metaclasses hand the arguments of a call to `__init__` as they are."""


def refuses(evaluator: Evaluator, callee: Value, call: Expr) -> bool:
    """Whether a callee of the project surely can't bind the arguments that a call in the code writes."""
    match callee:
        case Klass():
            init = evaluator.classes.method(callee, "__init__")
            return init is not None and _made_by(evaluator, callee, init) and _cannot_bind(init.func.facts, call, 1)
        case Method(func=func):
            return _cannot_bind(func.facts, call, 0 if decorated(func.facts, "staticmethod") else 1)
        case Func() if callee.facts.owner < 0 and call.args[0].kind == "name":
            return _cannot_bind(callee.facts, call, 0)
    return False


def is_refused(evaluator: Evaluator, inst: Inst) -> bool:
    """Whether a class surely has no parameter for what it is made with, perhaps by a partial."""
    init = evaluator.classes.method(inst, "__init__")
    if init is None or inst.call is None or inst.env is None or inst.env.module.settings or inst.call.kind != "call":
        return False
    return _made_by(evaluator, inst.klass, init) and _has_too_much(init.func.facts, inst.call, 1)


def _made_by(evaluator: Evaluator, klass: Klass, init: Method) -> bool:
    """Whether calling a class calls its `__init__` with the same arguments."""
    if not evaluator.classes.plain(klass) or changed(init.func.facts):
        return False
    own = klass.facts.methods.get("__init__") == init.func.index and klass.module is init.func.module
    external = evaluator.classes.external_bases(klass)
    return all(name.startswith(_USUAL if own else ("builtins.object", "abc.ABC")) for name in external) and not any(
        item.facts.decorators or item.facts.keywords or "__new__" in item.facts.methods
        for item in evaluator.classes.mro(klass)
    )


def _cannot_bind(function: Function, call: Expr, bound: int) -> bool:
    return not changed(function) and (_has_too_much(function, call, bound) or _lacks_some(function, call, bound))


def changed(function: Function) -> bool:
    """Whether decorators may have made something else of a function."""
    return any(item.name not in ("staticmethod", "classmethod") for item in function.decorators)


def _has_too_much(function: Function, call: Expr, bound: int) -> bool:
    """Whether a call passes a keyword that is no parameter, or more than there are places for."""
    kinds = {parameter.kind for parameter in function.parameters}
    named = {parameter.name for parameter in function.parameters if parameter.kind in ("positional", "keyword")}
    unknown = any(name != "**" and name not in named for name, _ in call.keywords) and "kwargs" not in kinds
    places = sum(parameter.kind in ("positional", "posonly") for parameter in function.parameters)
    given = sum(arg.kind != "star" for arg in call.args[1:])
    return unknown or (given + bound > places and "args" not in kinds)


def _lacks_some(function: Function, call: Expr, bound: int) -> bool:
    """Whether a call that unpacks nothing passes nothing for a parameter without a default."""
    given = {name for name, _ in call.keywords}
    if "**" in given or any(arg.kind == "star" for arg in call.args):
        return False
    places = [parameter for parameter in function.parameters if parameter.kind in ("positional", "posonly")]
    left = [*places[bound + len(call.args) - 1 :], *(item for item in function.parameters if item.kind == "keyword")]
    return any(parameter.default is None and parameter.name not in given for parameter in left)
