"""Attributes: what instances and classes hold, and who wrote it.

What an object keeps is read through `__dict__`, too, as in `self.__dict__["loader"]`: no property is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from dllint.knowledge import ANNOTATION_INDEXES, FOLDER_DATASETS, FOLDER_LISTS, canonical
from dllint.model.facts import Expr
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
    Super,
    Top,
    Value,
    Values,
)
from dllint.project.evaluate.computed_attributes import ComputedAttributes
from dllint.project.evaluate.exclusion import Known, chosen_arm, constant_in, known_at
from dllint.project.evaluate.hierarchy import Answer
from dllint.project.evaluate.kwargs_attributes import TakenOver
from dllint.project.evaluate.namespaces import VIEWS
from dllint.project.evaluate.own_tests import OwnTests
from dllint.project.evaluate.saved_parameters import SavedParameters
from dllint.project.evaluate.set_after import SetAfter
from dllint.project.evaluate.set_again import set_again
from dllint.project.evaluate.shapes import (
    Argument,
    Tests,
    decorated,
    derived,
    getter,
    is_accessor,
    is_property,
    path_to_expr,
    reaching_writes,
    unique,
    with_replacing,
)
from dllint.project.evaluate.strong_updates import just_written, overwritten_later, puts_back
from dllint.project.program.module import Module, Write

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


Stored = tuple[Write | None, Expr, Env]
"""A way an attribute gets its value: the write, the value's expression, its activation."""


