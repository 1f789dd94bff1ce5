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


class Signatures:
    """Which calls the signatures of the project's functions rule out."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._binds: dict[tuple[Expr, int, int], bool] = {}
        """By call, function and bound arguments: the same in all activations."""

    def refuses(self, callee: Value, call: Expr) -> bool:
        """Whether a callee of the project surely can't bind the arguments that a call in the code writes."""
        match callee:
            case Klass():
                init = self.evaluator.classes.method(callee, "__init__")
                return init is not None and self._made_by(callee, init) and not self._can_bind(init.func.facts, call, 1)
            case Method(func=func):
                return not self._can_bind(func.facts, call, 0 if decorated(func.facts, "staticmethod") else 1)
            case Func() if callee.facts.owner < 0 and call.args[0].kind == "name":
                return not self._can_bind(callee.facts, call, 0)
        return False

    def is_refused(self, inst: Inst) -> bool:
        """Whether a class surely has no parameter for what it is made with, perhaps by a partial."""
        init = self.evaluator.classes.method(inst, "__init__")
        if init is None or inst.call is None or inst.env is None or inst.env.module.settings:
            return False
        made = inst.call.kind == "call" and self._made_by(inst.klass, init)
        return made and _has_too_much(init.func.facts, inst.call, 1)

    def _made_by(self, klass: Klass, init: Method) -> bool:
        """Whether calling a class calls its `__init__` with the same arguments."""
        classes = self.evaluator.classes
        if not classes.plain(klass) or changed(init.func.facts):
            return False
        own = klass.facts.methods.get("__init__") == init.func.index and klass.module is init.func.module
        external = classes.external_bases(klass)
        return all(name.startswith(_USUAL if own else ("builtins.object", "abc.ABC")) for name in external) and not any(
            item.facts.decorators or item.facts.keywords or "__new__" in item.facts.methods
            for item in classes.mro(klass)
        )

    def _can_bind(self, function: Function, call: Expr, bound: int) -> bool:
        key = call, id(function), bound
        if key not in self._binds:
            self._binds[key] = changed(function) or self.fits(function, call, bound)
        return self._binds[key]

    def fits(self, function: Function, call: Expr, bound: int = 0) -> bool:
        """Whether a function may take the arguments of a call as it is written, whatever decorates it."""
        return not (_has_too_much(function, call, bound) or _lacks_some(function, call, bound))


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
