"""What other packages know: the tables that they announce in the entry-point group `dllint.knowledge`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from dllint import announced
from dllint.knowledge import Boundary, Knowledge
from dllint.registry import RegistryError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dllint.knowledge"


class _Table(msgspec.Struct, frozen=True):
    """The types of a table, as data."""

    loaders: dict[str, Boundary] = {}
    dataset_bases: tuple[str, ...] = ()
    unpicklable_types: tuple[str, ...] = ()


@cache
def knowledge() -> Knowledge:
    """All tables as one. Raises RegistryError for one that cannot be loaded or is none."""
    points = sorted(announced.points(GROUP), key=lambda point: (point.name, point.value))
    tables = [_load(point) for point in points]
    return Knowledge(
        {name: boundary for table in tables for name, boundary in table.loaders.items()},
        tuple(dict.fromkeys(name for table in tables for name in table.dataset_bases)),
        tuple(dict.fromkeys(name for table in tables for name in table.unpicklable_types)),
    )


def _load(point: EntryPoint) -> _Table:
    place = f"{point.value!r}, which {_distribution(point)} announces as {GROUP}"
    try:
        found: Any = point.load()
    except Exception as error:
        raise RegistryError(f"cannot import {place}: {type(error).__name__}: {error}") from error
    if not isinstance(found, Knowledge):
        raise RegistryError(f"{place}, is not a `dllint.Knowledge`")
    try:
        return msgspec.convert(msgspec.to_builtins(found._asdict()), _Table)
    except (msgspec.ValidationError, TypeError) as error:
        raise RegistryError(f"{place}: {error}") from None


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "a distribution"
