"""Short names for content that are the same in every process: of items, and of the states of random generators."""

from __future__ import annotations

import hashlib
import pickle
import random
import sys
from typing import Any

from dllint.runtime.probe import contents
from dllint.runtime.probe.messages import Place

LENGTH = 12
MOST = 5000
"""Parts of an item that are looked at."""


def digest(value: object) -> str:
    """The same for equal content."""
    return _Digest().of(value)


class _Digest:
    """Goes through an object, and through each of its parts once."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=LENGTH)
        self._kept: dict[int, object] = {}

    def of(self, value: object) -> str:
        self._feed(value)
        return self._hash.hexdigest()

    def _feed(self, value: Any) -> None:
        self._hash.update(type(value).__name__.encode())
        if value is None or isinstance(value, str | bytes | int | float | complex):
            self._hash.update(repr(value).encode("utf-8", "surrogatepass"))
            return
        if id(value) in self._kept or len(self._kept) > MOST:
            return
        self._kept[id(value)] = value
        if hasattr(value, "detach") and hasattr(value, "numpy"):
            self._feed(_as_array(value))
        elif hasattr(value, "tobytes") and str(getattr(value, "dtype", "")) != "object":
            self._hash.update(value.tobytes())
        elif isinstance(value, dict):
            for part in value.items():
                self._feed(part)
        elif isinstance(value, list | tuple):
            for part in value:
                self._feed(part)
        else:
            for part in sorted(contents.attributes(value).items()):
                self._feed(part)


def _as_array(tensor: Any) -> Any:
    tensor = tensor.detach().cpu()
    return (tensor if tensor.layout == sys.modules["torch"].strided else tensor.to_dense()).numpy()


def states(dataset: object) -> dict[str, tuple[str, tuple[Place, ...]]]:
    """The states of all random generators, by name, with the lines that store them."""
    import torch

    numpy: Any = sys.modules.get("numpy")
    found: dict[str, tuple[str, tuple[Place, ...]]] = {
        "random": (_short(random.getstate()), ()),
        "torch": (digest(torch.get_rng_state()), ()),
    }
    if numpy is not None:
        found["numpy.random"] = (_short(numpy.random.get_state()), ())
    for step in contents.generators(dataset, "dataset"):
        found[step.path] = (_state(step.value), step.stored())
    return found


def _state(generator: Any) -> str:
    if hasattr(generator, "bit_generator"):
        return _short(generator.bit_generator.state)
    if hasattr(generator, "getstate"):
        return _short(generator.getstate())
    state = generator.get_state()
    return digest(state) if hasattr(state, "numpy") else _short(state)


def _short(value: object) -> str:
    return hashlib.blake2b(pickle.dumps(value), digest_size=LENGTH).hexdigest()
