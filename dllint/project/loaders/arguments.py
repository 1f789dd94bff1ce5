"""The known values of a loader's parameters, and the tests that decide about them.

Two arguments may take their alternatives from one test (`2 if workers else None`): then they never meet the way that
their values suggest. `related` says so, generously: what is related is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dllint.model.facts import Event, Expr
from dllint.project.evaluate import Answer, Argument, Evaluator
from dllint.project.evaluate.abstract_values import NOT_FOLLOWED, Const, Env, Ext, ExtMethod, Free, Inst, Opaque, Value
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.loaders.option_defaults import Declared
from dllint.project.loaders.own_number import OwnNumber
from dllint.project.loaders.worker_counts import Workers
from dllint.project.program.flow import reaching

TORCH_LOADERS = frozenset({
    "torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader", "monai.data.DataLoader",
    "torchdata.stateful_dataloader.StatefulDataLoader",
})  # fmt: skip
"""Loaders that check their arguments as torch's does (read in their sources)."""
_OF_WORKERS = frozenset({"persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout"})
"""Arguments that mean nothing without workers: what they are where there are some is asked."""
MAX_DEPTH = 4
_NUMERIC = frozenset({"int", "bool", "max", "min", "len", "float", "round"})


class Alternative(NamedTuple):
    """One of the values that an argument may have; `value` None: not passed, so the default counts."""

    value: Value | None
    expr: Expr | None = None
    env: Env | None = None
    declared: bool = False
    """The default of an option that the command line may change."""

    @property
    def known(self) -> bool:
        """Whether it is what the project says, and nothing else may set it."""
        return not self.declared and not isinstance(self.value, NOT_FOLLOWED)


