"""The objects that settings create: `hydra.utils.instantiate(config.dataset)`, with the settings files' `dataset`.

What a YAML file names by its class path (`_target_`, `class_path`) is a call in a function that nothing calls, under a
test that cannot be decided: it says what is passed, and makes nothing certain. `instantiate` makes what any file has
under the name, or something that isn't seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, ExtInst, ExtMethod, Opaque, Value, passed
from dllint.project.evaluate.shapes import Argument
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator


class Settings:
    """Answers what is made of settings."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._merged: dict[tuple[int, int], Expr] = {}

    def made(self, call: Expr, env: Env) -> list[Value]:
        """The results of a call for a part of the settings, with arguments that override those of the part."""
        found: list[Value] = []
        names = {_named(value) for value in self.evaluator.values(call.args[1], env)} - {""}
        for part, where in (pair for name in sorted(names) for pair in self._parts.get(name, ())):
            merged = self._call(call, env, part, where)
            for callee in self.evaluator.values(part.args[0], where):
                found += self.evaluator.calls.result(callee, merged, env)
        return found

    def _call(self, call: Expr, env: Env, part: Expr, where: Env) -> Expr:
        """`instantiate(part, *a, **k)` as the call that it makes."""
        key = id(call), id(part)
        if key not in self._merged:
            given = dict(call.keywords)
            keywords = tuple((name, passed(value, where)) for name, value in part.keywords if name not in given)
            args = (part.args[0], *(passed(arg, where) for arg in part.args[1:]), *call.args[2:])
            self._merged[key] = Expr("call", call.start, call.end, args=args, keywords=keywords + call.keywords)
        return self._merged[key]

    @cached_property
    def _parts(self) -> dict[str, list[Argument]]:
        """The calls that settings stand for, by the key that they are under; a whole file is under its folder's."""
        found: dict[str, list[Argument]] = defaultdict(list)
        for module in self.evaluator.index:
            for name, call, function in _calls(module) if module.settings else ():
                found[name].append((call, self.evaluator.generic(module, function)))
        return found


def _calls(module: Module) -> Iterator[tuple[str, Expr, int]]:
    for function, _, events in module.scopes:
        for event in events:
            if event.value is not None and event.value.kind == "call":
                yield module.path.rpartition("/")[0].rpartition("/")[2], event.value, function
            for part in event.walk():
                pairs = zip(part.args[::2], part.args[1::2], strict=True) if part.kind == "dict" else ()
                for key, value in (*((str(key.value), value) for key, value in pairs), *part.keywords):
                    if value.kind == "call":
                        yield key, value, function


def _named(value: Value) -> str:
    """The key under which settings are read: `dataset` of `config.dataset` and of `config["dataset"]`."""
    match value:
        case ExtMethod(attribute=attribute):
            return attribute
        case ExtInst(call=expr) | Opaque(expr=expr) if expr.kind == "attribute":
            return expr.name
        case ExtInst(call=expr) | Opaque(expr=expr) if expr.kind == "subscript" and len(expr.args) == 2:
            return expr.args[1].value if isinstance(expr.args[1].value, str) else ""
    return ""
