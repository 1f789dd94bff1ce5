"""The objects that settings create: `hydra.utils.instantiate(config.dataset)`, with the settings files' `dataset`.

What a file of settings names by its class path (`_target_`, `class_path`) is a call in a function that nothing calls,
under a test that cannot be decided: it says what is passed, and makes nothing certain. `instantiate` makes what any
file has under the name, or something that isn't seen.

So does code that takes a dotted path apart itself: `getattr(import_module(module), name)` of `config["data"]["path"]`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from dllint.model.facts import Expr
from dllint.project.evaluate.abstract_values import Env, ExtInst, ExtMethod, Func, Klass, Opaque, Value, Values, passed
from dllint.project.evaluate.shapes import Argument, unique
from dllint.project.program.module import Module

if TYPE_CHECKING:
    from dllint.project.evaluate import Evaluator

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PIECES = (".split", ".rsplit", ".partition", ".rpartition")


class Settings:
    """Answers what is made of settings."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._merged: dict[tuple[int, int], Expr] = {}

    def made(self, call: Expr, env: Env) -> list[Value]:
        """The results of a call for a part of the settings, with arguments that override those of the part."""
        found: list[Value] = []
        names = {name_read(value) for value in self.evaluator.values(call.args[1], env)} - {""}
        for part, where in (pair for name in sorted(names) for pair in self._parts.get(name, ())):
            merged = self._call(call, env, part, where)
            for callee in self.evaluator.values(part.args[0], where):
                found += self.evaluator.calls.result(callee, merged, env)
        return found

    def found_in(self, module: Value, name: Expr, env: Env) -> list[Value]:
        """What is read from a module that is imported by a text, where this and the name are pieces of one setting."""
        if not isinstance(module, ExtInst) or module.name != "importlib.import_module":
            return []
        names = set(self._wholes(self.evaluator.values(name, env)))
        wholes = self._wholes(self.evaluator.values(module.call.args[1], module.env))
        return [value for whole in dict.fromkeys(wholes) if whole in names for value in self._at_path(whole)]

    def _wholes(self, texts: Iterable[Value]) -> Iterator[Value]:
        """What texts are pieces of: `path` of `path.rsplit(".", 1)[0]`, of `".".join(path.split(".")[:-1])`."""
        for text in texts:
            whole: Value | None = text
            if isinstance(text, ExtInst) and text.name == "str.join" and len(text.call.args) == 2:
                yield from self._wholes(self.evaluator.values(text.call.args[1], text.env))
                continue
            while isinstance(whole, ExtInst) and whole.name.replace("()", "").replace("[]", "").endswith(_PIECES):
                whole = whole.base
            if whole is not None and whole is not text:
                yield whole

    def _at_path(self, setting: Value) -> Values:
        """The classes and functions whose dotted paths settings have under the name that something is read under."""
        paths = self._paths.get(name_read(setting), [])
        owner = read_from(setting)
        near = [path for path in paths if owner is not None and path[0] == name_read(owner)]
        found = (self._at(path, where) for _, path, where in near or paths)
        return unique(value for values in found for value in values if isinstance(value, Klass | Func))

    def _at(self, path: str, where: Module) -> Values:
        module, _, name = path.rpartition(".")
        found = self.evaluator.index.find(where.path, module, 0)
        return self.evaluator.names.global_name(found, name) or () if found is not None else ()

    @cached_property
    def _paths(self) -> dict[str, list[tuple[str, str, Module]]]:
        """The dotted paths in settings by their keys, each with the key of the mapping around it and the file."""
        found: dict[str, list[tuple[str, str, Module]]] = defaultdict(list)
        for module in self.evaluator.index:
            for _, _, events in module.scopes if module.settings else ():
                for event in events:
                    for around, key, text in _texts("", event.value):
                        if _DOTTED.fullmatch(text):
                            found[key].append((around, text, module))
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


def name_read(value: Value) -> str:
    """The key under which settings are read: `dataset` of `config.dataset` and of `config["dataset"]`."""
    match value:
        case ExtMethod(attribute=attribute):
            return attribute
        case ExtInst(call=expr) | Opaque(expr=expr) if expr.kind == "attribute":
            return expr.name
        case ExtInst(call=expr) | Opaque(expr=expr) if expr.kind == "subscript" and len(expr.args) == 2:
            return expr.args[1].value if isinstance(expr.args[1].value, str) else ""
    return ""


def read_from(value: Value) -> Value | None:
    """What something is read from: `config["data"]` of `config["data"]["path"]`."""
    match value:
        case ExtMethod(base=base) | ExtInst(base=base) if base is not None:
            return base
        case Opaque(expr=expr, env=env) if expr.kind in ("attribute", "subscript"):
            return Opaque(expr.args[0], env)
    return None


def _texts(around: str, part: Expr | None) -> Iterator[tuple[str, str, str]]:
    """The texts in settings, each with its key and the key of the mapping around it."""
    pairs = zip(part.args[::2], part.args[1::2], strict=True) if part is not None and part.kind == "dict" else ()
    for key, value in pairs:
        if isinstance(value.value, str):
            yield around, str(key.value), value.value
        yield from _texts(str(key.value), value)
