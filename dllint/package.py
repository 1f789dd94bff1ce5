"""Metadata of a package that affects its workers: Pythons, console scripts."""

from __future__ import annotations

import os
import re

from dllint.options import section, toml
from dllint.reading import contents

_DECLARES = re.compile(rb"^\s*\[\s*(project|build-system|tool\.poetry|metadata|options)\s*\]", re.MULTILINE)
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


def declared(root: str) -> Words:
    """The folders that declare an installable package, relative to the root: it, one around it, or those in it."""
    around = (root, os.path.dirname(root))
    if any(map(_declares, around)):
        return (".",)
    try:
        inner = sorted(item.name for item in os.scandir(root) if item.is_dir(follow_symlinks=False))
    except OSError:
        return ()
    return tuple(name for name in inner if _declares(os.path.join(root, name)))


def _declares(folder: str) -> bool:
    if os.path.isfile(os.path.join(folder, "setup.py")):
        return True
    for name in ("setup.cfg", PYPROJECT):
        try:
            text = contents(os.path.join(folder, name))
        except OSError:
            continue
        if _DECLARES.search(text):
            return True
    return False
