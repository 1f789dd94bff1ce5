"""What an object holds, by paths such as `dataset.transform.steps[2]`. Reads attributes, and runs no code of theirs."""

from __future__ import annotations

import collections
import functools
import io
import random
import sys
import threading
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from dllint.runtime.probe import places
from dllint.runtime.probe.messages import Part, Place

DEEPEST = 10
MOST = 20_000
WIDEST = 200
"""Elements of a container that are looked at; what follows is of the same kind."""

_ATOMS = (str, bytes, bytearray, int, float, complex, bool, type(None), type, types.ModuleType, range, slice)
_HANDLES = {
    *("_io.FileIO", "_io.BufferedReader", "_io.BufferedWriter", "_io.BufferedRandom", "_io.TextIOWrapper"),
    *("zipfile.ZipFile", "zipfile._zipfile.ZipFile", "tarfile.TarFile", "gzip.GzipFile", "bz2.BZ2File"),
    *("lzma.LZMAFile", "mmap.mmap", "sqlite3.Connection", "sqlite3.Cursor", "socket.socket", "subprocess.Popen"),
    *("h5py._hl.files.File", "h5py._hl.dataset.Dataset", "h5py._hl.group.Group", "builtins.Environment"),
    *("lmdb.cpython.Environment", "cv2.VideoCapture", "pyarrow.parquet.core.ParquetFile", "_thread.lock"),
    *("_thread.RLock", "concurrent.futures.thread.ThreadPoolExecutor", "numpy.lib.npyio.NpzFile"),
    *("numpy.lib._npyio_impl.NpzFile", "netCDF4._netCDF4.Dataset", "rasterio.io.DatasetReader"),
}


class Step(NamedTuple):
    """An object, how to get to it, and the attribute (`name` of `owner`) that holds it or what it is in."""

    path: str
    value: object
    owner: object
    name: str

    def stored(self) -> tuple[Place, ...]:
        return tuple(places.stored(self.owner, self.name)) if self.name else ()


def kind(value: object) -> str:
    """The full name of an object's class."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def short(value: object) -> str:
    """The name of an object's class, as a person would say it."""
    return type(value).__qualname__.rpartition("<locals>.")[2]


def attributes(value: object) -> dict[str, object]:
    """The attributes of an instance, those in slots too."""
    found: dict[str, object] = {}
    for klass in type(value).__mro__:
        for name, slot in vars(klass).items():
            if isinstance(slot, types.MemberDescriptorType):
                try:
                    found[name] = slot.__get__(value)
                except AttributeError:
                    continue
    try:
        own = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        own = {}
    return {**found, **own} if isinstance(own, dict) else found


def direct(step: Step, widest: int = WIDEST) -> Iterator[Step]:
    """What an object holds itself."""
    path, value = step.path, step.value
    if isinstance(value, _ATOMS):
        return
    if isinstance(value, types.MethodType):
        yield Step(f"{path}.__self__", value.__self__, step.owner, step.name)
        return
    if isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=False):
            if held := _cell(cell):
                yield Step(f"{path}.{name}", held[0], step.owner, step.name)
        return
    if isinstance(value, functools.partial):
        yield Step(f"{path}.func", value.func, step.owner, step.name)
        yield from (Step(f"{path}.args[{i}]", arg, step.owner, step.name) for i, arg in enumerate(value.args))
        yield from (Step(f"{path}.{key}", arg, step.owner, step.name) for key, arg in value.keywords.items())
        return
    yield from _elements(step, widest)
    for name, part in attributes(value).items():
        yield Step(f"{path}.{name}", part, value, name)


def _cell(cell: types.CellType) -> tuple[object, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # not filled yet
        return ()


def _elements(step: Step, widest: int) -> Iterator[Step]:
    path, value = step.path, step.value
    if isinstance(value, collections.defaultdict):
        yield Step(f"{path}.default_factory", value.default_factory, step.owner, step.name)
    if isinstance(value, dict):
        for key in list(islice(dict.keys(value), widest)):
            yield Step(f"{path}[{key!r:.40}]", dict.get(value, key), step.owner, step.name)
    elif isinstance(value, list | tuple | collections.deque | set | frozenset):
        fields = getattr(type(value), "_fields", ()) if isinstance(value, tuple) else ()
        for index, part in enumerate(islice(iter(value), widest)):
            name = f".{fields[index]}" if index < len(fields) else f"[{index}]"
            yield Step(path + name, part, step.owner, step.name)


def walk(value: object, path: str) -> Iterator[Step]:
    """Everything that an object holds, nearest first; large containers in part."""
    waiting = collections.deque([(Step(path, value, None, ""), 0)])
    seen: set[int] = set()
    for _ in range(MOST):
        if not waiting:
            return
        step, depth = waiting.popleft()
        if id(step.value) in seen:
            continue
        seen.add(id(step.value))
        yield step
        if depth < DEEPEST:
            waiting.extend((part, depth + 1) for part in direct(step) if not isinstance(part.value, _ATOMS))


def handles(value: object, path: str) -> Iterator[Part]:
    """Files, connections and locks, which processes cannot or must not share."""
    inside: list[str] = []
    for step in walk(value, path):
        if _is_handle(step.value) and not any(step.path.startswith(outer + ".") for outer in inside):
            inside.append(step.path)
            yield Part(step.path, short(step.value), step.stored())


def _is_handle(value: object) -> bool:
    if isinstance(value, io.BytesIO | io.StringIO):
        return False
    return isinstance(value, io.IOBase | threading.Thread) or any(
        f"{klass.__module__}.{klass.__qualname__}" in _HANDLES for klass in type(value).__mro__
    )


def generators(value: object, path: str) -> Iterator[Step]:
    """Random generators among the attributes, and among the variables of the modules whose code is shipped."""
    modules: set[str] = set()
    for step in walk(value, path):
        if _is_generator(step.value):
            yield step
        modules.add(type(step.value).__module__)
    for name in sorted(modules):
        module = sys.modules.get(name)
        if module is not None and places.own(getattr(module, "__file__", None) or ""):
            for variable, held in list(vars(module).items()):
                if _is_generator(held):
                    yield Step(f"{name}.{variable}", held, None, "")


def _is_generator(value: object) -> bool:
    if isinstance(value, random.Random):
        return not isinstance(value, random.SystemRandom)
    return kind(value) in {
        *("numpy.random._generator.Generator", "numpy.random.mtrand.RandomState", "torch._C.Generator"),
        "torch.Generator",
    }


def lengths(value: object, path: str) -> Iterator[tuple[Step, int]]:
    """The containers and how much is in each."""
    for step in walk(value, path):
        if isinstance(step.value, list | dict | set | collections.deque):
            yield step, len(step.value)
        elif hasattr(step.value, "cache_info"):
            info: Any = step.value
            yield step, info.cache_info().currsize


def code(value: object, path: str) -> Iterator[Place]:
    """The project's own classes and functions among what is held, with the bases of the classes."""
    for step in walk(value, path):
        held = step.value
        if isinstance(held, types.MethodType):
            held = held.__func__
        if isinstance(held, types.FunctionType):
            if places.own(held.__code__.co_filename):
                yield places.of_code(held.__code__)
            continue
        for klass in type(held).__mro__:
            file = getattr(sys.modules.get(klass.__module__), "__file__", None)
            if file and places.own(file) and (place := places.of_class(klass)):
                yield place
