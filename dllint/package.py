"""What a package says of itself that tells something about its workers: Pythons, NumPy, console scripts."""

from __future__ import annotations

import contextlib
import os

from dllint.options import plain, section, toml
from dllint.reading import contents

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


def numpy(folder: str, project: dict[str, object]) -> str:
    """The versions of NumPy that the package of a folder allows, or ""."""
    return _requirement(project.get("dependencies"), "numpy") or _requirement(_listed(folder), "numpy")


def _listed(folder: str) -> list[str]:
    """The lines of a folder's `requirements.txt`, without comments."""
    try:
        text = contents(os.path.join(folder, "requirements.txt")).decode()
    except (OSError, ValueError):
        return []
    return [line.partition("#")[0].strip() for line in text.splitlines()]


def _requirement(dependencies: object, package: str) -> str:
    """The versions of a package that the dependencies allow, or ""."""
    texts = dependencies if isinstance(dependencies, list) else []
    candidates = [text for text in texts if isinstance(text, str) and text.lower().startswith(package)]
    if not candidates:
        return ""
    known = plain(candidates[0][len(package) :].partition(";")[0])  # what the marker says is not asked
    if known is not None:
        return known
    from packaging.requirements import InvalidRequirement, Requirement

    for text in candidates:
        with contextlib.suppress(InvalidRequirement):
            requirement = Requirement(text)
            if requirement.name.lower() == package:
                return str(requirement.specifier)
    return ""
