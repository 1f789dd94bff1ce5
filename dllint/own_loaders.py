"""The loaders that a configuration names or describes, as knowledge."""

from __future__ import annotations

from difflib import get_close_matches

from dllint.keys import LoaderKeys, Words
from dllint.knowledge import LOADERS, Boundary

_TORCHS = LOADERS["torch.utils.data.DataLoader"]


def boundaries(classes: Words | None, described: dict[str, LoaderKeys] | None) -> dict[str, Boundary]:
    """Of `loader-classes` and `loaders`; a name that both have is what its table says."""
    tables = {name: _boundary(table) for name, table in (described or {}).items()}
    return {**dict.fromkeys(classes or (), _TORCHS), **tables}


def misnamed(table: LoaderKeys) -> tuple[str, str] | None:
    """The first key that names a parameter which the loader does not have, with the mistake; None without one."""
    boundary = _boundary(table)
    if not boundary.workers:
        return "workers", "expected the name of a parameter; what always has workers has a default for it"
    known = {*boundary.parameters, *boundary.ships, boundary.workers}
    named = {
        "processes-when": [*boundary.processes_when],
        "defaults": [*boundary.defaults],
        "attributes": [*boundary.attributes.values()],
    }
    for key, names in named.items():
        for name in names:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                meant = f"; did you mean {close[0]!r}?" if close else ""
                return key, f"{name!r} is neither in `parameters` nor in `ships`{meant}"
    return None


def _boundary(table: LoaderKeys) -> Boundary:
    return Boundary(
        _TORCHS.parameters if table.parameters is None else table.parameters,
        _TORCHS.ships if table.ships is None else table.ships,
        workers=table.workers,
        processes_when=table.processes_when,
        defaults=table.defaults,
        attributes=table.attributes,
    )