class Given:
    """Answers for the arguments of loaders."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries, declared: Declared) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.declared = declared

    def checked_by_torch(self, loader: Loader) -> bool:
        """Whether torch's own `__init__` gets the arguments and checks them."""
        if loader.instance is not None:
            return any(name in TORCH_LOADERS for name in self.evaluator.classes.external_bases(loader.instance.klass))
        callees = self.evaluator.values(loader.call.args[0], loader.env)
        return bool(callees) and all(isinstance(value, Ext) and value.name in TORCH_LOADERS for value in callees)

    def runs(self, loader: Loader) -> bool:
        """Whether no test around the call is surely against it."""
        event = event_of(loader.env, loader.call)
        return event is None or self.evaluator.conditions.may_run(loader.env, event.start)

    def alternatives(self, loader: Loader, name: str) -> list[Alternative]:
        """The values that a loader may get for a parameter; `Opaque` if an unknown `**mapping` may pass it."""
        found, surely = self.boundaries.argument(loader, name)
        own = self._own_number(loader) if name in _OF_WORKERS else None
        every = [item for expr, env in found for item in self._values(expr, env, own)]
        if not surely:
            opened = self.boundaries.open_ended(loader)
            every.append(Alternative(Opaque(loader.call, loader.env) if opened else None))
        known = [item for item in every if not isinstance(item.value, Free)]
        return known or every

    def _own_number(self, loader: Loader) -> OwnNumber:
        numbers, _ = self.boundaries.argument(loader, loader.boundary.workers)
        return OwnNumber(self.evaluator, numbers, not self.without_workers(loader))

    def _values(self, expr: Expr, env: Env, own: OwnNumber | None) -> Iterator[Alternative]:
        expr = _chosen(expr, env, own) if own is not None else expr
        for value in self._with_own_number(expr, env, own):
            name = _option_name(value)
            defaults = self.declared.option(name, value) if name else self.declared.parameter(value)
            if not defaults:
                yield Alternative(value, expr, env)
            for default, where in defaults:
                for item in self.evaluator.values(default, where):
                    yield Alternative(item, expr, env, True)

    def _with_own_number(self, expr: Expr, env: Env, own: OwnNumber | None) -> Iterator[Value]:
        """The values of an expression; those that ask for the loader's own number of workers are known."""
        whole = own.truth(expr, env) if own is not None else None
        values = self.evaluator.values(expr, env) if whole is None else (Const(whole, "bool"),)
        for value in values:
            holds = own.of_value(value) if own is not None else None
            yield value if holds is None else Const(holds, "bool")

    def without_workers(self, loader: Loader) -> bool:
        """Whether the number of workers is known to be 0."""
        if self.boundaries.open_ended(loader):
            return False
        items = self.alternatives(loader, loader.boundary.workers)
        return loader.workers is Workers.NONE or all(_is_none_or_zero(item.value) for item in items)

    def for_no_workers(self, loader: Loader, name: str) -> Alternative | None:
        """The constant that `x if workers > 0 else y` names for no workers."""
        own = self._own(self.alternatives(loader, loader.boundary.workers))
        for expr, env in self.boundaries.argument(loader, name)[0]:
            choice = _last_assigned(expr, env)
            if choice.kind == "ifexp" and own & names_in(choice.args[0]):
                if tests_positive(choice.args[0]) and choice.args[2].kind == "constant":
                    return Alternative(Const(choice.args[2].value), choice.args[2], env)
        return None

    def iterable(self, loader: Loader) -> bool:
        """Whether the dataset is known to be an IterableDataset: by its class, or by a test around the call."""
        items = self.alternatives(loader, "dataset")
        if items and all(isinstance(item.value, Inst) and self._is_iterable(item.value) for item in items):
            return True
        tested = {
            test.args[1].dotted
            for test in self.tests_around(loader.call, loader.env)
            for test in conjuncts(test)
            if is_iterable_test(test)
        } - {""}
        return any(part.dotted in tested for item in items if item.expr is not None for part in item.expr.walk())

    def _is_iterable(self, inst: Inst) -> bool:
        return (
            self.evaluator.classes.is_a(inst.klass, {"torch.utils.data.IterableDataset"}) is Answer.YES
            and self.evaluator.classes.method(inst, "__iter__") is not None
        )

    # Tests.

    def tests_around(self, expr: Expr, env: Env) -> list[Expr]:
        """The tests of the `if`s whose bodies contain an expression."""
        event = event_of(env, expr)
        if event is None:
            return []
        blocks = [env.module.block(index) for index in env.module.enclosing(event.block)]
        return [block.test for block in blocks if block.kind == "if" and block.test is not None]

    def sources(self, expr: Expr, env: Env) -> Iterator[Argument]:
        """The expression, and those that its names and attributes get their values from, each once.

        They come by their distance, the nearest first.
        """
        nearest: list[Argument] = [(expr, env)]
        seen = {(id(expr), id(env))}
        for depth in range(MAX_DEPTH + 1):
            yield from nearest
            further = [] if depth == MAX_DEPTH else [item for pair in nearest for item in self._behind(*pair)]
            nearest = []
            for source in further:
                key = id(source[0]), id(source[1])
                if key not in seen:
                    seen.add(key)
                    nearest.append(source)

    def _behind(self, expr: Expr, env: Env) -> Iterator[Argument]:
        """Where the names and attributes of an expression get their values from."""
        for part in deciding(expr):
            yield from (*self._assigned(part, env), *self._passed(part, env), *self._stored(part, env))

    def _assigned(self, name: Expr, env: Env) -> list[Argument]:
        if name.kind != "name":
            return []
        return [(event.value, env) for event in _assignments(env, name.name) if event.value is not None]

    def _passed(self, name: Expr, env: Env) -> list[Argument]:
        if name.kind != "name" or env.function < 0 or env.call is None or env.caller is None:
            return []
        for position, parameter in enumerate(env.facts.parameters):
            if parameter.name == name.name and parameter.kind not in ("args", "kwargs"):
                return self.evaluator.arguments.passed(env, position, parameter)
        return []

    def _stored(self, attribute: Expr, env: Env) -> list[Argument]:
        if attribute.kind != "attribute":
            return []
        return [
            (value, where)
            for base in self.evaluator.values(attribute.args[0], env)
            if isinstance(base, Inst)
            for _, value, where in self.evaluator.attributes.stored(base, attribute.name)
        ]

    def _tested(self, expr: Expr, env: Env) -> set[str]:
        """The names in the tests around an expression, also of an `else` and of what returns before it."""
        event = event_of(env, expr)
        if event is None:
            return set()
        found: set[str] = set()
        for part in event.walk():
            if part.kind in ("ifexp", "boolop") and part.start <= expr.start and expr.end <= part.end:
                found |= all_names(part.args[0])
        for index in env.module.enclosing(event.block):
            block = env.module.block(index)
            test = env.module.block(block.partner).test if block.partner >= 0 else block.test
            if test is not None and block.kind in ("if", "else"):
                found |= all_names(test)
        for earlier in env.module.events(env.function):
            if earlier.start < event.start and earlier.kind in ("return", "raise", "assert"):
                if earlier.kind == "assert" and earlier.value is not None:
                    found |= all_names(earlier.value)
                for index in env.module.enclosing(earlier.block):
                    inner = env.module.block(index).test
                    found |= all_names(inner) if inner is not None else set()
        return found

    def related(self, loader: Loader, one: list[Alternative], other: list[Alternative]) -> bool:
        """Whether something that decides over the one arguments speaks of the others."""
        around = self._tested(loader.call, loader.env)
        return bool(
            (around | self._deciders(one)) & self._own(other) or (around | self._deciders(other)) & self._own(one)
        )

    def _deciders(self, items: list[Alternative]) -> set[str]:
        found: set[str] = set()
        for expr, env in self._sources_of(items):
            found |= self._tested(expr, env)
            if expr.kind not in ("name", "attribute"):
                found |= names_in(expr)
        return found

    def _own(self, items: list[Alternative]) -> set[str]:
        return {name for expr, _ in self._sources_of(items) for name in names_in(expr)}

    def _sources_of(self, items: list[Alternative]) -> list[Argument]:
        pairs = {(item.expr, id(item.env)): (item.expr, item.env) for item in items}
        return [
            source for expr, env in pairs.values() if expr is not None and env is not None
            for source in self.sources(expr, env)
        ]  # fmt: skip


