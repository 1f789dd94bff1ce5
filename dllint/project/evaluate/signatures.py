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
        self._never_made: dict[Klass, bool] = {}

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

    def is_never_made(self, klass: Klass) -> bool:
        """Whether there are no objects of a class: its `__init__` gives the next one less than that needs."""
        return self.evaluator.kept(self._never_made, klass, self._is_never_made, klass)

    def _is_never_made(self, klass: Klass) -> bool:
        init = self.evaluator.classes.method(klass, "__init__")
        return init is not None and self._made_by(klass, init) and self._lacks_its_own(klass, init.func)

    def _lacks_its_own(self, klass: Klass, init: Func) -> bool:
        """Whether an `__init__` always calls the next one with `**rest`, which lacks what its own parameters take."""
        chain = [base for base in self.evaluator.classes.mro(klass) if "__init__" in base.facts.methods]
        here = next(place for place, base in enumerate(chain) if base.facts.methods["__init__"] == init.index)
        if len(chain[here].facts.bases) != 1 or here + 1 == len(chain):
            return False
        following = chain[here + 1]
        target = following.module.model.functions[following.facts.methods["__init__"]]
        calls = (event.value for event in init.facts.events if event.kind == "expr" and event.block < 0)
        return not changed(target) and any(
            call is not None and _is_of_super(call) and _keeps_back(init.facts, call, target) for call in calls
        )

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


def _is_of_super(call: Expr) -> bool:
    """`super().__init__(...)`."""
    if call.kind != "call" or call.args[0].name != "__init__":
        return False
    owner = next(iter(call.args[0].args), None)
    return owner is not None and owner.kind == "call" and owner.args[0].name == "super"


def _keeps_back(function: Function, call: Expr, target: Function) -> bool:
    """Whether a call that hands on all of a function's `**rest` lacks what a parameter of the function has taken."""
    rest = next((item.name for item in function.parameters if item.kind == "kwargs"), "")
    mentions = [part for event in function.events for part in event.walk() if part.name == rest]
    unpacked = [value for key, value in call.keywords if key == "**"]
    if any(arg.kind == "star" for arg in call.args) or not unpacked or mentions != unpacked:
        return False
    own = {item.name for item in function.parameters if item.kind in ("positional", "keyword")}
    places = [item for item in target.parameters if item.kind in ("positional", "posonly")]
    left = [*places[len(call.args) :], *(item for item in target.parameters if item.kind == "keyword")]
    given = {key for key, _ in call.keywords}
    return any(item.default is None and item.name in own - given for item in left)
