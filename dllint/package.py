"""Metadata of a package that affects its workers: Pythons, console scripts."""

from __future__ import annotations

import os

from dllint.options import section, toml

Words = tuple[str, ...]
PYPROJECT = "pyproject.toml"


def metadata(folder: str) -> dict[str, object]:
    """The `[project]` table of a folder's package. Raises ConfigError."""
    file = os.path.join(folder, PYPROJECT)
    return dict(section(toml(file), "project")) if os.path.isfile(file) else {}


def scripts(project: dict[str, object]) -> Words:
    """The modules that the package's scripts import."""
    tables = [project.get(name) for name in ("scripts", "gui-scripts")]
    places = [place for table in tables if isinstance(table, dict) for place in table.values()]
    return tuple(place.partition(":")[0].strip() for place in places if isinstance(place, str))