def event_of(env: Env, expr: Expr) -> Event | None:
    """The event of an activation's code that contains an expression."""
    for event in env.module.events(env.function):
        if event.start <= expr.start and expr.end <= event.end and event.kind not in ("def", "class"):
            if any(part is expr for part in event.walk()):
                return event
    return None


def _assignments(env: Env, name: str) -> list[Event]:
    return [
        event
        for event in env.module.events(env.function)
        if event.kind == "assign" and event.value is not None and event.target is not None
        and event.target.kind == "name" and event.target.name == name
    ]  # fmt: skip


def _last_assigned(name: Expr, env: Env) -> Expr:
    """What a name was assigned last, if that is one expression; else the name itself, as any other expression."""
    known = env.module.bindings[env.function, -1].get(name.name, ()) if name.kind == "name" else ()
    events = [binding.event for binding in reaching(env.module, env.function, known, name.start)] if known else []
    event = events[0] if len(events) == 1 else None
    plain = event is not None and event.kind == "assign" and event.target is not None and event.target.kind == "name"
    return event.value or name if event is not None and plain else name


def _chosen(expr: Expr, env: Env, own: OwnNumber) -> Expr:
    """What is left of an expression where the loader's own number chooses: `x` of `x if workers > 0 else None`."""
    seen: set[Expr] = set()
    while expr not in seen:  # `x = x if workers > 0 else None` in a loop
        seen.add(expr)
        choice = _last_assigned(expr, env)
        holds = own.truth(choice.args[0], env) if choice.kind == "ifexp" else None
        if holds is None:
            break
        expr = choice.args[1 if holds else 2]
    return expr


def _is_none_or_zero(value: Value | None) -> bool:
    return value is None or (isinstance(value, Const) and value.value == 0)


def _option_name(value: Value) -> str:
    """The attribute of an object that is not followed: `args.workers`."""
    match value:
        case ExtMethod(attribute=attribute):
            return attribute
        case Opaque(expr=expr) if expr.kind == "attribute":
            return expr.name
    return ""


def deciding(expr: Expr) -> Iterator[Expr]:
    """The parts of an expression whose values decide over its own; what a call is given does not, but for numbers."""
    yield expr
    if expr.kind == "attribute" or (expr.kind == "call" and expr.args[0].name not in _NUMERIC):
        return
    for part in expr.args[1:] if expr.kind == "call" else expr.args:
        yield from deciding(part)


def names_in(expr: Expr) -> set[str]:
    """The names that decide over an expression directly; of `args.workers`, the last."""
    return {part.name for part in deciding(expr) if part.kind in ("name", "attribute")} - {"self"}


def all_names(expr: Expr) -> set[str]:
    """All names in a test."""
    return {part.name for part in expr.walk() if part.kind in ("name", "attribute")} - {"self"}


def tests_positive(test: Expr) -> bool:
    """Whether a test is `n`, `n > 0` or `n != 0`."""
    if test.kind == "compare":
        return test.name in (">", "!=") and len(test.args) == 2 and test.args[1].value == 0
    return test.kind in ("name", "attribute")


def conjuncts(test: Expr) -> Iterator[Expr]:
    """The tests that all hold when this one does."""
    if test.kind == "boolop" and test.name == "and":
        for part in test.args:
            yield from conjuncts(part)
    else:
        yield test


def is_iterable_test(test: Expr) -> bool:
    """Whether a test is `isinstance(x, IterableDataset)`."""
    return (
        test.kind == "call"
        and test.args[0].name == "isinstance"
        and len(test.args) == 3
        and test.args[2].dotted.rpartition(".")[2] == "IterableDataset"
    )
