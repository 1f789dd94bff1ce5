"""Conditions: whether code under an `if` can run in an activation, three-valued."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from enum import Enum
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from dllint.knowledge import KEEPERS, NEW_TEXTS
from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import (
    NOT_FOLLOWED,
    TOP,
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Func,
    Inst,
    Klass,
    Method,
    Mod,
    Opaque,
    Seq,
    Value,
    Values,
)
from dllint.project.evaluate.asked_before import AskedBefore
from dllint.project.evaluate.contents import NOTHING_YET, Contents, is_cut
from dllint.project.evaluate.exclusion import told_by
from dllint.project.evaluate.hierarchy import Answer
from dllint.project.evaluate.shapes import GENERATOR, describe
from dllint.project.program.call_index import Call
from dllint.project.program.events import event_names, leaves
from dllint.project.program.failing import ends_of_attributes, ends_of_names
from dllint.project.program.flow import Decided, chosen_in, decided, is_below_end, left_before, with_asked_above
from dllint.project.program.guards import is_never_equal
from dllint.project.program.module import Module, Write
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_TYPES = {
    "builtins.list": "list", "builtins.tuple": "tuple", "builtins.dict": "dict", "builtins.set": "set",
    "builtins.str": "str", "builtins.int": "int", "builtins.float": "float", "builtins.bool": "bool",
}  # fmt: skip
_TEXTS = frozenset({"builtins.str", "os.getcwd"}).union(
    f"os.path.{name}" for name in ("join", "basename", "dirname", "abspath", "realpath", "normpath", "relpath")
)
"""What returns text."""
_THINGS = _TEXTS.union(
    f"builtins.{name}"
    for name in (
        "open", "len", "int", "float", "bool", "bytes", "list", "tuple", "dict", "set", "frozenset", "range",
        "enumerate", "zip", "map", "filter", "sorted", "reversed", "iter", "isinstance", "hasattr", "callable",
        "abs", "round", "sum", "type", "repr", "any", "all", "id", "hash",
    )
)  # fmt: skip
"""What never returns None."""
_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_OF_TYPES = frozenset({"is", "is not", "==", "!="})
_NEGATED = {"is not": "is", "!=": "==", "not in": "in"}
TESTING = frozenset({"builtins.bool", "builtins.callable", "builtins.isinstance"})
"""Functions that test what they get."""
_KEEPING = frozenset({"staticmethod", "cache", "lru_cache"})
"""Decorators of functions that return what these do."""
_KINDS = ("torch.nn.", "torch.optim.", "torch.utils.data.", "pandas.", "numpy.")
MAX_TESTS = 32
"""Tests around a place that are asked what they leave of a value, the nearest ones."""


class _NotYet(Enum):
    """The answer to a test of what has no value so far, in a cycle that may still give it one: neither way is gone."""

    NOT_YET = "not yet"


NOT_YET = _NotYet.NOT_YET
Truth: TypeAlias = bool | _NotYet | None
"""What a test says, in this order: nothing yet, True or False, and None for both."""


class _Way(NamedTuple):
    """What is met on the way to a place, the same in every activation."""

    block: int
    is_tested: bool
    """Whether there are tests around the block."""
    is_ended: bool
    """Whether the place is below an end that every way to it meets."""
    failing: tuple[Call, ...]
    """The calls above it, on every way, of what bears the name of a function that never returns."""
    known: tuple[Decided, ...]
    """The tests that have left the function before, and those inside its expression."""


class Conditions:
    """Answers whether a test holds, and which values are left where tests have decided the way."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.contents = Contents(evaluator)
        self._failing = OnDemand(self._calls_of_ending)
        self._ways = OnDemand(self._way_to)
        self.asked_before = AskedBefore(evaluator)
        self._known: dict[tuple[Env, int], bool] = {}
        self._truths: dict[tuple[Expr, Env], Truth] = {}
        self._decided: dict[tuple[Expr, int], tuple[Decided, ...]] = {}

    def may_run(self, env: Env, offset: int) -> bool:
        """Whether no test on the way to a place is surely against it."""
        way = self._ways[env.module, env.function, offset]
        if way is None:
            return True
        if way.is_tested and not self._entered(env, way.block):
            return False
        if way.is_ended or any(self._fails(call, env) for call in way.failing):
            return False
        return all(self.allows(known.test, known.holds, env) for known in way.known)

    def _way_to(self, place: tuple[Module, int, int]) -> _Way | None:
        """What is met on the way to a place; None: nothing that says whether it may run."""
        module, function, offset = place
        block = module.block_at(function, offset)
        calls = self._failing[module, function]
        around = {-1, *module.enclosing(block)} if calls else set()
        failing = tuple(call for call in calls if call.event.end <= offset and call.event.block in around)
        before = left_before(module, function, offset, block) if module.leaving[function] else ()
        inside = chosen_in(module, function, offset) if function in module.choices else ()
        is_tested, is_ended = bool(module.tests_around[block]), self._is_below_end(module, function, offset, block)
        way = _Way(block, is_tested, is_ended, failing, (*before, *inside))
        return way if is_tested or is_ended or failing or way.known else None

    def _is_below_end(self, module: Module, function: int, offset: int, block: int) -> bool:
        if function < 0 and offset > self._ends_of_names.get(module.path, offset):
            return True
        if offset > self._ends_of_attributes.get((module.path, function), offset):
            return True
        return is_below_end(module, function, offset, block)

    @cached_property
    def _ends_of_attributes(self) -> dict[tuple[str, int], int]:
        return ends_of_attributes(self.evaluator.index)

    @cached_property
    def _ends_of_names(self) -> dict[str, int]:
        return ends_of_names(self.evaluator.index)

    def calls_of_ending(self, module: Module, function: int) -> list[Call]:
        """The statements of a function that call what bears the name of a function that never returns."""
        return self._failing[module, function]

    def may_never_return(self, event: Event, env: Env) -> bool:
        """Whether a statement may call a function that never returns."""
        call = event.value
        return call is not None and any(map(never_returns, self.evaluator.values(call.args[0], env)))

    def _fails(self, call: Call, env: Env) -> bool:
        """Whether a statement calls a function that never returns."""
        return self._agreed(map(never_returns, self.evaluator.values(call.expr.args[0], env))) in (True, NOT_YET)

    def _calls_of_ending(self, scope: tuple[Module, int]) -> list[Call]:
        """The statements of a function that call one of such a name: the same in every activation."""
        module, function = scope
        calls = (call for name in self._ending & module.calls.keys() for call in module.calls[name])
        whole = (call for call in calls if call.event.kind == "expr" and call.event.value is call.expr)
        return [call for call in whole if call.function == function]

    @cached_property
    def _ending(self) -> frozenset[str]:
        """The names of the functions that never return."""
        functions = (Func(module, item.index) for module in self.evaluator.index for item in module.model.functions)
        return frozenset(func.facts.name for func in functions if never_returns(func))

    def _entered(self, env: Env, block: int) -> bool:
        return self.evaluator.ask(self._known, (env, block), False, self._all_allow, env, block)

    def _all_allow(self, env: Env, block: int) -> bool:
        return all(self.allows(test, holds, env) for test, holds in env.module.tests_around[block])

    def allows(self, test: Expr, holds: bool, env: Env) -> bool:
        """Whether a test may have this answer, as far as is known."""
        answer = self.so_far(test, env)
        return answer is None or answer is holds

    def decided(self, env: Env, offset: int) -> bool:
        """Whether all conditions on the way to a place in a function are known to let it run."""
        return self.evaluator.reached.surely(env, offset)

    def surely_entered(self, env: Env, index: int) -> bool:
        """Whether the tests around a block, if nothing else decides over it, are all known to let it run."""
        blocks = [env.module.block(around) for around in env.module.enclosing(index)]
        return all(
            block.kind == "if" and block.test is not None and self.truth(block.test, env) is True for block in blocks
        )

    def left(self, expr: Expr, env: Env, values: Values) -> Values:
        """The values that a name or attribute may still have where it stands, after the tests on the way there."""
        if expr.name not in env.module.tested[env.function]:
            return values
        left = values
        for known in self._about(expr, env):
            answers = self._answers(known.test, expr.dotted, left, env)
            left = tuple(value for value, answer in zip(left, answers, strict=True) if answer in (None, known.holds))
            if left and all(isinstance(value, NOT_FOLLOWED) and value != TOP for value in left):
                left = _stated(known, expr) or left
        return left or (self.evaluator.unless_open(Opaque(expr, env)) if values else ())

    def tells(self, expr: Expr, env: Env) -> bool:
        """Whether tests on the way to a name or attribute may leave less of its values, in any activation."""
        return expr.name in env.module.tested[env.function] and bool(self._about(expr, env))

    def _about(self, expr: Expr, env: Env) -> tuple[Decided, ...]:
        """The decided tests that say something of a name or attribute where it stands, the same in every activation."""
        key = expr, env.function
        known = self._decided.get(key)
        if known is None:
            known = self._decided[key] = tuple(
                found
                for test in islice(decided(env.module, env.function, expr.start) if expr.dotted else (), MAX_TESTS)
                for found in with_asked_above(env.module, env.function, test)
                if any(part.name == expr.name for part in found.test.walk())
                and not self.changed(expr, env, found.start)
            )
        return known

    def not_replaced(self, values: Values, name: str, tests: Iterable[tuple[Expr, bool]], env: Env) -> Values:
        """The values of one binding that no later one has replaced: after `if x is None: x = ...` x is not None."""
        for test, holds in tests:
            if not self.allows(test, not holds, env):
                return ()
            answers = self._answers(test, name, values, env)
            values = tuple(value for value, answer in zip(values, answers, strict=True) if answer in (None, not holds))
        return values

    def holds_for(self, test: Expr, path: str, values: Values, env: Env) -> bool:
        """Whether a test surely holds if the name or attribute `path` has one of these values."""
        return agreed(self._answers(test, path, values, env)) is True

    def changed(self, expr: Expr, env: Env, start: int) -> bool:
        """Whether a name may be rebound between a test and its use, or an attribute set."""
        root = expr
        while root.kind == "attribute":
            root = root.args[0]
        for event in env.module.events(env.function):
            if start <= event.start and event.end <= expr.start:
                if root.name in event_names(event):
                    return True
                if root is not expr and any(_may_set(part, root.name, expr.name) for part in event.walk()):
                    return True
        return False

    def _answers(self, test: Expr, path: str, values: Values, env: Env) -> Sequence[Truth]:
        """For each value of the name or attribute `path` whether a test of it holds; None where it asks more."""
        if values and test.dotted == path:
            return [truth_of(value) for value in values]
        match test.kind if values else "":
            case "unary" if test.name == "not":
                return [
                    None if inner is None else not inner for inner in self._answers(test.args[0], path, values, env)
                ]
            case "boolop":
                parts = (self._answers(arg, path, values, env) for arg in test.args)
                return [self._combined(test, answers) for answers in zip(*parts, strict=True)]
            case "compare" if len(test.args) == 2 and test.args[0].dotted == path:
                others = self.evaluator.values(test.args[1], env)
                return [self._agreed(self._related(test.name, value, other) for other in others) for value in values]
            case "call" if test.args[0].name == "callable" and len(test.args) == 2 and test.args[1].dotted == path:
                return [is_callable(value) for value in values]
            case "call" if test.args[0].name == "isinstance" and len(test.args) == 3:
                named = self._named_classes(test.args[2], env) if test.args[1].dotted == path else ()
                return [self._is_one(value, named) if named else None for value in values]
            case "call" if test.args[0].name == "issubclass" and len(test.args) == 3 and test.args[1].dotted == path:
                named = self._named_classes(test.args[2], env)
                return [self._is_below_one(value, named) for value in values]
        return [None] * len(values)

    def truth(self, test: Expr, env: Env) -> bool | None:
        """True or False when a test surely is; None when that is not known."""
        answer = self.so_far(test, env)
        return None if answer is NOT_YET else answer

    def so_far(self, test: Expr, env: Env) -> Truth:
        """What a test says as far as its values are known, in a cycle that hasn't come to rest."""
        return self.evaluator.ask(self._truths, (test, env), NOT_YET, self._truth, test, env)

    def known_as(self, answer: Truth, unknown: Value) -> Values:
        """The value of a test that gives an answer; in a cycle that may still give one, none."""
        if answer is NOT_YET:
            return ()
        return (unknown if answer is None else Const(answer, "bool"),)

    def _agreed(self, answers: Iterable[Truth]) -> Truth:
        """The answer that all alternatives give; none give none, but in a cycle that may still have some."""
        given = iter(answers)
        for first in given:
            return agreed(chain((first,), given))  # no more are asked for than it takes
        return self._none()

    def _none(self) -> Truth:
        """The answer where there are no values."""
        return NOT_YET if self.evaluator.fixpoint.is_open() else None

    def _truth(self, test: Expr, env: Env) -> Truth:
        asked = self.asked_before.truth(test, env) if test.kind in ("compare", "name") else None
        if asked is not None:
            return asked
        match test.kind:
            case "unary" if test.name == "not":
                inner = self._truth(test.args[0], env)
                return not inner if isinstance(inner, bool) else inner
            case "walrus":
                return self._truth(test.args[0], env)
            case "boolop":
                return self._combined(test, [self._truth(arg, env) for arg in test.args])
            case "compare":
                return self._compared(test, env)
            case "call" if not all(map(_is_followed, self.evaluator.values(test.args[0], env))):
                return None
        return self._agreed(self._is_true(value, test, env) for value in self.evaluator.values(test, env))

    def told_by(self, name: str, call: Expr, env: Env) -> Truth:
        """What the call of a builtin function that tests something returns."""
        if len(call.args) == 2 and name in ("builtins.bool", "builtins.callable"):
            if name == "builtins.bool":
                return self.so_far(call.args[1], env)
            return self._agreed(map(is_callable, self.evaluator.values(call.args[1], env)))
        if len(call.args) == 3 and name == "builtins.isinstance":
            values = self.evaluator.values(call.args[1], env)
            named = self._named_classes(call.args[2], env) if values else ()
            return self._agreed(self._is_one(value, named) for value in values if named)
        return None

    def _is_true(self, value: Value, test: Expr, env: Env) -> Truth:
        """Whether a value that is tested is true: a container, if it has something."""
        whole = self.contents.at(value, test, env)
        if whole is None:
            return truth_of(value)
        return self._none() if whole == NOTHING_YET else bool(whole.items)

    def _combined(self, test: Expr, parts: Sequence[Truth]) -> Truth:
        decisive = test.name == "or"
        if decisive in parts:
            return decisive
        if NOT_YET in parts:
            return NOT_YET
        return None if None in parts else not decisive

    def _compared(self, test: Expr, env: Env) -> Truth:
        """What a comparison says; one of several parts says what all of them say."""
        names = test.name.split(",")
        pairs = zip(names, test.args, test.args[1:], strict=False)
        found = [self._of_pair(name, left, right, env) for name, left, right in pairs]
        return all_of(found) if len(names) == len(test.args) - 1 else None

    def _of_pair(self, name: str, one: Expr, other: Expr, env: Env) -> Truth:
        if name in ("==", "!=") and (is_never_equal(one, other) or is_never_equal(other, one)):
            return name == "!="
        left, right = self.evaluator.values(one, env), self.evaluator.values(other, env)
        if name in ("in", "not in") and self._given(other, left, env):
            return name == "in"
        if name in _OF_TYPES and one.kind == "call" and len(one.args) == 2:
            if self.evaluator.values(one.args[0], env) == (Ext("builtins.type"),):
                left = self.evaluator.values(one.args[1], env)
                found = self._agreed(self._is_exactly(value, klass) for value in left for klass in right)
                return found is (name in ("is", "==")) if isinstance(found, bool) else found
        return self._agreed(self._related(name, value, against) for value in left for against in right)

    def _is_exactly(self, value: Value, klass: Value) -> bool | None:
        """Whether a class is the type of a value, and no base of it."""
        if isinstance(value, Inst) and isinstance(klass, Klass):
            if value.klass == klass or value.call is None or not self.evaluator.classes.plain(value.klass):
                return (value.klass == klass and value.call is not None) or None
            return False if value.klass.facts is not klass.facts else None  # else a class of another activation
        kind, known = kind_of(value), _TYPES.get(klass.name) if isinstance(klass, Ext) else None
        return None if kind is None or known is None else kind == known

    def _related(self, name: str, one: Value, other: Value) -> Truth:
        """Whether two values are related as an operator says."""
        if name in _NEGATED:
            found = self._related(_NEGATED[name], one, other)
            return not found if isinstance(found, bool) else found
        if name == "is":
            made_anew = any(map(self._is_new_text, (one, other)))
            return False if made_anew and Const in map(type, (one, other)) else _is_same(one, other)
        if name in _ORDERS:
            return _ordered(name, one, other)
        left, right = self.contents.of(one), self.contents.of(other)
        if NOTHING_YET in (left, right):
            return self._none()
        if name == "in":
            if right is not None:
                return right.has(one)
            return _is_part(one, other)
        if name == "==":
            if left is not None and right is not None:
                return left.equals(right)
            if left is not None or right is not None:
                return False if isinstance(one, Const) or isinstance(other, Const) else None
            return _is_equal(one, other)
        return None

    def _is_new_text(self, value: Value) -> bool:
        """Whether a value is a text that is made anew each time, and so no literal.

        Of an attribute of what isn't followed, such as options, it's what all code gives to it: `args.device.type`.
        """
        if not isinstance(value, ExtMethod):
            return False
        if describe(value) in NEW_TEXTS:
            return True
        if not isinstance(value.base, ExtMethod):
            return False
        name = value.base.attribute
        stored = [
            f"{describe(given)}.{value.attribute}"
            for module, write in self.evaluator.index.outside_writes.get(name, ())
            for given in self._stored(module, write)
        ]
        return bool(stored) and NEW_TEXTS.issuperset(stored)

    def _stored(self, module: Module, write: Write) -> Values:
        env, value = self.evaluator.generic(module, write.function), write.event.value
        return self.evaluator.values(value, env) if value is not None else (TOP,)

    def _given(self, mapping: Expr, keys: Values, env: Env) -> bool | None:
        """True if `**kwargs` surely has the keys: the call passes them, and nothing takes them out."""
        arguments = self.evaluator.arguments
        if not keys or not arguments.is_kwargs(mapping, env):
            return None
        given = (isinstance(key, Const) and arguments.from_kwargs(env, str(key.value))[1] for key in keys)
        return True if all(given) else None

    def _named_classes(self, classes: Expr, env: Env) -> list[Value]:
        """The classes that the second argument of `isinstance` names."""
        names = classes.args if classes.kind == "tuple" else (classes,)
        unknown = self.evaluator.unless_open
        return [klass for name in names for klass in self.evaluator.values(name, env) or unknown(Opaque(name, env))]

    def _is_one(self, value: Value, classes: Sequence[Value]) -> bool | None:
        """Whether a value is an instance of one of these classes."""
        answer: bool | None = False
        kind = kind_of(value)
        for klass in classes:
            one = self._is_a(value, kind, klass)
            if one:
                return True
            if one is None:
                answer = None
        return answer if classes else None

    def _is_a(self, value: Value, kind: str | None, klass: Value) -> bool | None:
        """Whether a value is an instance of a class; `kind`: its builtin type."""
        if isinstance(value, Inst):
            return self._made_of(value, klass)
        if kind is None:
            if not isinstance(value, ExtInst):
                return None
            if isinstance(klass, Klass):
                return False if _is_made_by_torch(value.name) else None
            return same_class(value.name, klass.name) if isinstance(klass, Ext) else None
        known = _TYPES.get(klass.name) if isinstance(klass, Ext) else None
        if known is None and not isinstance(klass, Klass):
            return None
        return kind == known or (kind, known) == ("bool", "int")

    def _made_of(self, inst: Inst, klass: Value) -> bool | None:
        below = self._is_below(inst.klass, klass)
        return None if below is False and isinstance(klass, Klass) and inst.call is None else below

    def _is_below(self, one: Klass, klass: Value) -> bool | None:
        """Whether a class is another one or derives from it."""
        if isinstance(klass, Klass):
            return self.evaluator.classes.derives(one, klass) or (False if self.evaluator.classes.plain(one) else None)
        if isinstance(klass, Ext):
            answer = self.evaluator.classes.is_a(one, {klass.name})
            return None if answer is Answer.UNKNOWN else answer is Answer.YES
        return None

    def _is_below_one(self, value: Value, classes: Sequence[Value]) -> bool | None:
        """Whether a value is one of these classes, or one that derives from it."""
        if not isinstance(value, Klass):
            return None
        answers = [self._is_below(value, klass) for klass in classes]
        return True if True in answers else None if None in answers or not answers else False


