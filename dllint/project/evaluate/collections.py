"""Containers: what lists and dictionaries are filled with, at their display and later.

What is put into a container is in it where the place may run in that activation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from dllint.knowledge import GIVES_NAMES, MAPPINGS
from dllint.model.facts import Event, Expr
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
    Top,
    Value,
    Values,
    stands,
)
from dllint.project.evaluate.command_lines import namespace
from dllint.project.evaluate.shapes import GENERATOR, Argument, Under, derived, describe, each_once, unique
from dllint.project.program.events import PROGRESS
from dllint.project.program.flow import LOOPS
from dllint.project.program.module import Module
from dllint.project.program.on_demand import OnDemand

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


_SAME_ELEMENTS = frozenset({
    "builtins.list", "builtins.tuple", "builtins.sorted", "builtins.reversed", "builtins.iter", "builtins.set",
    "builtins.filter", "random.choices", "random.sample", "random.Random().choices", "random.Random().sample",
})  # fmt: skip

_ORDERED = _SAME_ELEMENTS - {"builtins.reversed", "builtins.iter", "builtins.set", "builtins.filter"}
"""Those of them whose items have numbers."""

DRAWS_ONE = frozenset({"random.choice", "random.Random().choice"})

_OF_COLUMNS = frozenset({"builtins.zip", "builtins.list", "builtins.tuple"})

Filling = tuple[Env, Event, Expr]
"""A place that fills a container: the activation, the event, the call or the subscript."""
Fillings = dict[Value, list[Filling]]
"""The places that fill containers, by what they fill."""


class Containers:
    """Evaluates items of containers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._items_of: dict[Value, list[Argument]] = {}
        self._put_into: dict[Value, list[Argument]] = {}
        self._under_keys: dict[tuple[Value, str], Under] = {}
        self._registered: dict[tuple[Value, str], list[Argument]] = {}
        self._objects: dict[Inst, list[Env]] = {}
        self._registries: dict[Module, list[Env]] = {}
        self._in_objects: dict[Inst, Fillings] = {}
        self._within: dict[Env, Fillings] = {}
        self._elements_of: dict[Value, Values] = {}
        self._contents_of: dict[Value, Values] = {}
        self._columns: dict[tuple[ExtInst, int], Values] = {}
        self._parts_of_rows: dict[tuple[Expr, int], Expr] = {}
        self._yields = OnDemand(_find_yields)
        self._delegates = OnDemand(_find_delegates)

    def expression(self, expr: Expr, env: Env) -> Iterable[Value]:
        kept = self._kept_by_name(expr, env)
        if kept:
            return kept
        found: list[Value] = []
        keys: list[object] | None = None
        for base in self.evaluator.values(expr.args[0], env):
            if keys is None and _has_keys(base):
                index = self.evaluator.values(expr.args[1], env)
                keys = [value.value for value in index if isinstance(value, Const)]
            found += self._item(base, keys or [], expr, env)
        return found

    def _kept_by_name(self, expr: Expr, env: Env) -> Values:
        """What an object keeps under a name: `self.__dict__["provider"]`, which asks no property."""
        names, key = expr.args[0], expr.args[1]
        if names.kind != "attribute" or names.name != "__dict__" or not isinstance(key.value, str):
            return ()
        attributes = self.evaluator.attributes
        owners = [owner for owner in self.evaluator.values(names.args[0], env) if isinstance(owner, Inst)]
        stored = (item for owner in owners for item in attributes.stored(owner, key.value))
        return unique(value for item in stored for value in attributes.stored_values(item))

    def _item(self, base: Value, keys: list[object], expr: Expr, env: Env) -> Iterable[Value]:
        match base:
            case Ext() | Klass() | Top():
                return (base,)
            case Mod(module=module):
                return self.evaluator.namespaces.chosen(module, keys) or self.evaluator.unless_open(Opaque(expr, env))
            case Seq() | ExtInst() if _has_keys(base):
                if expr.args[1].kind == "slice":
                    return (base,)
                found = self._seq_item(base, keys) or tuple(self._of_groups(base, keys, expr, env))
                return found or self.evaluator.unless_open(Opaque(expr, env))
            case ExtInst() if expr.args[1].kind != "slice" and (copied := self._of_copy(base)):
                return copied
            case ExtInst() if expr.args[1].value == 0 and (parsed := namespace(base)):
                return (parsed,)
            case ExtInst() | ExtMethod():
                return (derived(ExtInst(f"{describe(base)}[]", expr, env, base)),)
        return (Opaque(expr, env),)

    def _of_groups(self, base: Value, keys: list[object], expr: Expr, env: Env) -> Iterator[Value]:
        """What `dict(groups)` has under a key where these are of a `defaultdict`: what that has there."""
        if not isinstance(base, ExtInst) or base.name not in MAPPINGS:
            return
        for given in base.call.args[1:2]:
            for copied in self.evaluator.values(given, base.env) if given.kind != "star" else ():
                if isinstance(copied, ExtInst) and copied.name == "collections.defaultdict":
                    yield from self._item(copied, keys, expr, env)

    def _seq_item(self, base: Seq | ExtInst, keys: list[object]) -> Values:
        found: list[Value] = []
        for key in keys:
            if isinstance(key, str):
                found += [value for pair in self.under_key(base, key) for value in self.evaluator.values(*pair)]
            elif isinstance(base, Seq) and base.expr.kind in ("list", "tuple") and isinstance(key, int):
                args = base.expr.args
                if -len(args) <= key < len(args) and args[key].kind != "star":
                    found += self.evaluator.values(args[key], base.env)
        if not found and self.evaluator.fixpoint.is_open():
            return ()  # what is under the keys comes first
        return unique(found) if found else self.elements(base)

    def elements(self, value: Value) -> Values:
        """The contents of a container: list items, dict values, a module's classes."""
        if isinstance(value, Mod):
            return self.evaluator.namespaces.classes(value.module)
        return self.evaluator.ask(self._contents_of, value, (), self._find_elements, value)

    def _find_elements(self, value: Value) -> Values:
        return unique(item for pair in self.items(value) for item in self.evaluator.values(*pair))

    def items(self, value: Value) -> list[Argument]:
        """The expressions a container is filled with, at its display and by calls on it."""
        return self.evaluator.ask(self._items_of, value, [], self._flat, value, self._parts)

    def put_in(self, container: Seq | ExtInst) -> list[Argument]:
        """The values that `append`, `x[k] = v` and the like put into a container made here."""
        return self.evaluator.ask(self._put_into, container, [], self._flat, container, self._put_parts)

    def _flat(self, value: Value, parts: Callable[[Value], Iterator[Argument | Value]]) -> list[Argument]:
        """The parts of a container, and for every container whose items it takes over, those; each once."""
        taken = (item for part in parts(value) for item in ([part] if isinstance(part, tuple) else self.items(part)))
        return list(each_once(taken))

    def _parts(self, value: Value) -> Iterator[Argument | Value]:
        """The expressions that fill a container, and the containers whose items it takes over."""
        if isinstance(value, Seq):
            expr, env = value.expr, value.env
            kept = expr.args[1::2] if expr.kind == "dict" else expr.args
            if expr.kind == "comprehension":
                kept = expr.args[-1:]
            for item in kept:
                if item.kind == "star":
                    yield from self.evaluator.values(item.args[0], env)
                else:
                    yield stands(item, env)
        elif isinstance(value, ExtInst) and value.name in MAPPINGS:
            yield from (stands(item, value.env) for _, item in value.call.keywords)
            yield from (stands(item, env) for _, item, env in self._pairs(value))
        yield from self._put_parts(value)

    def _put_parts(self, container: Value) -> Iterator[Argument | Value]:
        if not isinstance(container, (Seq, ExtInst)):
            return
        for scope, event, what in self._fillings(container):
            if event.kind == "augment":
                yield from self.evaluator.values(what, scope)
            elif what.kind == "subscript" and event.value is not None:
                yield event.value, scope
            elif what.kind == "call":
                yield from self._put_by_call(what, scope)

    def _fillings(self, container: Seq | ExtInst) -> Iterator[Filling]:
        """The places that may fill a container, in the activation that makes it and around it."""
        env = container.env
        yield from self._in_activation(env).get(container, ())
        if env.function < 0:
            for scope in self._registering(env.module):
                yield from self._in_activation(scope).get(container, ())
        elif isinstance(env.receiver, Inst):
            found = self.evaluator.ask(self._in_objects, env.receiver, {}, self._find_in_object, env.receiver)
            yield from (filling for filling in found.get(container, ()) if filling[0] is not env)

    def _find_in_object(self, inst: Inst) -> Fillings:
        """The places in the methods of an object that fill containers: found once for all of its activations."""
        found: Fillings = {}
        for scope in self._filling_methods(inst):
            for value, fillings in self._in_activation(scope).items():
                found.setdefault(value, []).extend(fillings)
        return found

    def _in_activation(self, scope: Env) -> Fillings:
        return self.evaluator.ask(self._within, scope, {}, self._find_within, scope)

    def _find_within(self, scope: Env) -> Fillings:
        """The places in an activation itself that fill containers, and that may run in it."""
        found: Fillings = {}
        for event, receiver, what in scope.module.mutations[scope.function]:
            runs = event.block < 0 or self.evaluator.conditions.may_run(scope, event.start)
            if runs and receiver.kind in ("name", "attribute"):
                for value in self.evaluator.values(receiver, scope):
                    if not is_made_below(value, scope, event, receiver):
                        found.setdefault(value, []).append((scope, event, what))
        return found

    def _put_by_call(self, call: Expr, env: Env) -> Iterator[Argument | Value]:
        method = call.args[0].name
        if method in ("extend", "update"):
            for arg in call.args[1:]:
                yield from (value for value in self.evaluator.values(arg, env) if isinstance(value, Seq))
            yield from ((value, env) for _, value in call.keywords)
        elif len(call.args) > 1:
            yield call.args[-1], env

    def mutations_around(self, env: Env) -> Iterator[tuple[Env, Event, Expr, Expr]]:
        """The places that may fill a container made in this activation, here and in the other methods of its object.

        (activation, event, receiver, call or subscript target)
        """
        for scope in self._scopes_around(env):
            for event, receiver, what in scope.module.mutations[scope.function]:
                yield scope, event, receiver, what

    def _scopes_around(self, env: Env) -> Iterator[Env]:
        """An activation, and those of the methods of its object that put something into something."""
        yield env
        if env.function < 0:
            yield from self._registering(env.module)
        if env.function >= 0 and isinstance(env.receiver, Inst):
            yield from (scope for scope in self._filling_methods(env.receiver) if scope is not env)

    def _filling_methods(self, inst: Inst) -> list[Env]:
        return self.evaluator.ask(self._objects, inst, [], self._find_methods, inst)

    def _find_methods(self, inst: Inst) -> list[Env]:
        found = []
        for klass in self.evaluator.classes.mro(inst.klass):
            for function in klass.facts.methods.values():
                # An object has activations of all its methods: they count where activations are limited.
                scope = self.evaluator.activations.method_env(inst, klass.module, function)
                if klass.module.mutations[function]:
                    found.append(scope)
            for function in klass.module.nested_in_methods.get(klass.index, ()):
                if klass.module.mutations[function]:
                    found.append(self.evaluator.activations.method_env(inst, klass.module, function))
        return found

    def _registering(self, module: Module) -> list[Env]:
        """The functions of a module that put what they decorate, or subclasses, into one of its containers."""
        return self.evaluator.ask(self._registries, module, [], self._find_registering, module)

    def _find_registering(self, module: Module) -> list[Env]:
        found = []
        for function in module.model.functions:
            put = [
                what for _, receiver, what in module.mutations[function.index] if receiver.name not in function.bound
            ]
            if put and function.name == "__init_subclass__":
                found.append(self.evaluator.generic(module, function.index))
            elif put and function.owner < 0:
                found += self.evaluator.decorations.activations(module, function.index)
        return found

    def iterated(self, iterable: Expr, env: Env) -> Values:
        """The values that a loop over an expression gives its target."""
        found: list[Value] = []
        for value in self.evaluator.values(iterable, env):
            if isinstance(value, Seq):
                found += self._keys(value, iterable, env) if value.kind == "dict" else self._of_list(value)
            elif isinstance(value, ExtInst):
                found += self._of_external(value, iterable, env)
            else:
                found.append(value if isinstance(value, Top) else Opaque(iterable, env))
        return unique(found)

    def _of_list(self, value: Seq) -> Values:
        """The elements of a list, those of what it takes over from libraries, too: `rows.extend(json.load(file))`."""
        return self.evaluator.ask(self._elements_of, value, (), self._find_of_list, value)

    def _find_of_list(self, value: Seq) -> Values:
        taken = ((part, given) for given in self.taken_over(value) for part in self.evaluator.values(*given))
        external = (self._of_external(part, *given) for part, given in taken if isinstance(part, ExtInst))
        return unique((*self.elements(value), *(item for items in external for item in items)))

    def taken_over(self, value: Seq) -> Iterator[Argument]:
        """What a list takes all elements of: `[*more]`, `rows += more`, `rows.extend(more)`."""
        yield from ((part.args[0], value.env) for part in value.expr.args if part.kind == "star")
        for scope, event, what in self._fillings(value):
            if event.kind == "augment":
                yield what, scope
            elif what.kind == "call" and what.args[0].name in ("extend", "update"):
                yield from ((arg, scope) for arg in what.args[1:])

    def _of_external(self, value: ExtInst, iterable: Expr, env: Env) -> Iterable[Value]:
        """What a loop over something that a library returns gives."""
        if value.name.startswith(GIVES_NAMES):
            return (Opaque(iterable, env),)
        inner = self._yielded(value) if value.name == GENERATOR else self.viewed(value)
        found, part = inner or self._handed_on(value), derived(ExtInst(f"{value.name}[]", iterable, env, value))
        return found or self.evaluator.unless_open(part)

    def _keys(self, value: Seq, iterable: Expr, env: Env) -> Iterator[Value]:
        """The keys of a dictionary that is written out or made by a comprehension, and those that it gets later."""
        written = value.expr.args[::2] if value.expr.kind == "dict" else ()
        keys = [(key, value.env) for key in written]
        keys += [(key, where) for key, _, where in (*self._pairs(value), *self._stored(value))]
        for key, where in keys:
            yield from self.evaluator.values(key, where) if key.kind != "star" else ()
        called = any(what.kind == "call" for _, _, what in self._fillings(value))
        if called or any(key.kind == "star" for key in written):
            yield Opaque(iterable, env)

    def _handed_on(self, value: ExtInst) -> Values:
        """What a loop over `tqdm(rows)`, `list(rows)` or `filter(wanted, rows)` gives: what one over `rows` gives."""
        hands_on = value.name in _SAME_ELEMENTS or value.name.rpartition(".")[2] in PROGRESS
        if not hands_on or value.call.kind != "call":
            return ()
        return self.evaluator.ask(self._elements_of, value, (), self._find_handed_on, value)

    def _of_copy(self, value: ExtInst) -> Values:
        """The items of `list(parts.values())` where all are known: of what is read, each is only a part of that."""
        found = self._handed_on(value) if value.name in _ORDERED else ()
        return found if all(isinstance(item, Inst) for item in found) else ()

    def _find_handed_on(self, value: ExtInst) -> Values:
        position = 2 if value.name == "builtins.filter" else 1
        given = value.call.args[position : position + 1]
        if not given or given[0].kind == "star":
            return ()
        added = (item for pair in self.put_in(value) for item in self.evaluator.values(*pair))
        return unique((*self.iterated(given[0], value.env), *added))

    def drawn(self, draw: ExtInst) -> Iterable[Value]:
        """What `random.choice(parts)` gives: one of the parts, where these are known to be objects, or code to call."""
        given = draw.call.args[1:2]
        found = self.iterated(given[0], draw.env) if given and given[0].kind != "star" else ()
        if not found:
            return self.evaluator.unless_open(draw)
        known = [part for part in found if isinstance(part, (Inst, Func, Method, Klass))]
        return known if len(known) == len(found) else (*known, draw)

    def _yielded(self, generator: ExtInst) -> Values:
        return self.evaluator.ask(self._elements_of, generator, (), self._find_yielded, generator)

    def _find_yielded(self, generator: ExtInst) -> Values:
        each = [value for _, expr, env in self.yields(generator) for value in self.evaluator.values(expr, env)]
        return unique((*each, *(value for given in self.delegates(generator) for value in self.iterated(*given))))

    def yields(self, generator: ExtInst) -> Iterator[tuple[Event, Expr, Env]]:
        """What this call of a generator function yields: the statement, the expression, and the activation."""
        for env in self.running(generator):
            yield from ((event, expr, env) for event, expr in self._yields[env.module, env.function])

    def delegates(self, generator: ExtInst) -> Iterator[Argument]:
        """What it hands on with `yield from`, whose elements it yields."""
        for env in self.running(generator):
            yield from ((expr, env) for expr in self._delegates[env.module, env.function])

    def running(self, generator: ExtInst) -> Iterator[Env]:
        """The activations of the function that a call of it makes a generator of."""
        for callee in self.evaluator.values(generator.call.args[0], generator.env):
            func = callee.func if isinstance(callee, Method) else callee
            if isinstance(func, Func):
                owner = callee.owner if isinstance(callee, Method) else None
                yield self.evaluator.activations.activation(func, generator.call, generator.env, owner)

    def viewed(self, view: ExtInst) -> Values:
        """The values that a loop over `d.values()` gives."""
        if view.base is None or not view.name.endswith(".values") or not self._is_dict(view.base):
            return ()
        return self.elements(view.base)

    def _is_dict(self, value: Value) -> bool:
        if isinstance(value, Mod):
            return True
        if isinstance(value, Seq):
            return value.kind == "dict"
        return isinstance(value, ExtInst) and value.name in MAPPINGS

    def destructure(self, values: Values, path: tuple[int, ...], expr: Expr, env: Env) -> Values:
        """The part of a value that a nested tuple target takes."""
        for index in path:
            found: list[Value] = []
            for value in values:
                if isinstance(value, Seq) and value.kind != "dict":
                    found += self._seq_item(value, [index]) or self.evaluator.unless_open(Opaque(expr, env))
                elif isinstance(value, ExtInst):
                    inner = self._yielded(value) if value.name == GENERATOR else self._column(value, index)
                    found += inner or self._of_copy(value) or self._part(value, index)
                else:
                    found.append(value if isinstance(value, Top) else Opaque(expr, env))
            values = unique(found)
        return values

    def _column(self, value: ExtInst, index: int) -> Values:
        """Column `index` of `zip(*[(name, label) for ...])`: the comprehension of that part alone."""
        if value.name not in _OF_COLUMNS or value.call.kind != "call" or len(value.call.args) != 2:
            return ()
        return self.evaluator.ask(self._columns, (value, index), (), self._find_column, value, index)

    def _find_column(self, value: ExtInst, index: int) -> Values:
        given = value.call.args[1]
        if value.name != "builtins.zip":
            inner = self.evaluator.values(given, value.env)
            return unique(part for item in inner if isinstance(item, ExtInst) for part in self._column(item, index))
        rows = self.evaluator.values(given.args[0], value.env) if given.kind == "star" else ()
        made = (row for row in rows if isinstance(row, Seq) and _has_part(row.expr, index))
        return unique(Seq(self._of_rows(row.expr, index), row.env) for row in made)

    def _of_rows(self, rows: Expr, index: int) -> Expr:
        """A comprehension of one part of each row that another one makes."""
        if (rows, index) not in self._parts_of_rows:
            part = rows.args[0].args[index]
            self._parts_of_rows[rows, index] = Expr(rows.kind, rows.start, rows.end, "list", (part,), rows.keywords)
        return self._parts_of_rows[rows, index]

    def _part(self, value: ExtInst, index: int) -> Values:
        """Part `index` of something external; what `zip` and `enumerate` pair is told apart."""
        made, parsed = value.base, namespace(value)
        if parsed is not None and index == 0:
            return (parsed,)
        if isinstance(made, ExtInst) and made.name == value.name.removesuffix("[]"):
            sources = {"builtins.zip": made.call.args[1:], "builtins.enumerate": (None, *made.call.args[1:2])}
            given = sources.get(made.name, ())
            if index == 1 and made.name.endswith(".items") and made.base is not None and self._is_dict(made.base):
                return self.elements(made.base)
            if index == 0 and made.name.endswith(".items"):
                keys = ExtInst(f"{made.name[:-5]}keys", made.call, made.env, made.base)
                return (derived(ExtInst(f"{keys.name}[]", value.call, value.env, keys)),)
            source = given[index] if index < len(given) else None
            if made.name == "builtins.enumerate" and index == 0:
                return (Opaque(value.call, value.env),)  # a number
            if source is not None and not any(arg.kind == "star" for arg in made.call.args):
                return self.iterated(source, made.env)
        return (derived(ExtInst(f"{value.name}[]", value.call, value.env, value)),)

    def dict_item(self, value: Value, name: str) -> tuple[list[Argument], bool]:
        """The expressions stored under a string key of a dictionary, and whether it surely has the key."""
        found, surely = self.evaluator.ask(
            self._under_keys, (value, name), Under((), False), self._dict_item, value, name
        )
        return list(found), surely

    def under_key(self, value: Value, name: str) -> list[Argument]:
        """The expressions that a dictionary may have under a key, those among them that code puts there elsewhere."""
        found = self.dict_item(value, name)[0]
        if found or self.evaluator.fixpoint.is_open():
            return found
        return self.evaluator.ask(self._registered, (value, name), [], self._find_registered, value, name)

    def _find_registered(self, value: Value, name: str) -> list[Argument]:
        found = []
        for key, item, env in (*self._pairs(value), *self._stored(value)):
            keys = self.evaluator.values(key, env)
            if not all(isinstance(one, Const) and one.value != name for one in keys):
                found.append((item, env))
        return found

    def _stored(self, value: Value) -> Iterator[tuple[Expr, Expr, Env]]:
        """The keys and items of assignments: `d[key] = x`."""
        for scope, event, what in self._fillings(value) if isinstance(value, (Seq, ExtInst)) else ():
            if what.kind == "subscript" and event.kind == "assign" and event.value is not None:
                yield what.args[1], event.value, scope

    def _pairs(self, value: Value) -> Iterator[tuple[Expr, Expr, Env]]:
        """The keys and items of `{name: make(name) for name in names}` and `dict((name, make(name)) for ...)`."""
        if isinstance(value, Seq) and value.expr.kind == "comprehension" and value.kind == "dict":
            key, item = value.expr.args
            yield key, item, value.env
        elif isinstance(value, ExtInst) and value.name in MAPPINGS:
            given = (rows for arg in value.call.args[1:2] for rows in self.evaluator.values(arg, value.env))
            made = (rows for rows in given if isinstance(rows, Seq) and rows.kind != "dict")
            for row, env in ((row, rows.env) for rows in made for row in rows.expr.args):
                if row.kind in ("tuple", "list") and len(row.args) == 2:
                    yield row.args[0], row.args[1], env

    def _dict_item(self, value: Value, name: str) -> Under:
        found: list[Argument] = []
        surely = False
        if isinstance(value, Seq) and value.expr.kind == "dict":
            pairs = zip(value.expr.args[::2], value.expr.args[1::2], strict=True)
            for key, item in pairs:
                if key.kind == "star" and key.keyword(name) is None:
                    more, certain = self.evaluator.arguments.from_double_star(key.args[0], value.env, name)
                    found, surely = more if certain else found + more, surely or certain
                elif key.value == name and key.kind == "constant":
                    found, surely = [(item, value.env)], True
        elif isinstance(value, ExtInst) and value.name in (
            "builtins.dict",
            "collections.OrderedDict",
            "types.SimpleNamespace",
        ):
            for arg in value.call.args[1:]:
                more, certain = self.evaluator.arguments.from_double_star(arg, value.env, name)
                found, surely = found + more, surely or certain
            more, certain = self.evaluator.arguments.argument(value.call, value.env, None, name)
            found, surely = found + more, surely or certain
        if isinstance(value, (Seq, ExtInst)):
            found += self.stored_under(value, name, value.env)
        elif isinstance(value, Free):
            found += self.stored_under(value, name, self.evaluator.generic(value.module, value.function))
        return Under(each_once(found), surely)

    def stored_under(self, container: Value, name: str, env: Env) -> Iterator[Argument]:
        """`d["name"] = x` and `d.update(name=x)` on a container, in the function that made it."""
        for event, receiver, what in env.module.mutations[env.function]:
            if what.kind == "subscript" and event.value is not None and what.args[1].value == name:
                runs = event.block < 0 or self.evaluator.conditions.may_run(env, event.start)
                if runs and container in self.evaluator.values(receiver, env):
                    yield event.value, env
            elif what.kind == "call" and what.args[0].name in ("update", "setdefault"):
                if container not in self.evaluator.values(receiver, env):
                    continue
                if what.args[0].name == "setdefault" and len(what.args) > 2 and what.args[1].value == name:
                    yield what.args[2], env
                    continue
                yield from self.evaluator.arguments.argument(what, env, None, name)[0]
                for arg in what.args[1:]:
                    yield from self.evaluator.arguments.from_double_star(arg, env, name)[0]


