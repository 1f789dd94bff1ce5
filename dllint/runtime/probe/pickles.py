"""Which part of an object does not pickle: what pickle itself would send is asked for, part by part."""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from itertools import islice
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler
from typing import Any, cast

from dllint.runtime.probe import places
from dllint.runtime.probe.contents import Step, direct, short
from dllint.runtime.probe.messages import Part, Place

MOST = 20
DEEPEST = 40
_PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None))


class Sink:
    """Takes what is pickled and keeps its size."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: Any) -> int:
        length = memoryview(data).nbytes
        self.size += length
        return length


class _Popen:
    """Stands for the process that is being started, which locks and queues want to see before they pickle."""

    def duplicate_for_child(self, handle: int) -> int:
        return handle

    def DupFd(self, descriptor: int) -> int:
        return descriptor


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Pickle as it is done when a process starts."""
    spawning = cast(Any, context)
    spawning.set_spawning_popen(_Popen())
    try:
        yield
    finally:
        spawning.set_spawning_popen(None)


def size(value: object) -> int:
    """Bytes of an object that pickles."""
    sink = Sink()
    ForkingPickler(cast(Any, sink)).dump(value)
    return sink.size


def refusal(value: object) -> Exception | None:
    """Why an object does not pickle."""
    try:
        size(value)
    except Exception as error:
        return error
    return None


def culprits(value: object, path: str) -> list[Part]:
    """The parts of an object that do not pickle, each by the path to it; many of one kind are reported once."""
    kinds: dict[tuple[str, tuple[Place, ...]], Part] = {}
    for part in islice(_culprits(Step(path, value, None, ""), set(), 0), MOST):
        kinds.setdefault((part.what, part.places), part)
    return list(kinds.values())


def _culprits(step: Step, seen: set[int], depth: int) -> Iterator[Part]:
    if isinstance(step.value, _PLAIN) or id(step.value) in seen:
        return
    seen.add(id(step.value))
    error = refusal(step.value)
    if error is None:
        return
    found = False
    if depth < DEEPEST:
        for part in _pickled_parts(step):
            for culprit in _culprits(part, seen, depth + 1):
                found = True
                yield culprit
    if not found:
        yield _part(step, error)


def _pickled_parts(step: Step) -> Iterator[Step]:
    """What pickle takes an object apart into; nothing for what it takes as a whole, or for a class it cannot name."""
    path, value = step.path, step.value
    if type(value) is dict:
        yield from _items(step, value.items())
    elif type(value) in (list, tuple, set, frozenset):
        yield from _listed(step, cast(Any, value))
    elif isinstance(value, functools.partial):
        yield from direct(step)
    elif not isinstance(value, types.FunctionType | type) and not _unnamed(type(value)):
        with contextlib.suppress(Exception):
            yield from _reduced_parts(path, step, _reduce(value))


def _reduce(value: object) -> Any:
    table = cast(Any, ForkingPickler(cast(Any, Sink()))).dispatch_table
    reducer: Callable[[object], Any] | None = table.get(type(value))
    return reducer(value) if reducer else value.__reduce_ex__(4)


def _reduced_parts(path: str, step: Step, reduced: Any) -> Iterator[Step]:
    if not isinstance(reduced, tuple):
        return
    function, arguments, state, listed, keyed, *_ = (*reduced, None, None, None, None)
    method = isinstance(step.value, types.MethodType)
    for index, argument in enumerate(arguments or ()):
        name = f".args[{index}]"
        if method:
            name = ".__self__"
        elif isinstance(step.value, collections.defaultdict):
            name = ".default_factory"
        yield Step(path + name, argument, step.owner, step.name)
    if not isinstance(function, type | types.FunctionType | types.BuiltinFunctionType):
        yield Step(f"{path}.__reduce__", function, step.owner, step.name)
    for states in state if isinstance(state, tuple) else (state,):
        if isinstance(states, dict):
            yield from (_attribute(step, name, part) for name, part in states.items())
        elif states is not None:
            yield Step(f"{path}.__getstate__()", states, step.owner, step.name)
    if listed is not None:
        yield from _listed(step, listed)
    if keyed is not None:
        yield from _items(step, keyed)


def _attribute(step: Step, name: object, value: object) -> Step:
    return Step(f"{step.path}.{name}", value, step.value, str(name))


def _listed(step: Step, values: Any) -> Iterator[Step]:
    fields = getattr(type(step.value), "_fields", ())
    for index, value in enumerate(values):
        name = f".{fields[index]}" if index < len(fields) else f"[{index}]"
        yield Step(step.path + name, value, step.owner, step.name)


def _items(step: Step, items: Any) -> Iterator[Step]:
    for key, value in items:
        yield Step(f"{step.path}[{key!r:.40}]", key, step.owner, step.name)
        yield Step(f"{step.path}[{key!r:.40}]", value, step.owner, step.name)


def _part(step: Step, error: Exception) -> Part:
    what, defined, rule = _described(step)
    message = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return Part(step.path, what, tuple(dict.fromkeys((*defined, *step.stored()))), rule, message)


def _described(step: Step) -> tuple[str, tuple[Place, ...], str]:
    """What a culprit is, where it is defined, and the static rule for it."""
    value = step.value
    if isinstance(value, types.FunctionType):
        defined = (places.of_code(value.__code__),)
        if value.__name__ != "<lambda>":
            return f"function {value.__qualname__}", defined, "DLL104" if "<locals>" in value.__qualname__ else ""
        if step.path.endswith(".default_factory"):
            return "lambda", defined, "DLL101"
        return "lambda", defined, "DLL103" if step.owner is None and step.path.count(".") == 1 else "DLL102"
    klass = value if isinstance(value, type) else type(value)
    if _unnamed(klass):
        place = places.of_class(klass)
        return f"object of {klass.__qualname__}", (place,) if place else (), "DLL105"
    if not isinstance(value, type) and (own := _own_way(klass)):
        place = places.of_class(klass)
        return f"object of {short(value)}, by its own `{own}`", (place,) if place else (), ""
    return short(value), (), "DLL106"


def _unnamed(klass: type) -> bool:
    """Whether a class of Python code cannot be found by its name. Those of C code pickle by other ways, or never."""
    file = getattr(sys.modules.get(klass.__module__), "__file__", None) or ""
    return file.endswith(".py") and refusal(klass) is not None


def _own_way(klass: type) -> str:
    """The method by which a class says itself how it is pickled, or ""."""
    names = ("__reduce__", "__reduce_ex__", "__getstate__")
    written = (base for base in klass.__mro__ if base is not object and places.of_class(base) is not None)
    return next((name for base in written for name in names if name in vars(base)), "")