def _stated(known: Decided, expr: Expr) -> Values:
    """The constant that a name or attribute is, if a test says so: `if method == "thread":`."""
    told = [item for item in told_by(known.test, known.holds) if item.about.dotted == expr.dotted and item.holds]
    constants = [constant for item in told if len(item.constants) == 1 for constant in item.constants]
    return tuple(
        Const(constant, type(constant).__name__) for constant in constants[:1] if not isinstance(constant, bool)
    )


def _is_followed(callee: Value) -> bool:
    """Whether what a call of a value gives is all that is returned there: no other class overrides the method.

    `self` may be an object of a class that derives from its own, in the project or not.
    """
    func = callee.func if isinstance(callee, Method) else callee
    if isinstance(callee, Method) and not (isinstance(callee.owner, Inst) and callee.owner.call is not None):
        return False
    return not isinstance(func, Func) or all(
        (item.args[0] if item.kind == "call" else item).name in _KEEPING for item in func.facts.decorators
    )


def _ordered(name: str, one: Value, other: Value) -> bool | None:
    """Whether one number or text is less or greater than another; None where they are not known."""
    match one, other:
        case Const(value=int() | float() as left), Const(value=int() | float() as right):
            return bool(_ORDERS[name](left, right))
        case Const(value=str(first)), Const(value=str(second)) if not is_cut(one) and not is_cut(other):
            return bool(_ORDERS[name](first, second))
    return None


