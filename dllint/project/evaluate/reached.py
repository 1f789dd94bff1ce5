"""Whether a place is surely reached: every condition on the way to it is decided, one that is not leaves a doubt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.evaluate.abstract_values import Env, Ext, ExtInst, Func, Inst, Klass, Method, Seq, Value
from dllint.project.evaluate.attributes import may_be_same
from dllint.project.evaluate.shapes import Argument
from dllint.project.program.events import leaves
from dllint.project.program.flow import LOOPS, chosen_in, clauses_before, ends_before
from dllint.project.program.guards import is_main_test, is_other_test
from dllint.project.program.module import JUMPS, Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_FROM_OUTSIDE = (
    "os.listdir", "os.scandir", "os.walk", "glob.", "sys.argv", "json.load", "yaml.", "pickle.load",
    "pathlib.Path().glob", "pathlib.Path().rglob", "pathlib.Path().iterdir",
)  # fmt: skip
"""What lists what there is, or reads it."""
_MADE = frozenset(f"builtins.{name}" for name in ("dict", "list", "set", "tuple"))
_WRAPPING = _MADE | {f"builtins.{name}" for name in ("enumerate", "map", "reversed", "sorted", "zip")} | {
    "tqdm.tqdm", "tqdm.auto.tqdm",
}  # fmt: skip
_VIEWS = (".items", ".keys", ".values")

_CALL_NO_HOOKS = ("abc.", "builtins.object", "torch.utils.data.", "typing.")
"""Bases that call no method by a name of their users' own."""

Test = tuple[Expr, bool]
Beginnings = frozenset[tuple[str, int]]
"""Functions, by file and number, that nothing is seen to call, each of which surely leads to a place if it runs; with
`ALWAYS`, the place is surely reached whatever runs, and with none, it may not be."""
ALWAYS: Final = ("", -1)
_ALWAYS: Final = Beginnings({ALWAYS})
_NEVER_SURE: Final = Beginnings()


class _End(NamedTuple):
    """A statement that may end the way to a place."""

    event: Event
    tests: tuple[Test, ...]
    """The tests under which it runs, each with the answer that it needs."""


class _Way(NamedTuple):
    """What is met on the way to a place, the same in every activation."""

    is_open: bool
    """Whether something decides over it that is not a test: an error, a pattern, a `break`."""
    tests: tuple[Test, ...]
    iterables: tuple[Expr, ...]
    """What the loops around it go over."""
    ends: tuple[_End, ...]


