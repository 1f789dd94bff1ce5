"""Parameters and arguments: what a call passes, also through `*args`, `**kwargs` and dictionaries.

What one display of a mapping passes by `**` never meets what another one does: a loader is one for each of up to
`MAX_DISPLAYS` displays, also of those that its class hands on as `**kwargs`. On which platforms there are workers, and
whether that is certain, is asked of all together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from dllint.model.facts import Event, Expr, Function, Parameter
from dllint.project.evaluate.abstract_values import Const, Env, ExtInst, Free, Inst, Seq, Value, Values, stands
from dllint.project.evaluate.attributes import may_be_same
from dllint.project.evaluate.call_sites import MAX_JOINED, MAX_ON_OBJECTS
from dllint.project.evaluate.contexts import too_many_calls
from dllint.project.evaluate.decorations import is_of_another_call
from dllint.project.evaluate.shapes import (
    Argument,
    Under,
    decorated,
    display_of,
    each_once,
    is_accessor,
    is_configured,
    unique,
)
from dllint.project.evaluate.strong_updates import has_by_then, just_stored
from dllint.project.evaluate.truncated import Truncated
from dllint.project.program.module import Module, Site

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


MAX_DISPLAYS = 8
"""Displays that one mapping may be and that are told apart; what more of them pass is joined."""


class Dropped(Enum):
    """Whether a function takes a key out of its `**kwargs` before it hands them on."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NEVER = "never"