def _is_same(one: Value, other: Value) -> bool | None:
    """Whether a value is None, True or False, as the other one is."""
    for value, against in ((one, other), (other, one)):
        match against:
            case Const(value=None):
                return is_none(value)
            case Const(value=bool(truth)):
                if isinstance(value, Const):
                    return value.value is truth
                return False if isinstance(value, Func | Klass | Method | Inst | Seq | Mod) else None
    return None


def _is_equal(one: Value, other: Value) -> bool | None:
    """Whether two constants are equal; no function or class is equal to one."""
    match one, other:
        case Const(value=left), Const(value=right):
            return None if is_cut(one) and is_cut(other) else left == right
        case (Const(), Func() | Klass() | Method()) | (Func() | Klass() | Method(), Const()):
            return False
    return None


def _is_part(one: Value, other: Value) -> bool | None:
    """Whether a text is part of another one."""
    match one, other:
        case Const(value=str(part)), Const(value=str(text)) if not is_cut(one):
            return part in text or (None if is_cut(other) else False)
    return None


@lru_cache(4096)
def same_class(one: str, other: str) -> bool | None:
    """Whether an instance of one external class is one of another; torch's kinds of things share no classes.

    Nor do pandas and NumPy with them. What a method of such a thing returns may be anything.
    """
    if one == other:
        return True
    kinds = {next((kind for kind in _KINDS if name.startswith(kind)), None) for name in (one, other)}
    return None if None in kinds or len(kinds) == 1 or "(" in one else False


