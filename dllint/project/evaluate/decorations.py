"""The functions and classes that decorators get: `@DATASETS.register_module()` fills a registry with classes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, Func, Inst, Klass, Method, Value
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class _Decoration(NamedTuple):
    """A decorator, where it stands, and what it decorates: a class or a function, by its index."""

    decorator: Expr
    module: Module
    scope: int
    klass: bool
    number: int


class Decorations:
    """Answers which classes and functions a function decorates."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._decorated: dict[Env, tuple[Value, ...]] = {}

    def given(self, env: Env, position: int) -> tuple[Value, ...]:
        """The values of a parameter where its function decorates classes and functions."""
        facts = env.facts
        if facts.kind != "def" or position != (1 if facts.owner >= 0 else 0):
            return ()
        return self.evaluator.ask(self._decorated, env, (), self._find, env)

    def activations(self, module: Module, function: int) -> list[Env]:
        """The activations in which a function gets what it decorates: one for each function, one for all classes."""
        generic = self.evaluator.generic(module, function)
        given = self.given(generic, 0)
        found = []
        for site, _ in self.evaluator.call_sites.callers(module, function) if given else ():
            caller = self.evaluator.generic(site.module, site.function)
            run = self.evaluator.calls.runs_of(site.expr, caller, generic)
            found += [self.evaluator.activations.activation(func, call, caller) for func, call in run]
        if any(isinstance(item, Klass) for item in given) or (given and not found):
            found.append(generic)
        return found

    def _find(self, env: Env) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self._decorated_by(env)))

    def _decorated_by(self, env: Env) -> Iterator[Value]:
        for item in self._named_like(env):
            around = self.evaluator.generic(item.module, item.scope)
            if any(_is_activated(value, env) for value in self.evaluator.values(item.decorator, around)):
                outer = around if item.scope >= 0 else None
                yield Klass(item.module, item.number, outer) if item.klass else Func(item.module, item.number, outer)

    def _named_like(self, env: Env) -> Iterator[_Decoration]:
        """The decorators that name a function, or the one that makes it."""
        functions, facts = env.module.model.functions, env.facts
        made_by = functions[facts.parent].name if facts.parent >= 0 else facts.name
        for name in dict.fromkeys((facts.name, made_by)):
            for alias in (name, *sorted(self.evaluator.index.aliases.get(name, ()))):
                yield from self._by_name.get(alias, ())

    @cached_property
    def _by_name(self) -> dict[str, list[_Decoration]]:
        """All decorators by their last names."""
        found: dict[str, list[_Decoration]] = defaultdict(list)
        for module in self.evaluator.index:
            for klass in module.model.classes:
                for decorator in klass.decorators:
                    found[_last(decorator)].append(_Decoration(decorator, module, klass.parent, True, klass.index))
            for function in module.model.functions:
                for decorator in function.decorators if function.owner < 0 else ():
                    item = _Decoration(decorator, module, function.parent, False, function.index)
                    found[_last(decorator)].append(item)
        return dict(found)


def is_of_another_call(func: Func, env: Env) -> bool:
    """Whether a closure was made by another call than the one that an activation of its function closes over."""
    outers = (func.outer, env.outer)
    calls = [outer.call for outer in outers if outer is not None and outer.call is not None]
    return len(calls) == 2 and calls[0] is not calls[1]


def _last(decorator: Expr) -> str:
    return decorator.args[0].name if decorator.kind == "call" else decorator.name


def _is_activated(value: Value, env: Env) -> bool:
    """Whether a decorator is this function, of this object where the function belongs to one."""
    func = value.func if isinstance(value, Method) else value
    if not isinstance(func, Func) or func.module is not env.module or func.index != env.function:
        return False
    if is_of_another_call(func, env):
        return False
    owner = value.owner if isinstance(value, Method) else func.outer.receiver if func.outer is not None else None
    known = isinstance(owner, Inst) and isinstance(env.receiver, Inst) and owner.call and env.receiver.call
    return not known or owner == env.receiver
