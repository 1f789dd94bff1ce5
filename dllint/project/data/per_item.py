"""Code that runs once an item, and whether what it works with changes with the item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.model.facts import Block, Event, Expr
from dllint.project.evaluate import Answer
from dllint.project.evaluate.abstract_values import Env, Ext, ExtInst, ExtMethod, Inst, Value
from dllint.project.execution.call_graph import Running
from dllint.project.loaders.arguments import event_of
from dllint.project.program.flow import LOOPS, reaching
from dllint.project.program.module import Binding

if TYPE_CHECKING:
    from dllint.project import Project

_ONCE = frozenset({"__iter__", "worker_init_fn"})
_ENTRIES = frozenset({"__getitem__", "__getitems__", "__call__", "__iter__", "get", "forward"})
_DRAWS = (
    "random.", "numpy.random.", "torch.rand", "torch.multinomial", "torch.normal", "torch.bernoulli", "torch.poisson",
    "secrets.", "uuid.", "time.",
)  # fmt: skip


def runs_per_item(running: Running, event: Event) -> bool:
    """Whether an event of worker code runs for each item or batch: not once a worker, unless in a stream's loop."""
    if running.entry not in _ONCE:
        return True
    return running.entry == "__iter__" and any(block.kind in LOOPS for _, block in around(running, event))


def steps(running: Running, event: Event) -> Iterator[tuple[Env, Event]]:
    """An event of running code, the call that led to its function, the call that led to that, and so on."""
    env: Env | None = running.env
    yield running.env, event
    while env is not None and env.call is not None and env.caller is not None:
        call, env = env.call, env.caller
        found = event_of(env, call)
        if found is None:
            return
        yield env, found


def around(running: Running, event: Event) -> Iterator[tuple[Env, Block]]:
    """The blocks around an event, in its own function and in those that call it."""
    for env, step in steps(running, event):
        for index in env.module.enclosing(step.block):
            yield env, env.module.block(index)