def _is_made_by_torch(name: str) -> bool:
    """Whether a class of torch itself was called, which makes no object of a class of the project."""
    return name.startswith("torch.") and "(" not in name and name.rpartition(".")[2][:1].isupper()


def _may_set(part: Expr, name: str, attribute: str) -> bool:
    """Whether a part of an event may set an attribute of an object: a call that gets it, or the attribute itself."""
    return part.name == attribute or (part.kind == "call" and any(inner.name == name for inner in part.walk()))


def all_of(answers: Sequence[Truth]) -> Truth:
    """What all say together."""
    if False in answers:
        return False
    return NOT_YET if NOT_YET in answers else None if None in answers else True


def agreed(answers: Iterable[Truth]) -> Truth:
    """The answer that all alternatives give; None where they differ, or there are none; asked until they do."""
    found: Truth = None
    for answer in answers:
        if answer is None or (found is not None and answer is not found):
            return None
        found = answer
    return found


def truth_of(value: Value) -> bool | None:
    """Whether a value is true."""
    match value:
        case Const(value=constant):
            return bool(constant)
        case Func() | Klass() | Method() | Mod():
            return True
        case Ext(name=name) if "." not in name:
            return True  # a module: `import name`
    return None


def never_returns(value: Value) -> bool:
    """Whether a value is a function of a module that always ends with an error or an exit."""
    return isinstance(value, Func) and value.facts.owner < 0 and always_leaves(value)


