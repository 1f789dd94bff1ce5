"""Calls: what calling a value gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.knowledge import GIVES_BACK, INSTANTIATORS, PASS_THROUGH
from dllint.model.facts import Constant, Expr
from dllint.project.evaluate.abstract_values import (
    Const,
    Env,
    Ext,
    ExtInst,
    ExtMethod,
    Free,
    Func,
    Inst,
    Klass,
    Method,
    Mod,
    Opaque,
    Seq,
    Super,
    Top,
    Value,
    Values,
    passed,
)
from dllint.project.evaluate.collections import DRAWS_ONE
from dllint.project.evaluate.conditions import TESTING, always_leaves
from dllint.project.evaluate.contents import is_cut
from dllint.project.evaluate.shapes import (
    GENERATOR,
    as_int,
    decorated,
    derived,
    describe,
    may_end,
    text_around,
    unique,
)
from dllint.project.evaluate.signatures import Signatures, changed

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_PARTIALS = 4
"""Partials of partials that are followed: one in a loop may stand for itself."""
MAX_WAYS = 16
"""So many ways through partials, of which each may be of several others."""
_NONE = Const(None, "NoneType")
_OF_TEXT = frozenset({"lower", "upper", "strip", "lstrip", "rstrip", "startswith", "endswith"})
"""Methods of text that depend only on what they are given."""
NAMEDTUPLE_INSTANCE = "collections.namedtuple()"
"""The name of what calling a namedtuple class gives."""


class Calls:
    """Evaluates calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.signatures = Signatures(evaluator)
        self._merged: dict[tuple[int, int, int], Expr] = {}
        self._blank: dict[int, Expr] = {}
        self._tuples: dict[int, Expr] = {}
        """What calls are given by position, as tuples."""
        self._written: dict[int, Expr] = {}
        """What each merged call is in the code."""
        self._composed: dict[tuple[ExtInst, int, int, int], Values] = {}
        self._partials: dict[int, int] = {}
        """How many partials each merged call has gone through."""
        self._origins: dict[int, frozenset[int]] = {}
        """The calls of `partial` that have led to each merged call."""
        self._led: dict[int, frozenset[int]] = {}
        """Those that have led to each activation."""

    def expression(self, expr: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = []
        for callee in self.callees(expr, env):
            found += self.result(callee, expr, env)
        return found

    def callees(self, call: Expr, env: Env) -> list[Value]:
        """What a call in the code may run: not what can't bind its arguments and raises `TypeError` instead."""
        values = self.evaluator.values(call.args[0], env)
        run = (item for value in values for item in self._decorated(value, call))
        return [value for value in run if not self.signatures.refuses(value, call)]

    def _decorated(self, callee: Value, call: Expr) -> Iterable[Value]:
        """What a call of a decorated function runs: the wrapper, where it must add arguments, as the call lacks some.

        Else the function itself, as a wrapper is taken to hand on what it is given.
        """
        if not isinstance(callee, Func) or not callee.facts.decorators or callee.facts.owner >= 0:
            return (callee,)
        site = self.evaluator.carried.decoration(callee.module, callee.index)
        if site is None or self.signatures.fits(callee.facts, call):
            return (callee,)
        made = self.evaluator.values(site.expr, callee.outer or self.evaluator.generic(site.module, site.function))
        wrappers = [value for value in made if isinstance(value, Func) and value.facts.parent >= 0]
        return wrappers or self.evaluator.unless_open(callee)

    def runs(self, call: Expr, env: Env) -> Iterator[tuple[Value, Expr]]:
        """What a call may run, each with the call of it: that of a partial stands for a call of what it was made of."""
        for value in self.callees(call, env):
            if not isinstance(value, ExtInst) or value.name != "functools.partial":
                yield value, call
            elif len(value.call.args) > 1 and self._partials.get(id(call), 0) < MAX_PARTIALS:
                yield from self.runs(self.merged_call(value, call), env)

    def runs_of(self, call: Expr, env: Env, run: Env) -> list[tuple[Func, Expr]]:
        """A call as those of one function, of which an activation is given: one for each partial or closure of it."""
        values = ((value.func if isinstance(value, Method) else value, made) for value, made in self.runs(call, env))
        return [
            (func, made)
            for func, made in values
            if isinstance(func, Func) and func.module is run.module and func.index == run.function
        ]

    def result(self, callee: Value, call: Expr, env: Env, skip: int = 0, ways: int = 1) -> Iterable[Value]:
        """The results of calling a value, to which one of so many ways through partials has led."""
        match callee:
            case Top():
                return (callee,)
            case Klass():
                if self._init_never_returns(callee):
                    return self.evaluator.unless_open(Opaque(call, env))
                return (self._made(callee, call, env),)
            case Func():
                skip += takes_object(callee)
                receivers = self.receivers(callee, call, env)
                return [value for owner in receivers for value in self.returned(callee, call, env, owner, skip)]
            case Method(owner=owner, func=func):
                return self.returned(func, call, env, owner, skip)
            case Inst():
                method = self.evaluator.classes.method(callee, "__call__")
                return self.returned(method.func, call, env, callee, skip) if method else (Opaque(call, env),)
            case Ext(name=name):
                return self._external(name, call, env)
            case ExtMethod(base=base, attribute=attribute):
                return self._external_method(base, attribute, call, env)
            case ExtInst(name="collections.namedtuple" | "typing.NamedTuple"):
                return (ExtInst(NAMEDTUPLE_INSTANCE, call, env, callee),)
            case ExtInst(name="functools.partial"):
                return self._of_partial(callee, call, env, ways) or self.evaluator.unless_open(Opaque(call, env))
            case ExtInst(name=name) if name.endswith(".Compose"):
                blank = self._without_arguments(call)
                key = callee, id(blank), id(env), ways
                found = self.evaluator.ask(self._composed, key, (), self._of_compose, callee, blank, env, ways)
                return found or self.evaluator.unless_open(Opaque(call, env))
        return (Opaque(call, env),)

    def receivers(self, func: Func, call: Expr, env: Env) -> tuple[Value | None, ...]:
        """The objects that a call of a function hands to it as `self`: those of `Class.method(obj)`, else None."""
        if not takes_object(func) or len(call.args) < 2:
            return (None,)
        return self.evaluator.values(call.args[1], env) or (() if self.evaluator.fixpoint.is_open() else (None,))

    def _init_never_returns(self, klass: Klass) -> bool:
        """Whether `__init__` always raises, as in a class that takes the place of what isn't installed."""
        init = self.evaluator.classes.method(klass, "__init__")
        return init is not None and always_leaves(init.func) and self.evaluator.classes.method(klass, "__new__") is None

    def _made(self, klass: Klass, call: Expr, env: Env) -> Inst:
        """An instance; one that an object of its own class makes in the same place is that object's like: trees end.

        The object may do so itself or through others that it calls, as class methods that make one of several. Where
        too many objects would be told apart by who makes them, only the place is known.
        """
        here: Env | None = env
        while here is not None:
            owner = here.receiver
            if isinstance(owner, Inst) and owner.env is not None:
                if owner.call is call and owner.klass == klass:
                    return owner
                here = owner.env
            else:
                here = here.caller
        if env.owners > self.evaluator.activations.multiplicity.owners(klass.facts.name):
            env = self.evaluator.generic(env.module, env.function)
        return Inst(klass, call, env)

    def _of_partial(self, made: ExtInst, call: Expr, env: Env, ways: int) -> list[Value]:
        """Calling what `partial` made; `f = partial(f, ...)` in a loop may stand for itself."""
        if len(made.call.args) < 2 or self._partials.get(id(call), 0) >= MAX_PARTIALS:
            return []
        merged = self.merged_call(made, call)
        targets = self.evaluator.values(made.call.args[1], made.env)
        ways *= max(sum(map(_is_partial, targets)), 1)
        left_out: tuple[Value, ...] = ()
        if ways > MAX_WAYS:
            targets, left_out = tuple(target for target in targets if not _is_partial(target)), (Opaque(call, env),)
        return [*(item for target in targets for item in self.result(target, merged, env, ways=ways)), *left_out]

    def _without_arguments(self, call: Expr) -> Expr:
        """A call of what comes later in a chain: what it is given isn't followed. Its own chain is the same."""
        blank = self._blank.get(id(call))
        if blank is None:
            blank = self._blank[id(call)] = Expr("call", call.start, call.end, "", call.args[:1])
            self._blank[id(blank)] = blank
            self._partials[id(blank)] = self._partials.get(id(call), 0)
        return blank

    def _of_compose(self, made: ExtInst, call: Expr, env: Env, ways: int) -> Values:
        """The result of the last of composed transforms, which gets the results of those before it."""
        steps = self.evaluator.values(made.call.args[1], made.env) if len(made.call.args) > 1 else ()
        if len(steps) != 1 or not isinstance(steps[0], Seq) or self.evaluator.containers.put_in(steps[0]):
            return ()
        last, where = steps[0].expr.args[-1:], steps[0].env
        called = [value for item in last for value in self.evaluator.values(item, where)]
        return unique(value for item in called for value in self.result(item, call, env, ways=ways))

    def merged_call(self, made: ExtInst, call: Expr) -> Expr:
        """`partial(f, *a, **k)(*b, **l)` as the call `f(*a, *b, **k, **l)`; what it was given stays where it was.

        Of a partial that a call of the same partial has led to, only the place is known: contexts end.
        """
        origins = self._led_to(made.env)
        recurs = id(made.call) in origins
        env = self.evaluator.generic(made.env.module, made.env.function) if recurs else made.env
        key = (id(made.call), id(env), id(call))
        known = self._merged.get(key)
        if known is None:
            given = dict(call.keywords)
            early = tuple(passed(arg, env) for arg in made.call.args[1:])
            keywords = tuple((name, passed(arg, env)) for name, arg in made.call.keywords if name not in given)
            known = Expr("call", call.start, call.end, "", early + call.args[1:], keywords + call.keywords)
            self._merged[key] = known
            self._written[id(known)] = self.written(call)
            self._partials[id(known)] = self._partials.get(id(call), 0) + 1
            gone = () if recurs else origins
            self._origins[id(known)] = frozenset({id(made.call), *gone, *self._origins.get(id(call), ())})
        return known

    def written(self, call: Expr) -> Expr:
        """A call as the code has it: that of a partial, where it stands for a call of what this was made of."""
        return self._written.get(id(call), call)

    def _led_to(self, env: Env) -> frozenset[int]:
        """The calls of `partial` that have led to an activation."""
        known = self._led.get(id(env))
        if known is None:
            maker = env.receiver.env if isinstance(env.receiver, Inst) else None
            before = [self._led_to(other) for other in (env.caller, env.outer, maker) if other is not None]
            known = self._led[id(env)] = self._origins.get(id(env.call), frozenset()).union(*before)
        return known

    def returned(
        self, func: Func, call: Expr | None, caller: Env | None, receiver: Value | None = None, skip: int = 0
    ) -> Values:
        """The values that a function returns for this call."""
        facts = func.facts
        if facts.is_generator:
            if call is None or caller is None:
                return ()
            return (Opaque(call, caller),) if changed(facts) else (ExtInst(GENERATOR, call, caller),)
        env = self.evaluator.activations.activation(func, call, caller, receiver, skip)
        found = [
            value
            for event in facts.events
            if event.kind == "return"
            and event.value is not None
            and self.evaluator.conditions.may_run(env, event.start)
            for value in self.evaluator.values(event.value, env)
        ]
        if found and all(isinstance(value, Const) for value in found) and may_end(func.module, func.index):
            found += self.evaluator.unless_open(_NONE)  # else, what it returns where it ends is no answer to anything
        if call is not None and caller is not None and env.call is None:
            found = list(self._given_back(found, env, call, caller))
        return unique(found) or (self.evaluator.unless_open(_NONE) if facts.kind == "def" else ())

    def _given_back(self, found: list[Value], env: Env, call: Expr, caller: Env) -> Iterator[Value]:
        """What a function returns, with what this call passes for a parameter that it returns as it is.

        The function is not told apart by its calls, as they are too many; what each of them gets back is.
        """
        forgets = self.evaluator.activations.forgets_calls(env)
        for value in found:
            if forgets and isinstance(value, Free) and (value.module, value.function) == (env.module, env.function):
                called = self.evaluator.activations.called_with(env, call, caller)
                yield from self.evaluator.arguments.parameter(called, value.name)
            else:
                yield value

    def _external(self, name: str, call: Expr, env: Env) -> Iterable[Value]:
        args = call.args[1:]
        if name == "builtins.super":
            return self._super(call, env)
        if name == "builtins.getattr" and len(args) >= 2:
            return self._getattr(call, env)
        if name == "builtins.eval" and args:
            evaluated = self.evaluator.namespaces.evaluated(args[0], call, env)
            return evaluated or self.evaluator.unless_open(ExtInst(name, call, env))
        if name in PASS_THROUGH and args:
            return self.evaluator.values(args[-1] if name == "typing.cast" else args[0], env)
        if name in TESTING and args:
            return self.evaluator.conditions.known_as(
                self.evaluator.conditions.told_by(name, call, env), ExtInst(name, call, env)
            )
        if name == "builtins.len" and len(args) == 1:
            length, unknown = self.evaluator.conditions.contents.length, ExtInst(name, call, env)
            sizes = [
                size for value in self.evaluator.values(args[0], env) for size in length(args[0], value, env, unknown)
            ]
            return sizes or self.evaluator.unless_open(unknown)
        if name in ("builtins.int", "builtins.float", "builtins.str", "builtins.bool") and len(args) == 1:
            whole = [whole for value in self.evaluator.values(args[0], env) for whole in as_int(value)]
            if name == "builtins.int":
                return whole or self.evaluator.unless_open(ExtInst(name, call, env))
        if name in ("importlib.import_module", "builtins.__import__") and args:
            paths = [value.value for value in self.evaluator.values(args[0], env) if isinstance(value, Const)]
            found = [self.evaluator.index.find(env.module.path, path, 0) for path in paths if isinstance(path, str)]
            modules = [Mod(module) for module in found if module is not None]
            modules += () if modules else self.evaluator.namespaces.imported(args[0], env)
            return modules or self.evaluator.unless_open(ExtInst(name, call, env))
        if name in INSTANTIATORS and args:
            return (*self.evaluator.settings.made(call, env), Opaque(call, env))  # or of settings that aren't seen
        if name == "builtins.globals":
            return (Mod(env.module),)
        if name == "builtins.vars" and len(args) == 1:
            return self.evaluator.values(args[0], env)
        if name in ("builtins.min", "builtins.max") and len(args) > 1:
            every = [self.evaluator.values(arg, env) for arg in args]
            least = next((values for values in every if values == (Const(0, "int"),)), None)
            return least if name == "builtins.min" and least else [value for values in every for value in values]
        if name == "builtins.next" and args:
            return self.evaluator.containers.iterated(args[0], env)
        if name in DRAWS_ONE:
            return self.evaluator.containers.drawn(ExtInst(name, call, env))
        if name == "builtins.type" and len(args) == 1:
            kinds = [value.klass for value in self.evaluator.values(args[0], env) if isinstance(value, Inst)]
            return kinds or self.evaluator.unless_open(Opaque(call, env))
        return (ExtInst(name, call, env),)

    def _getattr(self, call: Expr, env: Env) -> Iterable[Value]:
        bases = self.evaluator.values(call.args[1], env)
        names = self._texts(call.args[2], env)
        found: list[Value] = []
        for base in bases if names or not self.evaluator.fixpoint.is_open() else ():
            if names:
                for name in names:
                    found += self.evaluator.attributes.attribute(base, str(name), call, env)
            elif isinstance(base, Mod):
                found += self.evaluator.namespaces.classes(base.module, own=len(bases) > 1)
            else:
                found += (*self.evaluator.settings.found_in(base, call.args[2], env), Opaque(call, env))
        if len(call.args) > 3 and not found and not self.evaluator.fixpoint.is_open():
            found += self.evaluator.values(call.args[3], env)
        return found or self.evaluator.unless_open(Opaque(call, env))

    def _texts(self, expr: Expr, env: Env) -> list[Constant]:
        """The constants that a name may be; of `f"{part}_dataset"`, those that its part leads to."""
        around = text_around(expr) if expr.kind == "fstring" else None
        asked = expr if around is None else expr.args[0]
        texts = [value.value for value in self.evaluator.values(asked, env) if isinstance(value, Const)]
        return texts if around is None else [f"{around[0]}{text}{around[1]}" for text in texts]

    def _super(self, call: Expr, env: Env) -> Iterable[Value]:
        scope: Env | None = env
        while scope is not None and scope.function >= 0 and scope.facts.owner < 0:
            scope = scope.outer
        if scope is None or scope.function < 0:
            return (Opaque(call, env),)
        klass = self.evaluator.klass(scope.module, scope.facts.owner)
        return (Super(scope.receiver or Inst(klass), klass),)

    def _external_method(self, base: Value, attribute: str, call: Expr, env: Env) -> Iterable[Value]:
        if isinstance(base, Seq | Mod) or (isinstance(base, ExtInst) and base.name == "builtins.dict"):
            if attribute == "copy":
                return (base,)
            if attribute in ("get", "pop", "setdefault") and len(call.args) > 1:
                return self._dict_get(base, call, env)
        if isinstance(base, Const) and isinstance(base.value, str) and attribute in _OF_TEXT:
            found = self._of_text(base, attribute, call, env)
            if found is not None:
                return found
        name = f"{describe(base)}.{attribute}"
        if name in GIVES_BACK and len(call.args) > 1:
            return self._all_given(call, env)
        made = derived(ExtInst(name, call, env, base))
        if isinstance(made, ExtInst) and made.name in DRAWS_ONE:
            return self.evaluator.containers.drawn(made)
        return (made,)

    def _all_given(self, call: Expr, env: Env) -> Iterable[Value]:
        """What a call gets by position: one object, what `*objects` is, or several in a tuple."""
        given = call.args[1:]
        if len(given) > 1:
            return (Seq(self._tuple(call), env),)
        return self.evaluator.values(given[0].args[0] if given[0].kind == "star" else given[0], env)

    def _tuple(self, call: Expr) -> Expr:
        known = self._tuples.get(id(call))
        if known is None:
            known = self._tuples[id(call)] = Expr("tuple", call.start, call.end, "", call.args[1:])
        return known

    def _of_text(self, text: Const, method: str, call: Expr, env: Env) -> Values | None:
        """What a method of a known text returns for known texts: `name.lower()`, `name.endswith((".a", ".b"))`."""
        if is_cut(text) or call.keywords:
            return None
        given: list[object] = []
        for arg in call.args[1:]:
            values = self.evaluator.values(arg, env)
            if not values:
                return ()
            whole = self.evaluator.conditions.contents.of(values[0])
            if whole is not None and whole.kind == "tuple" and whole.constants is not None:
                given.append(tuple(whole.constants))
            elif isinstance(values[0], Const) and not is_cut(values[0]):
                given.append(values[0].value)
            if len(values) > 1 or len(given) < len(call.args[1:]):
                return None
        try:
            found = getattr(text.value, method)(*given)
        except TypeError:
            return None
        return (Const(found, type(found).__name__),)

    def _dict_get(self, base: Value, call: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = []
        keys = [value.value for value in self.evaluator.values(call.args[1], env) if isinstance(value, Const)]
        if isinstance(base, Mod):
            found += self.evaluator.namespaces.chosen(base.module, keys)
        for key in keys:
            for pair in self.evaluator.containers.under_key(base, str(key)):
                found += self.evaluator.values(*pair)
        if not keys and not self.evaluator.fixpoint.is_open():
            found += self.evaluator.containers.elements(base)
        if len(call.args) > 2:
            found += self.evaluator.values(call.args[2], env)
            if self._copies_unseen(base):
                found.append(Opaque(call, env))
        return found or self.evaluator.unless_open(Opaque(call, env))

    def _copies_unseen(self, mapping: Value) -> bool:
        """Whether a dictionary has the keys of what was read: `dict(yaml.safe_load(file), **more)`."""
        if not isinstance(mapping, ExtInst):
            return False
        copied = (value for arg in mapping.call.args[1:] for value in self.evaluator.values(arg, mapping.env))
        return any(isinstance(value, ExtInst) and value.name != "builtins.dict" for value in copied)


def takes_object(func: Func) -> bool:
    """Whether a function that is called as it is takes an object before its arguments, as a method of its class."""
    return func.facts.owner >= 0 and not any(decorated(func.facts, name) for name in ("staticmethod", "classmethod"))


def _is_partial(value: Value) -> bool:
    return isinstance(value, ExtInst) and value.name == "functools.partial"