class PerItem:
    """Answers what changes with the item."""

    def __init__(self, project: Project) -> None:
        self.evaluator = project.evaluator
        self._known: dict[tuple[Expr, Env], Answer] = {}

    def remembers(self, running: Running, event: Event) -> bool:
        """Whether code may run only the first time: under a test for what is there already, or behind a cache."""
        for env, step in steps(running, event):
            facts = env.facts
            if any(
                "cache" in part.name or part.name == "property" for item in facts.decorators for part in item.walk()
            ):
                return True
            blocks = [env.module.block(index) for index in env.module.enclosing(step.block)]
            if any(self._asks_what_is_there(env, block) for block in blocks):
                return True
            left = [item for item in facts.events if item.kind == "return" and item.start < step.start]
            if any(self._asks_what_is_there(env, env.module.block(item.block)) for item in left if item.block >= 0):
                return True
        return False

    def _asks_what_is_there(self, env: Env, block: Block) -> bool:
        """A block that may be left out for what was done before, not for an option or what a constant compares to."""
        if block.kind in ("except", "case"):
            return True
        if block.kind == "else":
            block = env.module.block(block.partner) if block.partner >= 0 else block
        if block.kind not in ("if", "else") or block.test is None:
            return False
        test = block.test
        chosen = test.kind == "compare" and test.name in ("==", "!=") and test.args[1].kind == "constant"
        return not chosen and not self._is_option(test, env)

    def _is_option(self, test: Expr, env: Env) -> bool:
        """Whether attributes that only `__init__` sets decide: for all items alike."""
        parts = [part for part in test.walk() if part.kind not in ("boolop", "unary", "constant")]
        return self.varies(test, env) is Answer.NO and all(part.kind in ("name", "attribute") for part in parts)

    def varies(self, expr: Expr, env: Env) -> Answer:
        """Whether an expression of worker code has another value for another item; NO: the same for all of them."""
        return self.evaluator.ask(self._known, (expr, env), Answer.UNKNOWN, self._varies, expr, env)

    def _varies(self, expr: Expr, env: Env) -> Answer:
        match expr.kind:
            case "constant" | "bytes" | "ellipsis" | "none":
                return Answer.NO
            case "name":
                return self._name(expr, env, expr.start)
            case "attribute":
                return self._attribute(expr, env)
            case "call":
                return self._call(expr, env)
            case "lambda" | "comprehension" | "unknown" | "yield" | "await":
                return Answer.UNKNOWN
        return _any(self.varies(part, env) for part in expr.args)

    def _call(self, call: Expr, env: Env) -> Answer:
        given = [*call.args[1:], *(value for _, value in call.keywords)]
        found = _any(self.varies(part, env) for part in given)
        if found is Answer.YES:
            return found
        callees = self.evaluator.values(call.args[0], env)
        if any(map(_is_drawn, callees)):
            return Answer.YES
        if callees and all(isinstance(callee, Ext) for callee in callees):
            return found
        base = self.varies(call.args[0].args[0], env) if call.args[0].kind == "attribute" else Answer.UNKNOWN
        known = callees and all(isinstance(callee, ExtMethod) for callee in callees)
        return _any((found, base)) if known or base is Answer.YES else Answer.UNKNOWN

    def _attribute(self, expr: Expr, env: Env) -> Answer:
        base = expr.args[0]
        if base.kind != "name" or base.name != env.module.receiver_name(env.function):
            return self.varies(base, env)
        receiver = env.receiver
        if not isinstance(receiver, Inst) or self.evaluator.classes.method(receiver, expr.name) is not None:
            return Answer.UNKNOWN
        once = {
            write.function
            for klass in self.evaluator.classes.mro(receiver.klass)
            for write in klass.module.self_writes.get(klass.index, {}).get(expr.name, ())
            if klass.module.model.functions[write.function].name != "__init__"
        }
        if env.function in once and _counts_on(expr, env):
            return Answer.YES
        return Answer.UNKNOWN if once else Answer.NO

    def _name(self, name: Expr, env: Env, at: int | None) -> Answer:
        over = list(_goes_over(name, env))
        if over:
            return _any(self.varies(item, env) for item in over)
        if env.function < 0 or name.name not in env.facts.bound:
            return Answer.UNKNOWN if name.name in env.module.writers_of_globals else self._outer(name, env)
        bindings = env.module.bindings[env.function, -1].get(name.name, ())
        if not bindings:
            return Answer.UNKNOWN
        return _any(self._binding(binding, name, env) for binding in reaching(env.module, env.function, bindings, at))

    def _outer(self, name: Expr, env: Env) -> Answer:
        outer = env.outer
        if outer is not None and outer.function >= 0 and name.name in outer.facts.bound:
            return self._name(name, outer, None)
        return Answer.NO

    def _binding(self, binding: Binding, name: Expr, env: Env) -> Answer:
        event = binding.event
        if binding.kind == "parameter":
            return self._parameter(name.name, env)
        if event is None or event.value is None or binding.kind not in ("assign", "augment", "for", "with"):
            return Answer.NO if binding.kind in ("import", "def", "class") else Answer.UNKNOWN
        if binding.kind == "for" and env.facts.name in ("__iter__", "__next__"):
            return Answer.YES
        return self.varies(event.value, env)

    def _parameter(self, name: str, env: Env) -> Answer:
        facts = env.facts
        if facts.owner >= 0 and name == env.module.receiver_name(env.function):
            return Answer.NO
        if env.call is None or env.caller is None:
            entered = facts.name in _ENTRIES or "collate" in facts.name or self._is_called_by_base(env)
            return Answer.YES if entered or self._passed_by_any(name, env) else Answer.UNKNOWN
        for position, parameter in enumerate(facts.parameters):
            if parameter.name == name and parameter.kind not in ("args", "kwargs"):
                passed = self.evaluator.arguments.passed(env, position, parameter)
                return _any(self.varies(value, where) for value, where in passed) if passed else Answer.UNKNOWN
        return Answer.UNKNOWN

    def _is_called_by_base(self, env: Env) -> bool:
        """Whether a library's code calls a method for each item, and gives it what belongs to that."""
        own = env.receiver
        return isinstance(own, Inst) and env.facts.name in self.evaluator.library_bases.called_per_item(own.klass)

    def _passed_by_any(self, name: str, env: Env) -> bool:
        """Whether some call passes what changes with the item, where the call that leads here was forgotten."""
        found = self.evaluator.arguments.from_any_call(env, name)
        return any(self.varies(value, where) is Answer.YES for value, where in found)


def _is_drawn(callee: Value) -> bool:
    """Whether a call gives something else each time: a random number, of a generator of its own as well."""
    made = callee.base if isinstance(callee, ExtMethod) else callee
    return isinstance(made, (Ext, ExtInst)) and made.name.startswith(_DRAWS)


def _counts_on(attribute: Expr, env: Env) -> bool:
    """Whether code adds to an attribute of its object each time that it runs for an item: `self.position += 1`."""
    for event in env.facts.events:
        if event.kind == "augment" and event.target is not None and event.target.dotted == attribute.dotted:
            kinds = {env.module.block(index).kind for index in env.module.enclosing(event.block)}
            if kinds <= LOOPS | {"with"} and (kinds & LOOPS or env.facts.name not in _ONCE):
                return True
    return False


def _goes_over(name: Expr, env: Env) -> Iterator[Expr]:
    """The expressions that the comprehensions around a name iterate over with it."""
    for comprehension, target, iterable in env.module.comprehensions.get(env.function, ()):
        if comprehension.start <= name.start < comprehension.end and not iterable.start <= name.start < iterable.end:
            if any(part.name == name.name for part in target.walk()):
                yield iterable


def _any(answers: Iterable[Answer]) -> Answer:
    found = set(answers)
    if Answer.YES in found:
        return Answer.YES
    return Answer.UNKNOWN if Answer.UNKNOWN in found else Answer.NO