class Attributes:
    """Evaluates attributes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._attributes: dict[tuple[Value, str], Values] = {}
        self._stored: dict[tuple[Inst, str], tuple[Stored, ...]] = {}
        self._outside_writes: dict[tuple[Klass, str], list[tuple[Inst, Write, Module]]] = {}
        self._on_names: dict[Module, dict[int, list[Write]]] = {}
        self._replaced: dict[tuple[Klass, Klass, int], bool] = {}
        self._outside: dict[Klass, dict[str, None]] = {}
        self._set_on: dict[int, frozenset[Klass]] = {}
        self._elsewhere: dict[tuple[Klass, str, Module, int], frozenset[str]] = {}
        self._writes: dict[tuple[Module, int, str], list[tuple[int, list[tuple[Write, Tests]]]]] = {}
        self.taken_over = TakenOver(evaluator)
        self.computed = ComputedAttributes(evaluator)
        self.own_tests = OwnTests(evaluator)
        self.saved = SavedParameters(evaluator)
        self.set_after = SetAfter(evaluator)

    def expression(self, expr: Expr, env: Env) -> Iterable[Value]:
        found: list[Value] = list(self.saved.read(expr, env))
        if found:
            return found
        bases = self.evaluator.values(expr.args[0], env)
        some = [base for base in bases if type(base) is not Const or base.value is not None]
        if not some and self.evaluator.fixpoint.is_open():
            return ()
        for base in some or bases:  # None has none: it would raise
            found += self.attribute(base, expr.name, expr, env)
        return found

    def attribute(self, base: Value, name: str, expr: Expr, env: Env) -> Iterable[Value]:
        """The values of `base.name`; `expr` is where it is read."""
        match base:
            case Top():
                return (base,)
            case Mod(module=module):
                found = self.evaluator.names.global_name(module, name)
                if found and found != (Ext(f"builtins.{name}"),):  # those are no module's own
                    return found
                if found == () and self.evaluator.fixpoint.is_open():
                    return ()
                submodule = (
                    self.evaluator.index.find(module.path, name, 1) if module.path.endswith("__init__.py") else None
                )
                if submodule is None and name == "__dict__":
                    return (base,)  # a module is its own namespace
                if submodule is None and name in VIEWS:
                    return (ExtMethod(base, name),)
                return (Mod(submodule),) if submodule is not None else (Opaque(expr, env),)
            case Ext(name=dotted):
                submodule = self.evaluator.index.find(env.module.path, f"{dotted}.{name}", 0)
                return (Mod(submodule),) if submodule is not None else (Ext(canonical(f"{dotted}.{name}")),)
            case Inst():
                return (
                    self._read_back(base, expr, env)
                    or self._left_by_tests(base, expr, env)
                    or self._not_replaced(self._so_far(base, name, expr, env), base, expr, env)
                    or self._of_index(base, name)
                    or self.evaluator.unless_open(Opaque(expr, env))
                )
            case Klass():
                return self.class_attribute(base, name, None) or self.evaluator.unless_open(Opaque(expr, env))
            case Super(owner=owner, klass=klass):
                chain = self.evaluator.classes.mro(owner.klass if isinstance(owner, Inst) else klass)
                own = [item.module is klass.module and item.index == klass.index for item in chain]
                after = chain[own.index(True) + 1 :] if True in own else ()
                for item in after:
                    if name in item.facts.methods:
                        return (Method(owner, Func(item.module, item.facts.methods[name], item.outer)),)
                return (derived(ExtMethod(base, name)),)
            case Opaque() | Free():
                return (derived(ExtMethod(base, name)),) if expr.kind == "attribute" else (Opaque(expr, env),)
            case ExtInst(name=loader, call=call) if loader in self.evaluator.loaders and call.kind == "call":
                return self._given_to_loader(base, name) or self.evaluator.unless_open(derived(ExtMethod(base, name)))
            case ExtInst(name="argparse.ArgumentParser().parse_args"):
                set_after = self.set_after.of(base, name)
                if set_after is not None and set_after[0].event.value is not None:
                    return self.stored_values((set_after[0], set_after[0].event.value, set_after[1]))
                told = self.set_after.asserted(base, name, expr, env)
                stated = self.evaluator.command_lines.stated(base, name, told) if told is not None else ()
                return stated or self.evaluator.command_lines.option(base, name) or (derived(ExtMethod(base, name)),)
            case ExtInst(name="argparse.Namespace" | "types.SimpleNamespace"):
                pairs, _ = self.evaluator.containers.dict_item(base, name)
                return [value for pair in pairs for value in self.evaluator.values(*pair)] or (
                    derived(ExtMethod(base, name)),
                )
        return (derived(ExtMethod(base, name)),)

    def _given_to_loader(self, loader: ExtInst, name: str) -> Values:
        """`loader.dataset`: a loader shows what it was given, and how many workers it has if it was given no number."""
        boundary = self.evaluator.loaders[loader.name]
        parameter = boundary.shown_as(name) or (name if name == boundary.workers else "")
        if not parameter:
            return ()
        position = boundary.parameters.index(parameter) if parameter in boundary.parameters else None
        found, _ = self.evaluator.arguments.argument(loader.call, loader.env, position, parameter)
        if not found and name == boundary.workers and not self.evaluator.index.outside_writes.get(name):
            unpacks = any(arg.kind == "star" for arg in loader.call.args) or loader.call.keyword("**") is not None
            default = boundary.defaults.get(name, 0)
            return () if unpacks else (Const(default, type(default).__name__),)
        return unique(value for pair in found for value in self.evaluator.values(*pair))

    def _of_index(self, inst: Inst, name: str) -> Values:
        """What an object has that its class doesn't define, where a base is an index of annotations, or of folders."""
        bases = self.evaluator.classes.external_bases(inst.klass) if inst.call is not None else ()
        known = FOLDER_DATASETS if name in FOLDER_LISTS else ANNOTATION_INDEXES
        index = next((base for base in bases if base in known), None)
        if index is None or inst.call is None or inst.env is None:
            return ()
        return (derived(ExtMethod(ExtInst(index, inst.call, inst.env), name)),)

    def _read_back(self, inst: Inst, expr: Expr, env: Env) -> Values:
        """The values that the method that reads an attribute has stored there itself."""
        if env.receiver != inst:
            return ()
        key = inst.klass, expr.name, env.module, env.function
        elsewhere = partial(self.evaluator.kept, self._elsewhere, key, self._set_elsewhere, *key)
        write = just_written(env.module, env.function, expr, elsewhere)
        if write is None or write.event.value is None:
            return ()
        if write.event.target is write.target and write.event.value.kind == "ifexp":
            arm = chosen_arm(write.event.value, self._known_where_read(expr, env))
            if arm is not None:
                return self.evaluator.values(arm, env)
        return self.stored_values((write, write.event.value, env))

    def _set_elsewhere(self, klass: Klass, name: str, module: Module, function: int) -> frozenset[str]:
        """The names of the methods of a class's objects, all but one, that set an attribute or call one that does."""
        found: set[str] = set()
        waiting = [
            item.module.model.functions[setter].name
            for item in self.evaluator.classes.mro(klass)
            for setter in item.module.writers.get((item.index, name), ())
            if (item.module, setter) != (module, function)
        ]
        while waiting:
            called = waiting.pop()
            if called not in found:
                found.add(called)
                waiting += self._calling(klass, called, module, function)
        return frozenset(found)

    def _calling(self, klass: Klass, called: str, module: Module, function: int) -> Iterator[str]:
        """The methods of a class's objects but one that call a method of a name on their object."""
        for item in self.evaluator.classes.mro(klass):
            for site in item.module.calls.get(called, ()):
                own = item.module.method_owner(site.function) == item.index
                if own and (item.module, site.function) != (module, function) and site.expr.args[0].kind == "attribute":
                    yield item.module.model.functions[site.function].name

    def _so_far(self, inst: Inst, name: str, expr: Expr, env: Env) -> Values:
        """What an attribute may hold where a method reads it: also what is overwritten before the methods around end.

        These are the method itself and those that call it on the same object.
        """
        found: list[Value] = []
        place: Expr | None = expr if expr.args[0].name == env.module.receiver_name(env.function) else None
        around: Env | None = env
        while place is not None and around is not None and around.receiver == inst:
            for write in overwritten_later(around.module, around.function, name, place.start):
                if write.event.value is not None:
                    found += self.stored_values((write, write.event.value, around))
            place, around = around.call, around.caller
        return unique((*found, *self.instance_attribute(inst, name)))

    def _not_replaced(self, values: Values, inst: Inst, expr: Expr, env: Env) -> Values:
        """The values that the method which reads an attribute has not replaced: `if callable(self.x): self.x = ...`."""
        module, function = env.module, env.function
        if expr.name not in module.tested[function] or env.receiver != inst or expr.kind != "attribute":
            return values
        around = set(module.enclosing(module.block_at(function, expr.start)))
        writes = module.self_writes.get(module.method_owner(function), {}).get(expr.name, ())
        for index in {write.event.block for write in writes if write.function == function and write.event.block >= 0}:
            block = module.block(index)
            if block.kind == "if" and block.test is not None and block.end <= expr.start:
                if block.parent < 0 or block.parent in around:
                    tests = [(block.test, True)]
                    values = self.evaluator.conditions.not_replaced(values, expr.dotted, tests, env)
        return values

    def _known_where_read(self, read: Expr, env: Env) -> list[Known]:
        """What tests around a place state about attributes, and about names assigned from these in the method."""
        module, receiver = env.module, env.module.receiver_name(env.function)
        names = {
            event.target.dotted: event.value.name
            for event in module.events(env.function)
            if event.kind == "assign" and event.block < 0 and event.target is not None and event.value is not None
            and event.target.kind == "attribute" and event.target.args[0].name == receiver
            and event.value.kind == "name" and constant_in(module, env.function, event.value.name)
        }  # fmt: skip
        here = known_at(module, env.function, read.start)
        return [*here, *(known._replace(subject=names[known.subject]) for known in here if known.subject in names)]

    def _left_by_tests(self, inst: Inst, expr: Expr, env: Env) -> Values:
        """What tests around the place where a method reads an attribute leave of what other methods give it.

        `if self.fast:` where `__init__` sets it, and `if not self.fast:` here: nothing else ever sets `fast`.
        """
        module, function, name = env.module, env.function, expr.name
        own = module.receiver_name(function)
        if env.receiver != inst or expr.kind != "attribute" or not own or expr.args[0].dotted != own:
            return ()
        here = self.own_tests.at(inst, module, function, expr.start)
        stored = self.stored(inst, name) if here else ()
        if any(write is None or write.function == function for write, _, _ in stored):
            return ()
        left = [
            (write, value, by)
            for write, value, by in stored
            if write is None or not self.own_tests.excludes(here, inst, by.module, write)
        ]
        if len(left) == len(stored):
            return ()
        return self._or_computed(unique(value for item in left for value in self.stored_values(item)), inst, name)

    def instance_attribute(self, inst: Inst, name: str) -> Values:
        """The values of an attribute of an instance: what methods, outsiders and the class give it."""
        return self.evaluator.ask(self._attributes, (inst, name), (), self._instance_attribute, inst, name)

    def _instance_attribute(self, inst: Inst, name: str) -> Values:
        stored = self.stored(inst, name)
        found = unique(value for pair in stored for value in self.stored_values(pair))
        if found and not any(write is None or _is_initial(write, env) for write, _, env in stored):
            found = unique((*self._of_class(inst, name), *found))
        taken, surely = self.taken_over.of(inst, name)
        empty = all(isinstance(value, Const) and value.value is None for value in found)
        if stored and self.evaluator.fixpoint.is_open():
            empty = False  # what is stored may still have values
        if empty or (taken and not surely):
            found = unique((*found, *self._getter(inst, name), *self.class_attribute(inst.klass, name, inst)))
            found = unique((*found, *([] if taken else self.taken_over.perhaps(inst))))
        return self._or_computed(found, inst, name)

    def _of_class(self, inst: Inst, name: str) -> Values:
        """What a variable of the class is for an instance that hasn't got its own yet, but for a `None` until then."""
        values = self.class_attribute(inst.klass, name, inst)
        return tuple(value for value in values if not isinstance(value, Method | Func | Const))

    def _or_computed(self, values: Values, inst: Inst, name: str) -> Values:
        """The values of an attribute, constants all of them, and what code may set under a name that it computes.

        Nothing where a program sets the attribute itself once it has the object.
        """
        if not values or not all(isinstance(value, Const) for value in values) or self.set_after.of(inst, name):
            return values
        computed = self.computed.of(inst, name)
        return values if computed is None else (*values, computed)

    def _getter(self, inst: Inst, name: str) -> Values:
        method = self.evaluator.classes.method(inst, name)
        func = getter(method.func) if method is not None else None
        return self.evaluator.calls.returned(func, None, None, inst) if func is not None else ()

    def class_attribute(self, klass: Klass, name: str, owner: Value | None) -> Values:
        """The values that the class itself has under a name: a method (bound to `owner`), a class variable."""
        for item in self.evaluator.classes.mro(klass):
            facts = item.facts
            if name in facts.methods:
                function = item.module.model.functions[facts.methods[name]]
                func = Func(item.module, function.index, item.outer)
                if is_property(function) or is_accessor(function):
                    return ()
                if decorated(function, "staticmethod") or (owner is None and not decorated(function, "classmethod")):
                    return (func,)
                return (Method(owner or klass, func),)
            bindings = item.module.bindings[facts.parent, facts.index].get(name)
            if bindings:
                env = item.outer or self.evaluator.env(item.module, -1)
                return unique(
                    value for binding in bindings for value in self.evaluator.names.bound_values(binding, name, env)
                )
        return ()

    def stored(self, inst: Inst, name: str) -> tuple[Stored, ...]:
        """Every way an attribute of this instance gets its value: the write, the value's expression, where it holds."""
        return self.evaluator.ask(self._stored, (inst, name), (), self._all_stored, inst, name)

    def _all_stored(self, inst: Inst, name: str) -> tuple[Stored, ...]:
        return tuple(self._find_stored(inst, name))

    def _find_stored(self, inst: Inst, name: str) -> Iterator[Stored]:
        set_after = self.set_after.of(inst, name)
        if set_after is not None:
            yield from self._since(inst, name, *set_after)
            return
        for item in self.evaluator.classes.mro(inst.klass):
            for function, writes in self._last_writes(item, name):
                if self._overridden(inst.klass, item, function):
                    continue
                env = self.evaluator.activations.method_env(inst, item.module, function)
                for write, tests in writes:
                    if write.event.value is None or self._is_replaced(tests, env) or self._set_again(inst, write, env):
                        continue
                    yield write, write.event.value, env
        yield from ((None, *pair) for pair in self.from_fields(inst, name))
        yield from ((None, *pair) for pair in self.taken_over.of(inst, name)[0])
        yield from ((None, *pair) for pair in self.evaluator.library_bases.given(inst, name))
        for other, write, module in self.outside_writes(inst.klass, name):
            if may_be_same(other, inst, module.is_test) and not puts_back(module, write):
                if write.event.value is not None:
                    env = self.evaluator.generic(module, write.function)
                    if inst.env is not None and (inst.env.module, inst.env.function) == (module, write.function):
                        env = inst.env
                        if not self.evaluator.conditions.may_run(env, write.event.start):
                            continue  # the call that makes the object doesn't set it there
                    yield write, write.event.value, env

    def _since(self, inst: Inst, name: str, set_after: Write, env: Env) -> Iterator[Stored]:
        """What an attribute gets from a write that replaces what it had, and from others that may come later."""
        for other, write, module in self.outside_writes(inst.klass, name):
            if write is set_after and write.event.value is not None:
                yield write, write.event.value, env
            makes = inst.env is not None and (inst.env.module, inst.env.function) == (module, write.function)
            earlier = (
                module is env.module and write.function == env.function and write.event.start <= set_after.event.start
            )
            if not makes and not earlier and may_be_same(other, inst, module.is_test) and write.event.value is not None:
                yield write, write.event.value, self.evaluator.generic(module, write.function)

    def _is_replaced(self, tests: Tests, env: Env) -> bool:
        """Whether an activation surely runs a write that replaces one, by the tests under which it does.

        Whether it runs the replaced one isn't asked: a parameter that a `**mapping` may fill is more than its default.
        """
        return not all(self.evaluator.conditions.allows(test, not holds, env) for test, holds in tests)

    def _set_again(self, inst: Inst, write: Write, env: Env) -> bool:
        """Whether the `__init__` of a base, which is called below a write in `__init__`, sets the attribute again."""
        classes, name = self.evaluator.classes.mro(inst.klass), write.target.name
        if env.facts.name != "__init__" or sum((item.index, name) in item.module.writers for item in classes) < 2:
            return False
        inits = list(self.evaluator.activations.init_envs(inst).values())
        methods = {method for item in classes for method in item.facts.methods}
        return env in inits and set_again(write, inits[inits.index(env) :], methods)

    def _last_writes(self, klass: Klass, name: str) -> list[tuple[int, list[tuple[Write, Tests]]]]:
        """The methods of a class that set an attribute, each with the writes that may be its last.

        With each come the tests under which a later one has replaced it, and whether they held. One that puts back what
        the attribute had gives it nothing.
        """
        key = klass.module, klass.index, name
        known = self._writes.get(key)
        if known is None:
            writers = klass.module.writers.get((klass.index, name), {})
            known = self._writes[key] = [
                (function, with_replacing(klass.module, function, last))
                for function, writes in writers.items()
                if (last := _last(klass.module, function, writes))
            ]
        return known

    def _overridden(self, made: Klass, klass: Klass, function: int) -> bool:
        """Whether a class nearer to the one of an instance replaces a method and never calls the one it replaces."""
        name = klass.module.model.functions[function].name
        if klass.facts.methods.get(name) != function:
            return False
        return self.evaluator.kept(self._replaced, (made, klass, function), self._replaces, made, klass, name)

    def _replaces(self, made: Klass, klass: Klass, name: str) -> bool:
        chain = self.evaluator.classes.mro(made)
        nearer = [item for item in chain[: chain.index(klass)] if name in item.facts.methods] if klass in chain else []
        return bool(nearer) and not any(
            part.kind == "attribute"
            and part.name == name
            and part.args[0].kind in ("call", "name")
            and (part.args[0].kind == "call" or part.args[0].name == klass.facts.name)
            for item in nearer
            for event in item.module.events(item.facts.methods[name])
            for part in event.walk()
        )

    def stored_values(self, stored: Stored) -> Values:
        """The values that one write gives the attribute."""
        write, expr, env = stored
        if write is None:
            return self.evaluator.values(expr, env)
        path = path_to_expr(write.event.target, write.target) if write.event.target is not None else ()
        if write.event.kind == "for":
            return self.evaluator.containers.destructure(
                self.evaluator.containers.iterated(expr, env), path or (), expr, env
            )
        return self.evaluator.containers.destructure(self.evaluator.values(expr, env), path or (), expr, env)

    def from_fields(self, inst: Inst, name: str) -> Iterator[Argument]:
        """What an object of a dataclass has as a field: what the call that makes it passes, or the default."""
        fields = self.evaluator.classes.dataclass_fields(inst.klass)
        if name not in fields:
            return
        default_env, default = fields[name]
        if inst.call is not None and inst.env is not None:
            position = list(fields).index(name)
            found, surely = self.evaluator.arguments.argument(inst.call, inst.env, position, name)
            yield from found
            if surely:
                return
        if default is not None:
            yield default, default_env

    def outside_writes(self, klass: Klass, name: str) -> list[tuple[Inst, Write, Module]]:
        """`ds.name = value` anywhere in the project, where `ds` is an instance of this class."""
        writes = self.evaluator.index.outside_writes.get(name)
        if not writes:
            return []
        return self.evaluator.ask(self._outside_writes, (klass, name), [], self._written_outside, klass, writes)

    def _written_outside(
        self, klass: Klass, writes: Iterable[tuple[Module, Write]]
    ) -> list[tuple[Inst, Write, Module]]:
        """The assignments to what may be an instance of a class, in the programs that have both files."""
        found = []
        for module, write in writes:
            if not self.evaluator.programs.share(module, klass.module):
                continue
            base = write.target.args[0]
            for value in self.evaluator.values(base, self.evaluator.generic(module, write.function)):
                if isinstance(value, Inst) and self.evaluator.classes.derives(value.klass, klass):
                    found.append((value, write, module))
        return found

    def attributes_set_outside(self, klass: Klass) -> Iterable[str]:
        """The attributes that code outside a class sets on its instances, in the order of the files.

        None are set on named tuples.
        """
        found: dict[str, None] = {}
        if "typing.NamedTuple" not in self.evaluator.classes.external_bases(klass):
            for item in self.evaluator.classes.mro(klass):
                outside: dict[str, None] = self.evaluator.ask(self._outside, item, {}, self._set_outside, item)
                found |= outside
        return found

    def _set_outside(self, klass: Klass) -> dict[str, None]:
        """The attributes that code sets on instances of a class itself. What tests make, no other code gets."""
        found: dict[str, None] = {}
        may_have: dict[str, bool] = {}
        for module in self.evaluator.programs.sharing(klass.module):
            if klass.module.is_test and not module.is_test:
                continue
            for name, writes in module.writes_on_others.items():
                if name not in may_have:
                    may_have[name] = self._may_have(klass, name)
                if may_have[name] and any(self._sets(write, module, klass) for write in writes):
                    found[name] = None
        return found

    def _sets(self, write: Write, module: Module, klass: Klass) -> bool:
        """Whether a write is to an instance of a class."""
        base = write.target.args[0]
        if self.evaluator.annotations.excludes(base, module, write.function, klass.module):
            return False
        return klass in self.evaluator.kept(self._set_on, id(write.target), self._classes_set_on, write, module)

    def _classes_set_on(self, write: Write, module: Module) -> frozenset[Klass]:
        """The classes to whose instances a write may be: every class asks for the same writes."""
        values = self.evaluator.values(write.target.args[0], self.evaluator.generic(module, write.function))
        return frozenset(value.klass for value in values if isinstance(value, Inst))

    def _may_have(self, klass: Klass, name: str) -> bool:
        """Whether an attribute may be a class's: no other class has one of the name, or this one's code mentions it.

        What code the bases of other packages have isn't seen.
        """
        if name not in self.evaluator.index.own_attributes:
            return True
        classes = self.evaluator.classes
        if classes.is_a(klass, ()) is Answer.UNKNOWN:
            return True
        return any(name in base.module.attributes for base in classes.mro(klass))

    def written_on(self, made: ExtInst) -> Iterator[tuple[Write, Env]]:
        """`made.attribute = value` on an external object, in the function that made it."""
        env = made.env
        for write in self._assigned_on_names(env.module).get(env.function, ()):
            if made in self.evaluator.values(write.target.args[0], env):
                yield write, env

    def _assigned_on_names(self, module: Module) -> dict[int, list[Write]]:
        """Every `name.attribute = value` of a module, by the function around it."""
        known = self._on_names.get(module)
        if known is None:
            known = self._on_names[module] = defaultdict(list)
            for writes in module.attribute_writes.values():
                for write in writes:
                    assigned = write.event.kind == "assign" and write.event.value is not None
                    if assigned and write.target.args[0].kind == "name":
                        known[write.function].append(write)
        return known

    def later_factories(self, made: ExtInst) -> Iterator[Argument]:
        """The factories that `x.default_factory = ...` gives this defaultdict."""
        for write in made.env.module.attribute_writes.get("default_factory", ()):
            scope = self.evaluator.generic(made.env.module, write.function)
            if write.function == made.env.function:
                scope = made.env
            if write.event.value is not None and made in self.evaluator.values(write.target.args[0], scope):
                yield write.event.value, scope


def may_be_same(one: Inst, other: Inst, in_test: bool) -> bool:
    """Whether two instances of a class may be one object: made by one call, in activations that may be one.

    One whose construction is not known may be any, but for a test's: that one it makes itself. One that users make is
    none of those that the project makes.
    """
    if (one.users and other.call is not None) or (other.users and one.call is not None):
        return False
    if one.call is None or other.call is None:
        return not in_test or one.klass.module.is_test
    if one.call is not other.call or one.env is None or other.env is None:
        return one.call is other.call
    calls = (one.env.call, other.env.call)
    return calls[0] is calls[1] or None in calls


def _last(module: Module, function: int, writes: list[Write]) -> list[Write]:
    """The writes of a method that may be the last to give an attribute something else than it had."""
    return [write for write in reaching_writes(module, function, writes, None) if not puts_back(module, write)]


def _is_initial(write: Write, env: Env) -> bool:
    """Whether a write may be one of those that make an object: in `__init__`, or from outside."""
    return write.function < 0 or env.module.model.functions[write.function].name == "__init__"
