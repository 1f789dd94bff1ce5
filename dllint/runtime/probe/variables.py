"""What the modules of a project keep: variables, class attributes, functions. Two processes can be compared by it."""

from __future__ import annotations

import argparse
import sys
import types
from collections.abc import Iterator, Mapping
from itertools import islice

from dllint.runtime.probe import contents, places
from dllint.runtime.probe.digests import digest
from dllint.runtime.probe.messages import Variable

DEEPEST = 5
MOST = 5000
WIDEST = 500
"""Entries of one object that are looked at."""
SHORT = 40
_PLAIN = (str, bytes, int, float, complex, bool, type(None))
_MAIN = "__mp_main__"
"""What a worker that is not forked calls the main script."""


def variables() -> tuple[Variable, ...]:
    """Those of the modules that this process has imported so far."""
    found: dict[tuple[str, str], Variable] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(module, types.ModuleType) and isinstance(file, str) and places.own(file):
            path = places.place(file, 0).path
            for variable in islice(_of_module(name, module, path), MOST):
                found.setdefault((path, variable.name), variable)
    return tuple(islice(found.values(), MOST))


def _of_module(name: str, module: types.ModuleType, path: str) -> Iterator[Variable]:
    for key, value in list(vars(module).items()):
        if key.startswith("__"):
            continue
        if isinstance(value, type):
            if value.__module__ == name:
                for part, held in list(vars(value).items()):
                    if not part.startswith("__"):
                        yield from _leaves(path, f"{key}.{part}", held, 1)
        else:
            yield from _leaves(path, key, value, 0)


def _leaves(path: str, name: str, value: object, depth: int) -> Iterator[Variable]:
    """The parts of a value that can be compared; objects of libraries are left alone, but for mappings and options."""
    if isinstance(value, types.FunctionType):
        yield Variable(path, name, f"{value.__module__}.{value.__qualname__}".replace(_MAIN, "__main__"), "a function")
    elif isinstance(value, _PLAIN):
        yield Variable(path, name, digest(value), f"{value!r}"[:SHORT])
    elif isinstance(value, Mapping) and isinstance(value, dict) and depth < DEEPEST and _is_named(value):
        for key, held in islice(value.items(), WIDEST):
            yield from _leaves(path, f"{name}[{key!r}]", held, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset | dict) and len(value) <= WIDEST:
        if all(isinstance(part, (*_PLAIN, list, tuple)) for part in value):
            plain = sorted(map(repr, value)) if isinstance(value, set | frozenset) else value
            yield Variable(path, name, digest(plain), _shown(value))
    elif depth < DEEPEST and _is_own(value):
        for key, held in islice(contents.attributes(value).items(), WIDEST):
            yield from _leaves(path, f"{name}.{key}", held, depth + 1)


def _is_named(value: dict[object, object]) -> bool:
    return all(isinstance(key, str) for key in islice(value, WIDEST))


def _is_own(value: object) -> bool:
    """Whether an object is one of the project's own classes, or a namespace of options."""
    file = getattr(sys.modules.get(type(value).__module__), "__file__", None)
    return isinstance(value, types.SimpleNamespace | argparse.Namespace) or (isinstance(file, str) and places.own(file))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHORT else f"{text[: SHORT - 3]}..."