def _find_yields(function: tuple[Module, int]) -> list[tuple[Event, Expr]]:
    """The expressions that a generator function yields, and their statements."""
    module, index = function
    parts = ((event, part) for event in module.events(index) for part in event.walk())
    return [(event, part.args[0]) for event, part in parts if part.kind == "yield" and part.args]


def _find_delegates(function: tuple[Module, int]) -> list[Expr]:
    """The expressions behind `yield from`."""
    module, index = function
    parts = (part for event in module.events(index) for part in event.walk())
    return [part.args[0] for part in parts if part.kind == "yieldfrom"]


def _has_part(rows: Expr, index: int) -> bool:
    """Whether a comprehension makes rows that have a part of that index, each of its own."""
    if rows.kind != "comprehension" or rows.name == "dict":
        return False
    row = rows.args[0]
    return row.kind == "tuple" and index < len(row.args) and not any(part.kind == "star" for part in row.args)


def _has_keys(base: Value) -> bool:
    """Whether the keys of a subscript say what it gives: of a module's namespace and of what the code fills."""
    return isinstance(base, (Mod, Seq)) or (isinstance(base, ExtInst) and base.name in MAPPINGS)


def is_made_below(made: Value, scope: Env, event: Event, receiver: Expr) -> bool:
    """Whether `__init__` fills an attribute before it makes what the attribute is later: that gets nothing there.

    Another method may run again, and then fills what it made before.
    """
    if not isinstance(made, (Seq, ExtInst, Opaque)) or made.env is not scope or scope.function < 0:
        return False
    own = receiver.kind == "attribute" and receiver.args[0].name == scope.module.receiver_name(scope.function)
    if not own or scope.facts.name != "__init__":
        return False
    place = (made.call if isinstance(made, ExtInst) else made.expr).start
    around = map(scope.module.block, scope.module.enclosing(event.block))
    again = any(block.kind in LOOPS and block.start <= place < block.end for block in around)
    return event.end <= place and not again