class Arguments:
    """Joins parameters to the arguments of calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._merged: dict[tuple[int, int, str], Expr] = {}
        self._passed_on: dict[tuple[Env, str], Under] = {}
        self._takings: dict[tuple[int, int], tuple[Event, ...]] = {}
        self._chosen: dict[tuple[Expr, Expr], Expr] = {}

    def parameter(self, env: Env, name: str) -> Values:
        """The values of a parameter in this activation."""
        return self.evaluator.ask(env.known, name, (), self._parameter, env, name)

    def _parameter(self, env: Env, name: str) -> Values:
        facts = env.facts
        position, parameter = next((i, item) for i, item in enumerate(facts.parameters) if item.name == name)
        if position == 0 and self._is_receiver(facts, parameter):
            if facts.name == "__init_subclass__":  # Python calls it with each class that derives from its own
                owner = self.evaluator.klass(env.module, facts.owner)
                return unique(self.evaluator.classes.subclasses(owner))
            if decorated(facts, "classmethod"):
                owner = (
                    env.receiver.klass
                    if isinstance(env.receiver, Inst)
                    else self.evaluator.klass(env.module, facts.owner)
                )
                return (owner,)
            return (env.receiver or Inst(self.evaluator.klass(env.module, facts.owner)),)
        if parameter.kind in ("args", "kwargs"):
            return self.rest(env, parameter)
        if env.call is not None and env.caller is not None:
            found = list(self._given_values(env, position, parameter))
            return unique(found) or self.evaluator.unless_open(Free(env.module, env.function, name))
        found = list(self._from_call_sites(env, position, parameter))
        if not found and not self.evaluator.fixpoint.is_open():
            found += self._default(env, parameter)
            found += self._from_setter(env, facts, position)
            found.append(Free(env.module, env.function, name))
        elif found and self.evaluator.carried.limit(env.module, env.function):
            found.append(Free(env.module, env.function, name))  # and what the calls pass that are not followed
        return unique(found)

    def rest(self, env: Env, parameter: Parameter) -> Values:
        """`*args` as a tuple and `**kwargs` as a dictionary of what the calls pass beyond the named parameters."""
        if env.call is not None and env.caller is not None:
            return (Seq(self._collected(env.call, env, parameter), env.caller),)
        found: list[Value] = []
        for site, skip, caller in self._calling(env):
            bound = self.evaluator.env(env.module, env.function, site.expr, caller, env.receiver, env.outer, skip)
            if bound.call is not None and bound.caller is not None:
                found.append(Seq(self._collected(bound.call, bound, parameter), bound.caller))
        return unique(found) or self.evaluator.unless_open(Free(env.module, env.function, parameter.name))

    def _collected(self, call: Expr, env: Env, parameter: Parameter) -> Expr:
        key = (id(call), id(env.facts), parameter.kind)
        known = self._merged.get(key)
        if known is not None:
            return known
        named = [item for item in env.facts.parameters if item.kind not in ("args", "kwargs")]
        args: list[Expr] = []
        if parameter.kind == "args":
            positional = [item for item in named if item.kind != "keyword"]
            shift = 1 if positional and self._is_receiver(env.facts, positional[0]) else 0
            args += call.args[1 + len(positional) - shift + env.skip :]
        else:
            taken = {item.name for item in named}
            for name, value in call.keywords:
                if name == "**":
                    without = tuple((own, value) for own in sorted(taken))  # these go to the parameters
                    args += (Expr("star", value.start, value.end, args=(value,), keywords=without), value)
                elif name not in taken:
                    args += (Expr("constant", value.start, value.start, value=name), value)
        self._merged[key] = Expr(
            "tuple" if parameter.kind == "args" else "dict", call.start, call.end, args=tuple(args)
        )
        return self._merged[key]

    def _is_receiver(self, facts: Function, parameter: Parameter) -> bool:
        return facts.owner >= 0 and not decorated(facts, "staticmethod") and parameter.kind in ("positional", "posonly")

    def _default(self, env: Env, parameter: Parameter) -> Values:
        if parameter.default is None:
            return ()
        outer = env.outer or self.evaluator.generic(env.module, env.facts.parent)
        return self.evaluator.values(parameter.default, outer)

    def _given_values(self, env: Env, position: int, parameter: Parameter) -> Iterator[Value]:
        """The values that this activation's call gives a parameter, UNKNOWN where a mapping may hold one unseen."""
        assert env.call is not None and env.caller is not None
        passed = self.passed(env, position, parameter)
        for pair in passed:
            yield from self.evaluator.values(*pair)
        if parameter.default is not None and any(expr is parameter.default for expr, _ in passed):
            yield from self.evaluator.mappings.unseen(env.call, env.caller, parameter.name)
            if is_configured(env.module, env.facts):
                yield Free(env.module, env.function, parameter.name)

    def passed(self, env: Env, position: int, parameter: Parameter) -> list[Argument]:
        """The expressions that this activation's call passes for a parameter; its default where it passes none."""
        assert env.call is not None and env.caller is not None
        return self._passed(env, (env.call, env.caller), env.skip, position, parameter)

    def _passed(self, env: Env, at: Argument, skip: int, position: int, parameter: Parameter) -> list[Argument]:
        found, surely = self._given(env.facts, at, skip, position, parameter)
        if not surely and parameter.default is not None:
            found.append((parameter.default, env.outer or self.evaluator.generic(env.module, env.facts.parent)))
        return found

    def _given(
        self, facts: Function, at: Argument, skip: int, position: int, parameter: Parameter
    ) -> tuple[list[Argument], bool]:
        """What a call passes for a parameter, and whether it surely does."""
        shift = 1 if self._is_receiver(facts, facts.parameters[0]) else 0
        place = None if parameter.kind == "keyword" else position - shift + skip
        return self.argument(*at, place, parameter.name)

    def passed_by_all(self, module: Module, function: int, name: str) -> list[tuple[Expr, Env, list[Argument]]]:
        """The calls, and what each passes for a parameter, or its default: also where too many are to be told apart.

        Nothing where the calls are too many to be known.
        """
        env = self.evaluator.generic(module, function)
        calls = self.evaluator.call_sites.known(module, function)
        if self.evaluator.call_sites.too_many(module, function):
            return []
        position, parameter = next((i, item) for i, item in enumerate(env.facts.parameters) if item.name == name)
        around = [(site, skip, self.evaluator.generic(site.module, site.function)) for site, skip in calls]
        return [
            (call, caller, self._passed(env, (call, caller), skip, position, parameter))
            for site, skip, caller in around
            for call in self._as_calls_of(env, site, caller)
        ]

    def _from_call_sites(self, env: Env, position: int, parameter: Parameter) -> Iterator[Value]:
        if self._limit(env) is None:
            for site, skip, caller in self._calling(env):
                if isinstance(env.receiver, Inst) and env.receiver.users and caller.receiver != env.receiver:
                    continue
                bound = self.evaluator.env(env.module, env.function, site.expr, caller, env.receiver, env.outer, skip)
                if bound.call is None:
                    continue
                yield from self._given_values(bound, position, parameter)
        yield from self.evaluator.decorations.given(env, position)

    def _limit(self, env: Env) -> Truncated | None:
        """Why nothing is known of what an activation is given. The text is asked before the callers are."""
        name = env.facts.name
        if self.evaluator.activations.forgets_calls(env):
            return too_many_calls(name)
        if len(self.evaluator.call_sites.known(env.module, env.function)) > MAX_JOINED:
            return Truncated(f"more than {MAX_JOINED} calls run `{name}`, so what they pass is not joined")
        return None

    def limit(self, module: Module, function: int) -> Truncated | None:
        """The limit that hides what calls pass to a function; None where none does."""
        env = self.evaluator.generic(module, function)
        found, carried = self._limit(env), self.evaluator.carried.limit(module, function)
        if found is None and carried:
            return Truncated(carried)
        if found is None and self.evaluator.call_sites.too_many(module, function):
            name = env.facts.name
            return Truncated(f"more than {MAX_ON_OBJECTS} calls of the name `{name}` are on objects that are not known")
        return found

    def from_any_call(self, env: Env, name: str) -> Iterator[Argument]:
        """What the calls that may have made an activation pass for a parameter, though which one did isn't known."""
        for position, parameter in enumerate(env.facts.parameters):
            if parameter.name == name and parameter.kind not in ("args", "kwargs"):
                for site, skip, caller in self._calling(env):
                    yield from self._given(env.facts, (site.expr, caller), skip, position, parameter)[0]

    def calls(self, env: Env) -> Iterator[Argument]:
        """The call that made an activation, or those that may have, with their callers' activations."""
        if env.call is not None and env.caller is not None:
            yield env.call, env.caller
        else:
            yield from ((site.expr, caller) for site, _, caller in self._calling(env))

    def _calling(self, env: Env) -> Iterator[tuple[Site, int, Env]]:
        """The calls that may have made an activation, with the positional arguments to skip and the callers'.

        What a method calls on its own object, or through `super()`, runs on objects of its own class alone, and what
        code calls on objects that are all known runs on these.
        """
        for site, skip in self.evaluator.call_sites.known(env.module, env.function):
            if isinstance(env.receiver, Inst) and _is_on_own_object(site):
                owner = self.evaluator.klass(site.module, site.module.method_owner(site.function))
                if not self.evaluator.classes.may_be(env.receiver, owner):
                    continue
            elif isinstance(env.receiver, Inst) and self._is_on_another(site, env.receiver):
                continue
            caller = self.caller_env(site, env)
            for call in self._as_calls_of(env, site, caller):
                yield Site(site.module, site.function, site.event, call), skip, caller

    def _as_calls_of(self, env: Env, site: Site, caller: Env) -> Iterator[Expr]:
        """A call of a function, as one of each partial that it may be of; not of closures that other calls made."""
        closure = env.outer is not None and env.outer.call is not None
        if not closure and (site.expr.args[0].name == env.facts.name or env.facts.name == "__init__"):
            yield site.expr
            return
        run = self.evaluator.calls.runs_of(site.expr, caller, env)
        if not run:  # another name, or the call of a class
            yield site.expr
        for func, made in run:
            if not is_of_another_call(func, env):
                yield made

    def _is_on_another(self, site: Site, inst: Inst) -> bool:
        """Whether all that a method is called on are other objects than this one, each made by another call."""
        callee = site.expr.args[0]
        if inst.call is None or callee.kind != "attribute":
            return False
        owners = self.evaluator.values(callee.args[0], self.evaluator.generic(site.module, site.function))
        made = [owner for owner in owners if not (isinstance(owner, Const) and owner.value is None)]
        return bool(made) and all(
            isinstance(owner, Inst) and owner.call is not None and not may_be_same(owner, inst, False) for owner in made
        )

    def caller_env(self, site: Site, env: Env) -> Env:
        """The caller's activation; a method that calls its own object's method runs on the same instance."""
        owner = site.module.method_owner(site.function)
        if owner >= 0 and isinstance(env.receiver, Inst) and site.expr.args[0].kind == "attribute":
            base = site.expr.args[0].args[0]
            if base.name == site.module.receiver_name(site.function) or base.kind == "call":
                if self.evaluator.classes.derives(env.receiver.klass, self.evaluator.klass(site.module, owner)):
                    return self.evaluator.activations.method_env(env.receiver, site.module, site.function)
        return self.evaluator.generic(site.module, site.function)

    def _from_setter(self, env: Env, facts: Function, position: int) -> Iterator[Value]:
        """The value parameter of a property's setter: whatever is assigned to the property."""
        if position == 1 and is_accessor(facts):
            for write in env.module.attribute_writes.get(facts.name, ()):
                if write.event.value is not None and write.event.kind == "assign":
                    yield from self.evaluator.values(
                        write.event.value, self.evaluator.generic(env.module, write.function)
                    )

    def argument(self, call: Expr, env: Env, position: int | None, name: str) -> tuple[list[Argument], bool]:
        """The expressions a call may pass for a parameter, and whether it surely passes one.

        `position` counts positional arguments from 0 (None: keyword only).
        """
        explicit = call.keyword(name)
        if explicit is not None:
            return [stands(explicit, env)], True
        found: list[Argument] = []
        if position is not None and position >= 0:
            for index, arg in enumerate(call.args[1:]):
                if arg.kind == "star":
                    found += self._from_star(arg.args[0], env, position - index)
                    break
                if index == position:
                    return [stands(arg, env)], True
        surely = False
        for key, value in call.keywords:
            if key == "**":
                more, certain = self.from_double_star(value, env, name)
                found += more
                surely = surely or certain
        return found, surely

    def _from_star(self, expr: Expr, env: Env, position: int) -> list[Argument]:
        """Element `position` of what `*expr` unpacks."""
        expr, env = stands(expr, env)
        found: list[Argument] = []
        passed_on = self._own_parameter(expr, env, "args")
        if passed_on is not None and env.call is not None and env.caller is not None:
            named = [item for item in env.facts.parameters if item.kind in ("positional", "posonly")]
            shift = 1 if named and self._is_receiver(env.facts, named[0]) else 0
            start = len(named) - shift + env.skip
            return self.argument(env.call, env.caller, start + position, "")[0]
        for value in self.evaluator.values(expr, env):
            if isinstance(value, Seq) and value.expr.kind in ("list", "tuple") and position < len(value.expr.args):
                found.append((value.expr.args[position], value.env))
        return found

    def from_double_star(self, expr: Expr, env: Env, name: str) -> tuple[list[Argument], bool]:
        """The values that `**expr` passes under a name, and whether it always does."""
        mapping, where = stands(expr.args[0] if expr.kind == "chosen" else expr, env)
        stored = just_stored(where.module, where.function, mapping, name)
        if stored is not None:
            return [(stored, where)], True
        has = has_by_then(where.module, where.function, mapping, name)
        has = has and self._dropped(where, mapping.name, name) is Dropped.NEVER
        if self.is_kwargs(mapping, where):
            passed, always = self.from_kwargs(where, name)
            return passed, has or always
        found: list[Argument] = []
        surely = True
        values = self.evaluator.values(expr, env)
        for value in values:
            more, certain = self.evaluator.containers.dict_item(value, name)
            if more and self._taken_before(value, mapping, where, name):
                more, certain = list(self.evaluator.containers.stored_under(value, name, where)), False
            found += more
            surely = surely and certain
        return found, has or (surely and bool(values))

    def _taken_before(self, mapping: Value, expr: Expr, env: Env, name: str) -> bool:
        """Whether a dictionary no longer has a key where a scope passes it on: `del options["name"]`."""
        if expr.kind != "name" or not isinstance(mapping, (Seq, ExtInst)):
            return False
        bound = env.module.bindings[env.function, -1].get(expr.name, ())
        made = max((item.start for item in bound if item.start <= expr.start), default=-1)
        return self._dropped(env, expr.name, name, (made, expr.start)) is Dropped.ALWAYS

    def by_display(self, call: Expr, env: Env) -> list[Argument]:
        """A call with each of the displays that the mapping it unpacks may be; itself where they aren't known.

        What one of them passes never meets what another one does. A function may hand the mapping on as `**kwargs`.
        """
        mappings = [mapping for key, mapping in call.keywords if key == "**"]
        if len(mappings) != 1:
            return [(call, env)]
        expr, where = stands(mappings[0], env)
        if self.is_kwargs(expr, where):
            if where is not env or env.call is None or env.caller is None:
                return [(call, env)]
            around = self.by_display(env.call, env.caller)
            return [(call, self.evaluator.activations.called_with(env, *given)) for given in around]
        displays = dict.fromkeys(map(display_of, self.evaluator.values(mappings[0], env)))
        if None in displays or not 1 < len(displays) <= MAX_DISPLAYS:
            return [(call, env)]
        return [(self._with_display(call, mappings[0], display), env) for display in displays if display is not None]

    def _with_display(self, call: Expr, mapping: Expr, display: Expr) -> Expr:
        known = self._chosen.get((call, display))
        if known is None:
            chosen = Expr("chosen", mapping.start, mapping.end, args=(mapping, display))
            keywords = tuple((key, chosen if key == "**" else value) for key, value in call.keywords)
            known = self._chosen[call, display] = msgspec.structs.replace(call, keywords=keywords)
        return known

    def _own_parameter(self, expr: Expr, env: Env, kind: str) -> Parameter | None:
        if expr.kind != "name" or env.function < 0:
            return None
        return next((item for item in env.facts.parameters if item.kind == kind and item.name == expr.name), None)

    def is_kwargs(self, expr: Expr, env: Env) -> bool:
        """Whether an expression is the function's `**kwargs`."""
        return self._own_parameter(expr, env, "kwargs") is not None

    def from_kwargs(self, env: Env, name: str) -> tuple[list[Argument], bool]:
        """The values that `**kwargs` has under a name that isn't a parameter, and whether it always has one."""
        if _takes_named(env.facts, name):
            return [], False
        found, surely = self.evaluator.ask(self._passed_on, (env, name), Under((), False), self._handed_on, env, name)
        return list(found), surely

    def keeps_back(self, env: Env, name: str) -> bool:
        """Whether a function's `**kwargs` never have a name where it hands them on: a parameter, or one taken out."""
        if _takes_named(env.facts, name):
            return True
        own = next(item for item in env.facts.parameters if item.kind == "kwargs")
        return self._dropped(env, own.name, name) is Dropped.ALWAYS

    def _handed_on(self, env: Env, name: str) -> Under:
        own = next(item for item in env.facts.parameters if item.kind == "kwargs")
        found = [
            pair for value in self.rest(env, own) for pair in self.evaluator.containers.stored_under(value, name, env)
        ]
        dropped = self._dropped(env, own.name, name)
        if dropped == Dropped.ALWAYS:
            return Under(each_once(found), False)
        if env.call is not None and env.caller is not None:
            more, surely = self.argument(env.call, env.caller, None, name)
            return Under(each_once((*found, *more)), surely and dropped is Dropped.NEVER)
        answers = []
        for site, _, caller in self._calling(env):
            more, surely = self.argument(site.expr, caller, None, name)
            found += more
            answers.append(surely)
        return Under(each_once(found), bool(answers) and all(answers) and dropped is Dropped.NEVER)

    def _dropped(self, env: Env, mapping: str, name: str, between: tuple[int, int] | None = None) -> Dropped:
        """`del kwargs["name"]` and `kwargs.pop("name")`; a test of the dictionary's own is taken to know when.

        `between`: where the name is bound, and where it is read. The tests around the read hold for both.
        """
        answer = Dropped.NEVER
        start, end = between or (-1, sys.maxsize)
        holds = set(env.module.enclosing(env.module.block_at(env.function, end))) if between else set()
        for event in self._taking(env):
            if start <= event.start and event.end <= end and takes_out(event, mapping, name):
                blocks = [index for index in env.module.enclosing(event.block) if index not in holds]
                tests = [env.module.block(index).test for index in blocks]
                if all(test is not None and _speaks_of(test, mapping, name) for test in tests):
                    return Dropped.ALWAYS
                answer = Dropped.SOMETIMES
        return answer

    def _taking(self, env: Env) -> tuple[Event, ...]:
        """The events of a function that take something out of some dictionary."""
        key = (id(env.module), env.function)
        if key not in self._takings:
            self._takings[key] = tuple(
                event
                for event in env.module.events(env.function)
                if event.kind == "del" or any(part.kind == "attribute" and part.name == "pop" for part in event.walk())
            )
        return self._takings[key]


