"""From `module:attribute` to a loader whose workers are started in a given way. Runs the project's code."""

from __future__ import annotations

import importlib
import operator
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from dllint.runtime.probe import places
from dllint.runtime.probe.messages import Loaded, Place

WORKERS = 2
"""Where neither the loader nor the command line says how many."""
MAIN = "__mp_main__"
"""What multiprocessing calls the main program in the processes that it starts."""
_made: dict[int, tuple[Place, ...]] = {}


class Unusable(Exception):
    """The target is not there, or is nothing that can be probed."""


def set_default_method(method: str) -> None:
    """Change the platform's default start method, without the choice that a program may make once."""
    from multiprocessing import context

    contexts: Any = context
    contexts._default_context._default_context = contexts._concrete_contexts[method]


def imported(target: str) -> types.ModuleType:
    """The module of `module:attribute`, or of `file.py:attribute`. Raises Unusable, or whatever the module raises."""
    import torch  # noqa: F401 - if it cannot be imported, that is what must be told

    name = target.rpartition(":")[0]
    sys.argv = [name]
    return _run_file(name) if name.endswith(".py") else _imported(name)


def attribute(module: types.ModuleType, target: str) -> object:
    """What it names. Raises Unusable."""
    name, _, path = target.rpartition(":")
    try:
        return operator.attrgetter(path)(module)
    except AttributeError:
        raise Unusable(f"{name} has no attribute {path!r}") from None


def _imported(name: str) -> types.ModuleType:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise Unusable(f"no module named {error.name!r} here") from None
        raise


def _run_file(path: str) -> types.ModuleType:
    """Run a file as multiprocessing runs the main program in a worker, and let the workers do the same."""
    import runpy

    if not os.path.isfile(path):
        raise Unusable(f"{path}: no such file")
    place = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(place))
    module = types.ModuleType(MAIN)
    sys.modules["__main__"] = sys.modules[MAIN] = module
    module.__file__ = place
    module.__dict__.update(runpy.run_path(place, run_name=MAIN))
    return module


def as_loader(value: Any, workers: int) -> Any:
    """The loader itself, one around a dataset, or what a factory returns. Raises Unusable."""
    from torch.utils.data import DataLoader, Dataset, IterableDataset

    if not isinstance(value, DataLoader | Dataset) and callable(value):
        value = _called(value)
    if isinstance(value, DataLoader):
        return value
    if isinstance(value, IterableDataset) or (hasattr(value, "__getitem__") and hasattr(value, "__len__")):
        if not isinstance(value, str | bytes | list | tuple | dict):
            return DataLoader(value, batch_size=_batch(value), num_workers=workers or WORKERS)
    raise Unusable(
        f"it is an object of {type(value).__qualname__}, neither a loader nor a dataset nor a factory of one"
    )


def _batch(dataset: Any) -> int:
    """Batches small enough that each of a few workers has some."""
    try:
        return max(1, min(16, len(dataset) // 16))
    except (TypeError, NotImplementedError):
        return 16


def _called(factory: Callable[[], object]) -> object:
    import inspect

    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise Unusable(f"a factory is called without arguments, and this one wants some: {error}") from None
    except ValueError:  # a callable without a signature
        pass
    return factory()


def watch_loaders() -> None:
    """Remember where loaders are made, for the findings that name these lines."""
    from torch.utils.data import DataLoader

    original = DataLoader.__init__

    def remember(self: Any, *args: Any, **kwargs: Any) -> None:
        frame = sys._getframe(1)
        lines = []
        while frame is not None:
            if places.own(frame.f_code.co_filename):
                lines.append(places.place(frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        _made[id(self)] = tuple(lines)
        original(self, *args, **kwargs)

    remember.__wrapped__ = original  # type: ignore[attr-defined]
    DataLoader.__init__ = remember


def configure(loader: Any, workers: int, method: str, init: Callable[[int], None] | None) -> None:
    """Give the loader so many workers, started like this. Where the loader forbids it, too: this is a probe."""
    state: dict[str, Any] = loader.__dict__
    state["num_workers"] = workers
    if workers:
        state["prefetch_factor"] = state.get("prefetch_factor") or 2
        loader.multiprocessing_context = method
    else:
        loader.multiprocessing_context = None
        state.update(prefetch_factor=None, persistent_workers=False, timeout=0)
    state["worker_init_fn"] = init


def described(loader: Any, workers: int, asked: str) -> Loaded:
    """What the report says of the loader first."""
    import platform

    import torch
    from torch.utils.data import IterableDataset

    dataset = loader.dataset
    try:
        items = len(dataset)
    except (TypeError, NotImplementedError):
        items = None
    return Loaded(
        loader=f"{type(loader).__module__}.{type(loader).__qualname__}",
        dataset=f"{type(dataset).__module__}.{type(dataset).__qualname__}",
        iterable=isinstance(dataset, IterableDataset),
        items=items,
        batch_size=loader.batch_size,
        workers=workers,
        method=asked,
        made=_made.get(id(loader), ()),
        python=platform.python_version(),
        torch=str(torch.__version__),
    )


def chosen_method(loader: Any) -> str:
    """The start method that the loader asks for, or ""."""
    context = loader.multiprocessing_context
    return str(context.get_start_method()) if context is not None else ""