def always_leaves(func: Func) -> bool:
    """Whether a function always ends with an error or an exit, if no other one overrides it."""
    if func.facts.kind != "def" or func.facts.is_generator:
        return False
    events = func.facts.events
    ends = any(event.block < 0 and leaves(event) for event in events)
    return ends and not func.facts.decorators and all(event.kind != "return" for event in events)


def is_callable(value: Value) -> bool | None:
    """Whether a value can be called."""
    match value:
        case Func() | Klass() | Method():
            return True
        case Const() | Seq():
            return False
    return None


def _is_class(name: str) -> bool:
    """Whether a name is one of a class; `Table()[]` is part of what one gives."""
    return name[:1].isupper() and name.isidentifier()


def is_none(value: Value) -> bool | None:
    """Whether a value is None."""
    match value:
        case Const(value=constant):
            return constant is None
        case Func() | Klass() | Method() | Inst() | Seq() | Ext() | Mod():
            return False
        case ExtInst(name=name) if name in KEEPERS or name in _THINGS or _is_class(name.rpartition(".")[2]):
            return False
    return None


def kind_of(value: Value) -> str | None:
    """The builtin type of a value, or "other" for what surely has none of them."""
    if isinstance(value, Const):
        return "other" if value.value is None else value.kind
    if isinstance(value, ExtInst):
        return "str" if value.name in _TEXTS else "other" if value.name == GENERATOR else None
    if isinstance(value, Seq):
        return value.kind
    return "other" if isinstance(value, Func | Method | Klass) else None
