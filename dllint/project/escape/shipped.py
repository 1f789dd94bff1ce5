"""The shipped graph, walked from the loaders: the values that cross into workers, and their routes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

import msgspec

from dllint.finding import Certainty, Note
from dllint.knowledge import (
    BY_VALUE,
    CHAINED,
    COPIERS,
    DATASETS,
    FRAMES,
    GIVES_ITEMS,
    GIVES_RESULTS,
    ITERATORS,
    KEEP_THE_FIRST,
    LOADERS,
    MAP_METHODS,
    MODULES,
    READ_AT_ONCE,
    TRANSFORMED,
    USUALLY_KEPT,
    holds_arguments,
)
from dllint.model.facts import Expr
from dllint.project.escape.handles import Handles, gives_back, keeps, lets_follow
from dllint.project.escape.loaders_way import LoadersWay
from dllint.project.escape.never_started import NeverStarted
from dllint.project.escape.pickle_state import left_out, pickled_by
from dllint.project.escape.replaced import Replaced
from dllint.project.escape.set_later import SetLater
from dllint.project.escape.with_workers import WithWorkers
from dllint.project.evaluate import NAMEDTUPLE_INSTANCE, Answer, Argument, Evaluator
from dllint.project.evaluate.abstract_values import (
    UNKNOWN,
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
    Super,
    Value,
    Values,
    stands,
)
from dllint.project.evaluate.attributes import Stored, may_be_same
from dllint.project.evaluate.reached import ALWAYS, Beginnings
from dllint.project.evaluate.shapes import decorated
from dllint.project.evaluate.truncated import Truncated
from dllint.project.loaders.boundaries import Boundaries, Loader
from dllint.project.program.module import Write
from dllint.source import Span

MAX_STEPS = 60
"""Objects that hold one another: so many are followed. Seven wrappers around a dataset come to twenty."""
TOO_FAR = Truncated(f"what it holds is not followed, as the shortest way to it has {MAX_STEPS} steps")
MAX_VISITED = 4000
"""Values that are followed from one loader; those as near to it as the last of them, too."""
TOO_MANY_VALUES = Truncated(f"what it holds is not followed, as the walk has come to {MAX_VISITED} values")
_DEFAULTDICT = "collections.defaultdict"
_DRAWN_FROM = GIVES_ITEMS | GIVES_RESULTS
_BARE = (Const, Super, *UNKNOWN)


class Holder(msgspec.Struct, frozen=True, cache_hash=True):
    """The holder of a shipped value.

    kind: argument (of the loader, `name`), attribute (`name` of `owner`), default_factory, element, kept (by the
    external callable `name`), owner (of the bound method `name`), pickled (by the method `name` of `owner`), returned
    (by a function, to the project's users).
    """

    kind: str
    name: str = ""
    owner: str = ""


class Held(msgspec.Struct, frozen=True):
    """Something that goes to workers. The route leads from the value to the loader, nearest step first."""

    value: Value
    holder: Holder
    path: str
    span: Span
    """Where the value is made."""
    route: tuple[Note, ...]
    loader: Loader | None
    """None: no loader of the project reaches it; it is there for the project's users."""
    certainty: Certainty = Certainty.CERTAIN
    method: Method | None = None
    """The bound method that takes it along with its owner, where no other way leads to it."""
    assumed: bool = False
    """Something of a library is taken to keep it, or to give it back, which is good enough for functions only."""
    sent: str = ""
    """The argument of the loader through which it goes to the workers."""
    decided: bool = True
    """Whether no step is one of several alternatives, or depends on an unknown condition."""
    truncated: Truncated | None = None
    """Why what it holds is not followed."""

    @property
    def surely(self) -> Certainty:
        """How sure it is that it goes to workers."""
        if self.loader is not None and self.loader.certainty is not Certainty.CERTAIN:
            return Certainty.LIKELY
        return self.certainty if self.decided else Certainty.LIKELY

    @property
    def rank(self) -> tuple[bool, ...]:
        """Which of several routes is told: a sure one to the loader that says most (`Loader.rank`)."""
        loader = self.loader.rank if self.loader is not None else ()
        return self.loader is None, self.surely is not Certainty.CERTAIN, *loader

    def at(self, path: str, span: Span) -> Held:
        """The same, shown at another place."""
        return msgspec.structs.replace(self, path=path, span=span)

    def for_users(self) -> Held:
        """The same, shipped by the project's users: what a loader without workers has."""
        *way, made = self.route
        text = "no workers start here; in a loader that has some, they do"
        route = (*way, msgspec.structs.replace(made, text=text))
        return msgspec.structs.replace(self, loader=None, certainty=Certainty.LIKELY, route=route)


class _Step(NamedTuple):
    value: Value
    holder: Holder
    route: tuple[Note, ...]
    certainty: Certainty
    method: Method | None = None
    assumed: bool = False
    sent: str = ""
    decided: bool = True
    after: tuple[Beginnings, ...] = ()
    """Of each of these, one function has to lead to the loader: nothing is seen to call them."""

    @property
    def is_sure(self) -> bool:
        return self.decided and self.certainty is Certainty.CERTAIN

    @property
    def turn(self) -> tuple[bool, ...]:
        """When it is walked: sure ways come first, those that a library is only taken to keep last of the equally sure.

        Then those that need no other argument than the dataset, and no method that takes its owner along. Of many ways
        that lead to a value, the nearest of the first tells how sure it is.
        """
        other = self.sent not in ("", "dataset")
        return not self.is_sure, self.assumed, other, self.method is not None

    def on(self, value: Value, holder: Holder, note: Note, surely: bool | Beginnings = True) -> _Step:
        """The step to something that this value holds."""
        return self._replace(value=value, holder=holder, route=(note, *self.route)).where(surely)

    def where(self, surely: bool | Beginnings) -> _Step:
        """The same step, as sure as this."""
        after = self.after if isinstance(surely, bool) or ALWAYS in surely else (*self.after, surely)
        return self._replace(decided=self.decided and bool(surely), after=after)

    def held(self, path: str, span: Span, loader: Loader | None, ended: Truncated | None = None) -> Held:
        """What goes to workers by this step, made at a place."""
        return Held(
            self.value, self.holder, path, span, self.route, loader,
            self.certainty, self.method, self.assumed, self.sent, self.decided, ended,
        )  # fmt: skip

    def to(self, inner: _Step) -> _Step:
        """The step to something inside, of which `inner` is the way from here."""
        return _Step(
            inner.value,
            inner.holder,
            inner.route + self.route,
            inner.certainty if self.certainty is Certainty.CERTAIN else self.certainty,
            self.method or inner.method,
            self.assumed or inner.assumed,
            self.sent,
            self.decided and inner.decided,
            self.after + inner.after,
        )


class _Sent(NamedTuple):
    """Of the values of a walk: what sends them, and which of them are left behind."""

    loader: Loader | None = None
    way: LoadersWay | None = None
    """The way that ends where they are sent."""
    later: SetLater | None = None
    near: Mapping[Value, Truncated | None] | None = None
    """Of too many values, which alone are followed, and why no further."""

    def leaves_out(self, step: _Step, outer: _Step | None) -> bool:
        """Whether a value isn't followed, isn't there on this way, or is set on its holder elsewhere or later."""
        if self.near is not None and step.value not in self.near:
            return True
        if self.way is not None and self.way.leaves_out(step.value):
            return True
        if outer is None or type(outer.value) is not Inst or step.holder.kind != "attribute":
            return False
        written = outer.value, step.holder.name, step.route[0]
        lacks = self.way is not None and self.way.lacks(*written)
        return lacks or (self.later is not None and self.later.has(*written))

    def begins(self, after: tuple[Beginnings, ...]) -> bool:
        """Whether the way begins in a function of each."""
        return self.way is None or all(map(self.way.begins, after))


_Known = tuple[tuple[str, Span] | None, tuple[_Step, ...]]
"""Where a value is made, and what it takes along."""
_Waiting = tuple[tuple[bool, ...], int, int, _Step, _Step | None]
"""What is walked in this order: its turn at the earliest, how far away it is, its number, the step, its holder's."""


class Shipped:
    """Walks the values that a loader ships."""

    def __init__(self, evaluator: Evaluator, boundaries: Boundaries) -> None:
        self.evaluator = evaluator
        self.boundaries = boundaries
        self.forked = False
        """The values that a forked worker inherits: all of them, also those that pickle would leave out."""
        self._handles = Handles(evaluator)
        self._replaced = Replaced(evaluator, self._handles)
        self._never_started = NeverStarted(evaluator)
        self.partly: set[Inst] = set()
        """Objects of which pickle leaves something out."""
        self._known: dict[tuple[Value, Holder | bool], _Known] = {}

    def when_forked(self) -> Shipped:
        """The same for forked workers: but for objects, values hold what they hold when they are pickled."""
        other = copy(self)
        other.forked = True
        return other

    def by(self, loader: Loader) -> list[Held]:
        """Everything that one loader hands to its workers."""
        return self._given(loader, WithWorkers(self.evaluator, self.boundaries, loader).values)

    def without_workers(self, loader: Loader) -> list[Held]:
        """Everything that a loader, which may have workers, only has where it has none."""
        return self._given(loader, WithWorkers(self.evaluator, self.boundaries, loader).without)

    def _given(self, loader: Loader, given: Callable[[Expr, Env], Values]) -> list[Held]:
        """Everything that a loader has by those values of its arguments that count."""
        steps = []
        for name in loader.boundary.ships:
            for expr, env in self.boundaries.argument(loader, name)[0]:
                note = Note(env.module.path, expr.span, f"passed as `{name}`")
                values = given(expr, env)
                known = any(self._is_dataset(value) for value in values)
                for value in values:
                    if name == "dataset" and (self._no_dataset(value, loader) or (known and self._is_other(value))):
                        continue
                    holder, only = Holder("argument", name), len(values) < 2
                    steps.append(_Step(value, holder, (note, loader.start), Certainty.CERTAIN, sent=name, decided=only))
        if loader.instance is not None and not loader.boundary.ships:
            steps.append(_Step(loader.instance, Holder("argument", "process"), (loader.start,), Certainty.CERTAIN))
        return self._walk(steps, _Sent(loader, LoadersWay(self.evaluator, loader.env, loader.call)))

    def by_users(self, value: Value, holder: Holder, route: tuple[Note, ...]) -> list[Held]:
        """The values that the project's users would send with this value, if no loader of the project ships it."""
        return self._walk([_Step(value, holder, route, Certainty.LIKELY)], _Sent())

    def by_process(self, values: Values, note: Note, way: LoadersWay, later: SetLater | None) -> list[Held]:
        """The values sent to a process that isn't a loader's worker."""
        sent, only = Holder("argument", "process"), len(values) < 2
        steps = [_Step(value, sent, (note,), Certainty.CERTAIN, decided=only) for value in values]
        return self._walk(steps, _Sent(None, way, later))

    def in_full(self, items: list[Held]) -> bool:
        """Whether pickle leaves out nothing of what was found: forked workers inherit the same."""
        return self.partly.isdisjoint(held.value for held in items)

    def _walk(self, steps: list[_Step], sent: _Sent) -> list[Held]:
        """Everything that values hold, each by the nearest of its best ways."""
        found: list[Held] = []
        seen: set[Value] = set()
        named: set[tuple[Value, Holder]] = set()
        numbers = count()
        waiting: list[_Waiting] = [(step.turn, 0, next(numbers), step, None) for step in steps]
        heapify(waiting)
        while waiting:
            turn, away, _, step, outer = heappop(waiting)
            if sent.near is None and len(seen) >= MAX_VISITED:
                return self._walk(steps, sent._replace(near=self._nearest(steps, sent.way)))
            value = step.value
            if value in seen and (value, step.holder) in named:
                continue
            if sent.leaves_out(step, outer) or self._is_never_made(value):
                continue
            step = self._arrived(step, outer, sent)
            if step.turn > turn:
                heappush(waiting, (step.turn, away, next(numbers), step, None))
                continue
            named.add((value, step.holder))
            if value in seen:
                found += self._by_another_name(step, sent.loader)
                continue
            if self._is_something_else(step):
                continue
            if sent.near is None and away > MAX_STEPS:
                return self._walk(steps, sent._replace(near=self._nearest(steps, sent.way)))
            seen.add(value)
            if isinstance(value, _BARE) and not _made_by_unknown(step):
                continue
            place, inside = self._look_into(step)
            if place is None and step.holder.kind == "attribute" and isinstance(value, (Ext, Mod)):
                place = step.route[0].path, step.route[0].span
            if place is not None:
                ended = sent.near[value] if sent.near is not None and inside else None
                found.append(step.held(*place, sent.loader, ended))
            for inner in inside:
                if inner.value not in seen or _is_kept_list(inner):
                    heappush(waiting, (turn, away + 1, next(numbers), inner, step))
        return found

    def _is_never_made(self, value: Value) -> bool:
        return type(value) is Inst and self.evaluator.calls.signatures.is_never_made(value.klass)

    def _arrived(self, step: _Step, outer: _Step | None, sent: _Sent) -> _Step:
        """A step inside of another one, as the step from where the walk begins, and as sure as it turns out to be."""
        if outer is not None:
            step = outer.to(step)
        refused = type(step.value) is Inst and self.evaluator.calls.signatures.is_refused(step.value)
        if refused or step.after:
            step = step._replace(decided=step.decided and not refused and sent.begins(step.after), after=())
        return step

    def _is_something_else(self, step: _Step) -> bool:
        """Whether a value isn't what it looks like: a function with another name, a stand-in."""
        value = step.value
        if type(value) is Func:
            return self._renamed(value)
        return step.certainty is Certainty.LIKELY and type(value) is Inst and self._doubtful(value)

    def _nearest(self, steps: list[_Step], way: LoadersWay | None) -> dict[Value, Truncated | None]:
        """The values that are nearest, and why what they hold isn't among them: which come first decides nothing."""
        near: dict[Value, Truncated | None] = {}
        asked: set[tuple[Value, Holder | bool]] = set()
        nearest, limit = steps, TOO_FAR
        for away in range(MAX_STEPS + 1):
            here = [step for step in nearest if way is None or not way.leaves_out(step.value)]
            if len(near.keys() | {step.value for step in here}) >= MAX_VISITED:
                limit = TOO_MANY_VALUES
            if away == MAX_STEPS or limit is TOO_MANY_VALUES:
                break
            nearest = []
            for step in here:
                near[step.value] = None
                key = self._key(step)
                if key not in asked and not isinstance(step.value, _BARE):
                    asked.add(key)
                    nearest += self._look_into(step)[1]
        return {step.value: limit for step in here} | near

    def _by_another_name(self, step: _Step, loader: Loader | None) -> Iterator[Held]:
        """A container that is kept twice: `self.data = self.train`."""
        place = self.place(step.value) if _is_kept_list(step) else None
        if place is not None:
            yield step.held(*place, loader)

    def _no_dataset(self, value: Value, loader: Loader) -> bool:
        """Whether torch's own loader cannot take a value as its dataset: an object that is neither kind of dataset.

        What is chosen by a name that is not seen, from a table of all that a program can build, may be a layer.
        """
        if not isinstance(value, Inst) or loader.boundary is not LOADERS["torch.utils.data.DataLoader"]:
            return False
        classes = self.evaluator.classes
        if any(classes.method(value, name) is not None for name in (*MAP_METHODS, "__getattr__")):
            return False
        if classes.is_a(value.klass, DATASETS) is Answer.YES:
            return False
        return classes.is_a(value.klass, MODULES) is Answer.YES or classes.is_a(value.klass, DATASETS) is Answer.NO

    def _is_dataset(self, value: Value) -> bool:
        return isinstance(value, Inst) and self.evaluator.classes.is_a(value.klass, DATASETS) is Answer.YES

    def _is_other(self, value: Value) -> bool:
        """Whether an object beside datasets is none: a program that chooses a class by its name chooses a dataset."""
        method = self.evaluator.classes.method
        return (
            isinstance(value, Inst)
            and not self._is_dataset(value)
            and not any(method(value, name) for name in MAP_METHODS)
        )

    def _look_into(self, step: _Step) -> _Known:
        """Where a value is made and what it takes along, each by its way from there: many routes lead to one value."""
        key = self._key(step)
        return self._known.get(key) or self.evaluator.kept(self._known, key, self._find_known, step)

    def _key(self, step: _Step) -> tuple[Value, Holder | bool]:
        return step.value, self.forked if type(step.value) is Inst else step.holder

    def _find_known(self, step: _Step) -> _Known:
        inside = tuple(self._find_inside(_Step(step.value, step.holder, (), Certainty.CERTAIN)))
        return self.place(step.value), inside

    def _doubtful(self, value: Inst) -> bool:
        """Whether an instance of a local class may be something else: a stand-in for what is not installed."""
        if value.call is None or value.env is None or not unpicklable_class(value):
            return False
        return any(isinstance(made_by, Opaque) for made_by in self.evaluator.values(value.call.args[0], value.env))

    def _renamed(self, value: Func) -> bool:
        """`f.__qualname__ = "f"`: pickle finds it under its new name."""
        for write in value.module.attribute_writes.get("__qualname__", ()):
            env = self.evaluator.generic(value.module, write.function)
            if any(
                isinstance(item, Func) and item.index == value.index
                for item in self.evaluator.values(write.target.args[0], env)
            ):
                return True
        return False

    def place(self, value: Value) -> tuple[str, Span] | None:
        """Where a value is made."""
        match value:
            case Func():
                return value.module.path, value.facts.header
            case Method(func=func):
                return func.module.path, func.facts.header
            case Inst(klass=klass, call=call, env=env):
                if call is None or env is None:
                    return klass.module.path, klass.facts.header
                return env.module.path, call.span
            case Klass():
                return value.module.path, value.facts.header
            case ExtInst(call=call, env=env):
                return env.module.path, call.span
            case Seq(expr=expr, env=env):
                return env.module.path, expr.span
            case ExtMethod(base=ExtInst() | ExtMethod() as base):
                return self.place(base)  # `table["name"].values`: where the table is made
        return None

    def _find_inside(self, step: _Step) -> Iterator[_Step]:
        """The values that a pickle of this value contains."""
        match step.value:
            case Inst():
                yield from self._instance(step, step.value)
            case Method(func=func) if decorated(func.facts, "classmethod"):
                return  # its owner is the class, which is found by its name
            case Method(owner=owner, func=func):
                note = Note(
                    func.module.path, func.facts.header, f"a bound method takes its owner along: `{func.facts.name}`"
                )
                holder = Holder("owner", func.facts.name)
                method = step.method or step.value
                yield step._replace(value=owner, holder=holder, route=(note, *step.route), method=method)
            case Seq():
                yield from self._elements(step, step.value)
            case ExtInst():
                yield from self._external(step, step.value)
            case Opaque(expr=expr, env=env):
                yield from self._usual(step, expr, env)
            case ExtMethod(base=base) if step.holder.kind == "argument" and step.holder.name != "dataset":
                # What a loader calls is a method; any other attribute is something of its own.
                if isinstance(base, (ExtInst, Inst)) and lets_follow(step.value):
                    yield step._replace(value=base, assumed=True)

    def _instance(self, step: _Step, inst: Inst) -> Iterator[_Step]:
        dropped = frozenset[str]() if self.forked else left_out(self.evaluator, inst)
        if dropped is None or dropped:
            self.partly.add(inst)
        if dropped is None:
            yield from self._pickled(step, inst)
            return
        for attribute in self.attributes(inst):
            if attribute in dropped:
                continue
            outside = self._outside_writes(inst, attribute)
            every = self.evaluator.attributes.stored(inst, attribute)
            kept = [stored for stored in every if self._is_kept(stored, inst, attribute)]
            by_base = attribute in self.evaluator.library_bases.kept(inst.klass)
            for stored in kept:
                write, expr, env = stored
                at = write.target.span if write is not None else expr.span
                start = write.event.start if write is not None else expr.start if by_base else None
                note = Note(env.module.path, at, f"kept as `{attribute}` of `{inst.klass.facts.name}`")
                values = self.evaluator.attributes.stored_values(stored)
                only = len(values) < 2 and (not outside or write in outside)  # else it may be replaced before it goes
                only = only and not any(self._replaced.may_be(inst.klass, stored, other) for other in kept)
                surely = only and (start is None or self._surely_runs(inst, env, start))
                for value in values:
                    holder = Holder("attribute", attribute, inst.klass.facts.name)
                    if not (_is_table(value) and self.evaluator.attributes.computed.turns(inst, attribute)):
                        yield step.on(value, holder, note, surely)
        yield from self._looked_up(step, inst, dropped)
        yield from self._given_to_base(step, inst)

    def _pickled(self, step: _Step, inst: Inst) -> Iterator[_Step]:
        """What an object's own method returns for its pickle: `return Rows, (self.path, self.clean)`."""
        method = pickled_by(self.evaluator, inst)
        if method is None:
            return
        func, name = method.func, method.func.facts.name
        env = self.evaluator.activations.activation(func, None, None, inst)
        for event in func.facts.events:
            if (
                event.kind == "return"
                and event.value is not None
                and self.evaluator.conditions.may_run(env, event.start)
            ):
                note = Note(func.module.path, event.value.span, f"returned by `{name}` of `{inst.klass.facts.name}`")
                surely = self.evaluator.reached.surely(env, event.start)
                for value, only in self._carried(event.value, env):
                    yield step.on(value, Holder("pickled", name, inst.klass.facts.name), note, only and surely)

    def _is_kept(self, stored: Stored, inst: Inst, attribute: str) -> bool:
        """Whether an object may have what is written when it is pickled."""
        write, _, env = stored
        if self._replaced.by_maker(inst, attribute, stored):
            return False
        if write is None:
            return True
        if self._never_started.has(inst, write, env):
            return False
        return not self._stays(write, env, inst) and self.evaluator.conditions.may_run(env, write.event.start)

    def _outside_writes(self, inst: Inst, attribute: str) -> list[Write]:
        """The places outside a class that give an attribute of an instance another value."""
        found = self.evaluator.attributes.outside_writes(inst.klass, attribute)
        return [write for other, write, module in found if may_be_same(other, inst, module.is_test)]

    def _looked_up(self, step: _Step, inst: Inst, dropped: frozenset[str]) -> Iterator[_Step]:
        """The values of cached properties that an object keeps because its construction or its length reads them."""
        for klass in self.evaluator.classes.mro(inst.klass):
            for name, index in klass.facts.methods.items():
                facts = klass.module.model.functions[index]
                cached = any(part.name == "cached_property" for part in facts.decorators)
                if not cached or name in dropped:
                    continue
                if (klass.module.path, index) not in self._handles.set_up(inst.klass):
                    continue
                note = Note(klass.module.path, facts.header, f"kept as `{name}` of `{inst.klass.facts.name}`")
                for value in self.evaluator.attributes.instance_attribute(inst, name):
                    yield step.on(value, Holder("attribute", name, inst.klass.facts.name), note)

    def _stays(self, write: Write, env: Env, inst: Inst) -> bool:
        """Whether what is written is not there when the object is pickled: set per item, set anew, or on the class.

        What a nested function writes is there no earlier than the method around it has run.
        """
        module = env.module
        if not self.forked and module.on_class(write.function):
            self.partly.add(inst)
            return True
        if (module.path, module.method_of(write.function)) in self.evaluator.classes.per_item_only(inst.klass):
            return True
        return module.method_owner(write.function) >= 0 and self._replaced.by_init(inst.klass, write, env)

    def attributes(self, inst: Inst) -> list[str]:
        """The names of an instance's own attributes."""
        found: dict[str, None] = {}
        for klass in self.evaluator.classes.mro(inst.klass):
            found |= dict.fromkeys(klass.module.self_writes.get(klass.index, {}))
        found |= dict.fromkeys(self.evaluator.classes.dataclass_fields(inst.klass))
        found |= dict.fromkeys(self.evaluator.attributes.attributes_set_outside(inst.klass))
        found |= dict.fromkeys(self.evaluator.attributes.taken_over.names(inst))
        found |= dict.fromkeys(self.evaluator.library_bases.kept(inst.klass))
        return [name for name in found if not self._is_setter(inst, name)]

    def _is_setter(self, inst: Inst, name: str) -> bool:
        method = self.evaluator.classes.method(inst, name)
        return method is not None and bool(method.func.facts.decorators)

    def _given_to_base(self, step: _Step, inst: Inst) -> Iterator[_Step]:
        """The arguments of its `__init__` that an external base class keeps."""
        bases = [name for name in self.evaluator.classes.external_bases(inst.klass) if holds_arguments(name)]
        if not bases or (inst.call is None and not self.evaluator.activations.init_envs(inst)):
            return
        if self.evaluator.activations.stops_at(inst):
            return
        call, env, _ = self.boundaries.base_call(inst)
        surely = call is inst.call or self._surely_runs(inst, env, call.start)
        given = step._replace(assumed=step.assumed or not keeps(bases[0])).where(surely)
        yield from self._arguments(given, call, env, bases[0])

    def _arguments(self, step: _Step, call: Expr, env: Env, name: str, first: int = 1) -> Iterator[_Step]:
        short = name.rpartition(".")[2].rstrip("()")
        pairs = [("", arg) for arg in call.args[first:]]
        pairs += [pair for pair in call.keywords if pair[0] not in READ_AT_ONCE]
        for key, given in pairs[:1] if short in KEEP_THE_FIRST else pairs:
            expr, where = stands(given, env)
            text = f"kept by `{short}`" + (f" as `{key}`" if key and key != "**" else "")
            note = Note(where.module.path, expr.span, text)
            for value, only in self._carried(expr, where):
                yield step.on(value, Holder("kept", short, key), note, only)

    def _carried(self, expr: Expr, env: Env) -> list[tuple[Value, bool]]:
        """The values that are made somewhere or hold something, and whether there is no other.

        Numbers and strings do neither. `*x` gives what x holds, not x.
        """
        starred = expr.kind == "star"
        values = self.evaluator.containers.iterated(expr.args[0], env) if starred else self.evaluator.values(expr, env)
        return [(value, len(values) < 2) for value in values if not isinstance(value, _BARE)]

    def _elements(self, step: _Step, seq: Seq) -> Iterator[_Step]:
        kind = {"comprehension": seq.expr.name}.get(seq.expr.kind, seq.expr.kind)
        holder = step.holder if step.holder.kind == "argument" else Holder("element", kind, step.holder.name)
        for expr, env in self.evaluator.containers.items(seq):
            note = Note(env.module.path, expr.span, f"an element of a {kind}")
            for value, only in self._carried(expr, env):
                yield step.on(value, holder, note, only and self._surely_has(seq, expr, env))

    def _surely_has(self, container: Seq | ExtInst, expr: Expr, env: Env) -> bool | Beginnings:
        """Whether an item is written in a container, or surely put in later."""
        whole = container.expr if isinstance(container, Seq) else container.call
        written = env is container.env and whole.start <= expr.start < whole.end
        return written or self._surely_runs(container, env, expr.start)

    def _surely_runs(self, made: Value, env: Env, offset: int) -> Beginnings:
        """Where the ways begin to a place that stores something in an object, which surely reach it."""
        return self.evaluator.reached.beginnings(made, env, offset)

    def _external(self, step: _Step, made: ExtInst) -> Iterator[_Step]:
        name, call, env = made.name, made.call, made.env
        copying, setting = next((both for start, both in TRANSFORMED.items() if name.startswith(start)), ("", ""))
        if setting:
            yield from self._transforms(step, made, setting)
        if name.endswith(BY_VALUE):
            return
        if call.kind != "call" or name.endswith("[]"):
            if isinstance(made.base, ExtInst) and made.base.name in _DRAWN_FROM:
                yield from self._drawn(step, made.base)
            elif isinstance(made.base, ExtInst) and made.base.name in COPIERS and _is_slice(made):
                yield from self._copied(step, made.base)
            elif isinstance(made.base, ExtInst) and made.base.name == _DEFAULTDICT and call.kind == "subscript":
                yield from self._item_of_defaultdict(step, made.base)
            elif made.base is not None and lets_follow(made) and not self._is_batch(made) and not _is_field(made):
                yield step._replace(value=made.base, assumed=step.assumed or not gives_back(made))
            return
        if name == _DEFAULTDICT:
            yield from self._defaultdict(step, made)
        elif name in ITERATORS and any(self.boundaries.makes_loader(arg, env) for arg in call.args[1:]):
            return
        elif name in COPIERS:
            yield from self._copied(step, made)
        elif holds_arguments(name) or _makes_object(name):
            certain = step if holds_arguments(name) else step._replace(certainty=Certainty.LIKELY)
            yield from self._arguments(certain._replace(assumed=certain.assumed or not keeps(name)), call, env, name)
        elif made.base is not None and name.startswith(CHAINED):
            yield step._replace(value=made.base)
            yield from self._arguments(step, call, env, name)
        elif made.base is not None and copying:
            yield step._replace(value=made.base)
            if name.endswith(f".{copying}"):
                yield from self._arguments(step, call, env, copying)
        elif _is_dataset(step):
            yield from self._usual(step, call, env)
        yield from self._put_in(step, made)
        yield from self._set_on(step, made)

    def _is_batch(self, made: ExtInst) -> bool:
        """Whether it is what a loader yields: that keeps neither the loader nor its dataset."""
        return made.name.endswith("[]") and isinstance(made.base, ExtInst) and made.base.name in self.evaluator.loaders

    def _usual(self, step: _Step, call: Expr, env: Env) -> Iterator[_Step]:
        """The callables that a dataset keeps, under their usual names, if what makes it isn't known."""
        named = tuple(pair for pair in call.keywords if pair[0] in USUALLY_KEPT)
        if named:
            short = call.args[0].name or "call"
            known = Expr("call", call.start, call.end, "", call.args[:1], named)
            likely = step._replace(certainty=Certainty.LIKELY, assumed=True)
            yield from self._arguments(likely, known, env, short)

    def _transforms(self, step: _Step, made: ExtInst, method: str) -> Iterator[_Step]:
        """`dataset.set_transform(f)` keeps f in the dataset itself."""
        for site in made.env.module.calls.get(method, ()):
            receiver = site.expr.args[0].args[0] if site.expr.args[0].kind == "attribute" else None
            if receiver is not None and site.function == made.env.function:
                if made in self.evaluator.values(receiver, made.env):
                    surely = self.evaluator.reached.surely(made.env, site.expr.start)
                    given = step._replace(decided=step.decided and surely)
                    yield from self._arguments(given, site.expr, made.env, method)

    def _set_on(self, step: _Step, made: ExtInst) -> Iterator[_Step]:
        """`dataset.transform = ...` on a dataset of a library."""
        for write, env in self.evaluator.attributes.written_on(made):
            assert write.event.value is not None
            attribute, short = write.target.name, made.name.rpartition(".")[2]
            if attribute == "default_factory":
                continue
            note = Note(env.module.path, write.target.span, f"set as `{attribute}` of `{short}`")
            surely = self._surely_runs(made, env, write.event.start)
            for value, only in self._carried(write.event.value, env):
                yield step.on(value, Holder("attribute", attribute, short), note, only and surely)

    def _put_in(self, step: _Step, made: ExtInst) -> Iterator[_Step]:
        for expr, env in self.evaluator.containers.put_in(made):
            note = Note(env.module.path, expr.span, "put into it here")
            surely = self._surely_runs(made, env, expr.start)
            for value, only in self._carried(expr, env):
                yield step.on(value, Holder("element", "dict", step.holder.name), note, only and surely)

    def _defaultdict(self, step: _Step, made: ExtInst) -> Iterator[_Step]:
        later, factories = self._factories(made)
        for factory, env in factories:
            at = factory.span if later else made.call.span
            note = Note(env.module.path, at, "the factory of a `defaultdict`")
            surely = not later or self._surely_runs(made, env, factory.start)
            values = self.evaluator.values(factory, env)
            for value in values:
                holder = Holder("default_factory", step.holder.name, step.holder.owner)
                yield step.on(value, holder, note, len(values) < 2 and surely)
        yield from self._arguments(step, made.call, made.env, made.name, first=2)

    def _factories(self, made: ExtInst) -> tuple[bool, list[Argument]]:
        """The factories of a `defaultdict`, and whether it gets them later."""
        later = list(self.evaluator.attributes.later_factories(made))
        return bool(later), later or [(factory, made.env) for factory in made.call.args[1:2]]

    def _item_of_defaultdict(self, step: _Step, made: ExtInst) -> Iterator[_Step]:
        """What a `defaultdict` is filled with, or what its factory returns: an item takes neither of the two along."""
        yield from self._arguments(step, made.call, made.env, made.name, first=2)
        yield from self._put_in(step, made)
        for factory, env in self._factories(made)[1]:
            note = Note(env.module.path, factory.span, "made by the factory of a `defaultdict`")
            for func in self.evaluator.values(factory, env):
                made_by = self.evaluator.calls.returned(func, None, None) if isinstance(func, Func) else ()
                for value in made_by:
                    yield step.on(value, step.holder, note, False)

    def _copied(self, step: _Step, made: ExtInst) -> Iterator[_Step]:
        """`list(x)` keeps what x holds, not x."""
        for arg in made.call.args[1:2]:
            for value in self.evaluator.values(arg, made.env):
                if isinstance(value, (Seq, ExtInst)) and made.name != "builtins.sorted":
                    for expr, env in self.evaluator.containers.items(value):
                        for inner, only in self._carried(expr, env):
                            surely = only and self._surely_has(value, expr, env)
                            yield step._replace(value=inner).where(surely)
        for key, expr in made.call.keywords:
            if made.name == "builtins.dict" and key != "**":
                for value, only in self._carried(expr, made.env):
                    holder = Holder("element", "dict", step.holder.name)
                    yield step._replace(value=value, holder=holder, decided=step.decided and only)

    def _drawn(self, step: _Step, iterator: ExtInst) -> Iterator[_Step]:
        """What an iterator has given keeps items of what it goes over, not the iterator or what that has."""
        for arg in iterator.call.args[1:] if iterator.name in GIVES_ITEMS else ():
            if self.boundaries.makes_loader(arg, iterator.env):
                continue
            values = self.evaluator.containers.iterated(arg.args[0] if arg.kind == "star" else arg, iterator.env)
            if arg.kind == "star":
                rows = (value for value in values if isinstance(value, Seq))
                values = tuple(item for row in rows for item in self.evaluator.containers.elements(row))
            for value in values:
                if not isinstance(value, _BARE):
                    yield step._replace(value=value, decided=step.decided and len(values) < 2)


def _is_slice(made: ExtInst) -> bool:
    """Whether a value is a part of a list: it has elements of that, not the list."""
    return made.call.kind == "subscript" and made.call.args[1].kind == "slice"


def _makes_object(name: str) -> bool:
    """Whether a callable of a library looks like a class."""
    return name.rpartition(".")[2][:1].isupper() and "." in name and "()" not in name


def _is_field(made: ExtInst) -> bool:
    """Whether a value is a field of a row that a loop over an object gives: it keeps nothing of that object.

    `row["text"] for row in Rows(...)`; what a function returns may be dictionaries of datasets instead.
    """
    row = made.base
    if made.call.kind != "subscript" or not isinstance(row, ExtInst) or row.call.kind == "subscript":
        return False
    rows = row.base
    if not row.name.endswith("[]") or not isinstance(rows, ExtInst) or rows.call.kind != "call":
        return False
    return _makes_object(rows.name) and not keeps(rows.name)


def _is_kept_list(step: _Step) -> bool:
    return step.holder.kind == "attribute" and isinstance(step.value, (Seq, ExtInst))


def _is_dataset(step: _Step) -> bool:
    return step.holder.kind == "argument" and step.holder.name == "dataset"


def _made_by_unknown(step: _Step) -> bool:
    """Whether a dataset is what a call returns that cannot be followed."""
    return isinstance(step.value, Opaque) and step.value.expr.kind == "call" and _is_dataset(step)


def unpicklable_function(value: Value) -> str:
    """Why pickle cannot find a function by name: "lambda", "local", or "" when it can."""
    if not isinstance(value, Func):
        return ""
    if value.facts.kind == "lambda":
        return "lambda"
    return "local" if "<locals>" in value.facts.qualname else ""


def unpicklable_class(value: Value) -> bool:
    """Whether a class, or an instance's class, is defined inside a function."""
    klass = value.klass if isinstance(value, Inst) else value
    return isinstance(klass, Klass) and "<locals>" in klass.facts.qualname


class TupleType(NamedTuple):
    """A `collections.namedtuple(...)` call: the name it is given, its variable ("": none), where it stands."""

    typename: str
    bound: str
    local: bool
    path: str
    span: Span


def namedtuple_of(value: Value) -> TupleType | None:
    """The namedtuple that a value is an instance of."""
    if not isinstance(value, ExtInst) or value.name != NAMEDTUPLE_INSTANCE or not isinstance(value.base, ExtInst):
        return None
    maker, env = value.base, value.base.env
    given = maker.call.args[1] if len(maker.call.args) > 1 else maker.call.keyword("typename")
    typename = given.value if given is not None else None
    targets = [event.target for event in env.module.events(env.function) if event.value is maker.call and event.target]
    local = env.function >= 0 and not any(item.kind == "name" and item.name not in env.facts.bound for item in targets)
    if not isinstance(typename, str) or not (targets or local) or (local and _put_in_module(env)):
        return None
    return TupleType(typename, targets[0].name if targets else "", local, env.module.path, maker.call.span)


def _put_in_module(env: Env) -> bool:
    """Whether a function reaches for a module's names: `globals()[name] = kind` lets pickle find it."""
    parts = (part for event in env.facts.events for part in event.walk())
    return any(part.dotted in ("globals", "sys.modules") for part in parts)


def _is_table(value: Value) -> bool:
    """Whether a value is a table: what is made of one, by a name that is computed, is tensors or arrays."""
    return isinstance(value, ExtInst) and value.name.startswith(FRAMES)
