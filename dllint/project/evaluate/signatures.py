"""Whether a class takes the arguments of a call. If not, the call raises `TypeError`: nothing behind it is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dllint.model.facts import Expr, Function
from dllint.project.evaluate.abstract_values import Inst

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


def is_refused(evaluator: Evaluator, inst: Inst) -> bool:
    """Whether the `__init__` of an object's class surely has no parameter for what its call passes."""
    method = evaluator.classes.method(inst, "__init__")
    if method is None or inst.call is None or inst.env is None or inst.env.module.settings:
        return False
    classes = evaluator.classes.mro(inst.klass)
    if not evaluator.classes.plain(inst.klass) or any(
        item.facts.decorators or item.facts.keywords or "__new__" in item.facts.methods for item in classes
    ):
        return False
    return _lacks_parameter(method.func.facts, inst.call)


def _lacks_parameter(init: Function, call: Expr) -> bool:
    kinds = {parameter.kind for parameter in init.parameters}
    if init.decorators or call.kind != "call":
        return False
    named = {parameter.name for parameter in init.parameters if parameter.kind in ("positional", "keyword")}
    unknown = any(name != "**" and name not in named for name, _ in call.keywords) and "kwargs" not in kinds
    places = sum(parameter.kind in ("positional", "posonly") for parameter in init.parameters)
    given = len([arg for arg in call.args if arg.kind != "star"])  # the callee stands for the receiver
    return unknown or (given > places and "args" not in kinds)