def _is_on_own_object(site: Site) -> bool:
    """Whether a method calls something of its own object: `self.step()`, `super().step()`."""
    callee = site.expr.args[0]
    if callee.kind != "attribute" or site.module.method_owner(site.function) < 0:
        return False
    base = callee.args[0]
    if base.kind == "call":
        return base.args[0].name == "super"
    return base.kind == "name" and base.name == site.module.receiver_name(site.function)


def _speaks_of(test: Expr, mapping: str, name: str) -> bool:
    """Whether a test asks for a key, or for what a dictionary has."""
    return any(
        part.value == name or (part.kind == "subscript" and part.args[0].dotted == mapping) for part in test.walk()
    )


def takes_out(event: Event, mapping: str, name: str) -> bool:
    """Whether an event takes a key out of a dictionary."""
    if event.kind == "del" and event.target is not None:
        targets = event.target.args if event.target.kind == "tuple" else (event.target,)
        if any(
            item.kind == "subscript" and item.args[0].name == mapping and item.args[1].value == name for item in targets
        ):
            return True
    return any(
        part.kind == "call"
        and part.args[0].kind == "attribute"
        and part.args[0].name == "pop"
        and part.args[0].args[0].name == mapping
        and len(part.args) > 1
        and part.args[1].value == name
        for part in event.walk()
    )


def _takes_named(facts: Function, name: str) -> bool:
    """Whether a function has a parameter that a keyword of a name fills: `*args` is none that `args=` does."""
    return any(item.name == name and item.kind not in ("args", "kwargs") for item in facts.parameters)