class Reached:
    """Answers whether code surely runs: a place in its activation, and an activation on the object it works on."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._ways = OnDemand(self._way_to)
        self._filled: dict[Value, bool] = {}
        self._begun: dict[tuple[int, Value | None], Beginnings] = {}

    def surely(self, env: Env, offset: int) -> bool:
        """Whether all conditions on the way to a place in an activation are known to let it run."""
        way = self._ways[env.module, env.function, offset]
        return (
            not way.is_open
            and all(self._holds(test, env) for test in way.tests)
            and not any(self._may_be_empty(iterable, env) for iterable in way.iterables)
            and not any(self._may_end(end, env) for end in way.ends)
        )

    def _way_to(self, place: tuple[Module, int, int]) -> _Way:
        module, function, offset = place
        innermost = module.block_at(function, offset)
        blocks = [module.block(index) for index in module.enclosing(innermost)]
        is_open = any(
            block.kind in ("except", "tryelse")
            or (block.kind == "case" and block.test is None)
            or (block.kind == "forelse" and _has_break(module, function, block.partner))
            for block in blocks
        )
        inside = ((known.test, known.holds) for known in chosen_in(module, function, offset))
        iterables = [block.test for block in blocks if block.kind == "for" and block.test is not None]
        for comprehension in {clause.comprehension: None for clause in module.comprehensions.get(function, ())}:
            if comprehension.start <= offset < comprehension.end:
                iterables += [part for key, part in clauses_before(comprehension, offset) if key == "in"]
        calls = [call.event for call in self.evaluator.conditions.calls_of_ending(module, function)]
        ends = ends_before(module, function, offset, (*module.ending[function], *calls))
        return _Way(
            is_open,
            (*module.tests_around[innermost], *inside),
            tuple(iterables),
            tuple(_End(event, tuple(tests)) for event, tests in ends if not any(map(_asks_where_it_runs, tests))),
        )

    def _holds(self, test: Test, env: Env) -> bool:
        return self.evaluator.conditions.truth(test[0], env) is test[1] or _asks_where_it_runs(test)

    def _may_end(self, end: _End, env: Env) -> bool:
        """Whether it isn't known that a statement doesn't run, or lets its code go on."""
        truth = self.evaluator.conditions.truth
        if any(truth(test, env) is (not holds) for test, holds in end.tests):
            return False
        event = end.event
        if event.kind == "assert":
            return event.value is not None and truth(event.value, env) is not True
        return leaves(event) or event.kind in JUMPS or self.evaluator.conditions.may_never_return(event, env)

    # Loops.

    def _may_be_empty(self, iterable: Expr, env: Env) -> bool:
        """Whether a loop goes over what comes from outside of the program, or is filled in some cases only."""
        return not all(map(self._has_some, self.evaluator.values(iterable, env)))

    def _has_some(self, value: Value) -> bool:
        """Whether nothing says that a loop over a value may go over nothing."""
        match value:
            case Seq() | ExtInst():
                return self.evaluator.ask(self._filled, value, False, self._find_some, value)
            case Ext(name=name):
                return not name.startswith(_FROM_OUTSIDE)
        return True

    def _find_some(self, value: Seq | ExtInst) -> bool:
        if isinstance(value, Seq):
            return self._goes_over(value) or self._is_filled(value)
        if value.name.startswith(_FROM_OUTSIDE):
            return False
        if value.name.endswith(_VIEWS) and isinstance(value.base, Seq | ExtInst):
            return self._has_some(value.base)
        if value.name in _WRAPPING and len(value.call.args) > 1:
            return not self._may_be_empty(value.call.args[1], value.env) or self._is_filled(value)
        if value.name in _MADE and not value.call.keywords:
            return self._is_filled(value)
        return True

    def _goes_over(self, seq: Seq) -> bool:
        """Whether a display has an element, and a comprehension makes one."""
        expr, env = seq.expr, seq.env
        if expr.kind == "comprehension":
            parts = expr.keywords
            return all(self._holds((part, True), env) for key, part in parts if key == "if") and not any(
                self._may_be_empty(part, env) for key, part in parts if key == "in"
            )
        given = expr.args[::2] if expr.kind == "dict" else expr.args
        return any(part.kind != "star" or not self._may_be_empty(part.args[0], env) for part in given)

    def _is_filled(self, container: Seq | ExtInst) -> bool:
        """Whether something is surely put into a container."""
        return any(self.is_put_into(container, item) for item in self.evaluator.containers.put_in(container))

    # The calls on the way to what fills an object.

    def is_put_into(self, container: Seq | ExtInst, item: Argument) -> bool:
        """Whether what fills a container surely does, from where that is made."""
        expr, env = item
        return bool(self.beginnings(container, env, expr.start))

    def always(self, env: Env, offset: int) -> bool:
        """Whether a place is surely reached from the start of the program, or from what its users call."""
        return bool(self.beginnings(None, env, offset))

    def beginnings(self, made: Value | None, env: Env, offset: int) -> Beginnings:
        """Where the ways to a place begin that are decided, from where the object is made that is worked on there."""
        return self._led_to(made, env) if self.surely(env, offset) else _NEVER_SURE

    def _led_to(self, made: Value | None, env: Env) -> Beginnings:
        """Where the calls that lead to an activation begin, as far as all of them are decided."""
        return self.evaluator.ask(self._begun, (id(env), made), _NEVER_SURE, self._find_led_to, made, env)

    def _find_led_to(self, made: Value | None, env: Env) -> Beginnings:
        if env.function < 0 or any(env is other for other in _making(made)) or _makes_its_owner(made, env):
            return _ALWAYS
        if env.call is not None and env.caller is not None:
            return self.beginnings(made, env.caller, env.call.start)
        if env.outer is not None and env.outer.function >= 0 and not self._led_to(made, env.outer):
            return _NEVER_SURE
        seen = self.evaluator.call_sites.known(env.module, env.function)
        if not seen and not self._calls_on_itself(env):
            return self._called_unseen(env)
        found = _NEVER_SURE
        for call, caller in self._calls_of(made, env):
            found |= self.beginnings(made, caller, call.start)
            if ALWAYS in found:
                return _ALWAYS
        return found

    def _called_unseen(self, env: Env) -> Beginnings:
        """Where the calls begin of what nothing is seen to call: Python, operators and libraries call some of it."""
        place = env.module, env.function
        if self.evaluator.call_sites.too_many(*place) or self.evaluator.carried.limit(*place):
            return _NEVER_SURE
        facts = env.facts
        by_python = facts.decorators or facts.name.startswith("__")
        return _ALWAYS if by_python or self._may_be_hook(env) else Beginnings({(env.module.path, env.function)})

    def _may_be_hook(self, env: Env) -> bool:
        """Whether a library may call a method that an object of the project has in the place of the library's own."""
        if env.facts.owner < 0:
            return False
        own = self.evaluator.klass(env.module, env.facts.owner)
        klass = env.receiver.klass if isinstance(env.receiver, Inst) else own
        classes = self.evaluator.classes
        return not classes.plain(klass) or not all(
            name.startswith(_CALL_NO_HOOKS) for name in classes.external_bases(klass)
        )

    def _calls_of(self, made: Value | None, env: Env) -> Iterator[tuple[Expr, Env]]:
        """The calls that may lead to an activation, each in the activation that makes it, as far as that is known."""
        near = {(other.module, other.function): other for other in (*_making(made), *_outer(env))}
        yield from self._calls_on_itself(env)
        for site, _ in self.evaluator.call_sites.known(env.module, env.function):
            caller = near.get((site.module, site.function)) or self.evaluator.generic(site.module, site.function)
            if any(self._may_be_on(value, env) for value in self.evaluator.calls.callees(site.expr, caller)):
                yield site.expr, caller

    def _calls_on_itself(self, env: Env) -> list[tuple[Expr, Env]]:
        """The calls of a method by methods of its object, or of the classes that these are from."""
        owner, facts = env.receiver, env.facts
        if not isinstance(owner, Inst) or facts.owner < 0:
            return []
        found = []
        for klass in self.evaluator.classes.mro(owner.klass):
            for call in klass.module.calls.get(facts.name, ()):
                if klass.module.method_owner(call.function) == klass.index:
                    caller = self.evaluator.activations.method_env(owner, klass.module, call.function)
                    callees = self.evaluator.calls.callees(call.expr, caller)
                    if any(self._may_be_on(value, env) for value in callees):
                        found.append((call.expr, caller))
        return found

    def _may_be_on(self, callee: Value, env: Env) -> bool:
        """Whether a callee is the function of an activation, on an object that may be its own."""
        func = callee.func if isinstance(callee, Method) else callee
        if isinstance(func, Klass):
            return True
        if not isinstance(func, Func) or func.module is not env.module or func.index != env.function:
            return False
        owner, own = callee.owner if isinstance(callee, Method) else None, env.receiver
        if not isinstance(owner, Inst) or not isinstance(own, Inst):
            return True
        derives = self.evaluator.classes.derives
        return may_be_same(owner, own, False) and (derives(owner.klass, own.klass) or derives(own.klass, owner.klass))


def _has_break(module: Module, function: int, loop: int) -> bool:
    """Whether a loop may end with a `break`: else what is below its `else` always runs."""
    for event in module.events(function):
        if event.kind == "break":
            around = (index for index in module.enclosing(event.block) if module.block(index).kind in LOOPS)
            if next(around, -1) == loop:
                return True
    return False


def _making(made: Value | None) -> Iterator[Env]:
    """The activation that makes a value, and those that lead to it."""
    where: Env | None = getattr(made, "env", None)
    while where is not None:
        yield where
        where = where.caller


def _makes_its_owner(made: Value | None, env: Env) -> bool:
    """Whether an activation is the `__init__` of an object, or of one whose method makes it."""
    owner = env.receiver
    if not isinstance(owner, Inst) or env.facts.name != "__init__" or env.call not in (None, owner.call):
        return False
    return owner == made or any(owner == other.receiver for other in _making(made))


def _outer(env: Env) -> Iterator[Env]:
    """The activations of the functions around one."""
    where = env.outer
    while where is not None:
        yield where
        where = where.outer


def _asks_where_it_runs(test: Test) -> bool:
    """Whether a test tells the main script from an import or another process: it decides over no way of its own."""
    return is_main_test(test[0]) or is_other_test(test[0])
