"""What the verdict is about: platforms, Python versions, start method, and the project's own names."""

from __future__ import annotations

import msgspec


class Targets(msgspec.Struct, frozen=True):
    """The declared targets of a project, from its configuration and its package metadata. Empty means not declared."""

    platforms: tuple[str, ...] = ("linux", "macos", "windows")
    pythons: str = ""
    """PEP 440 specifier, such as `>=3.10`."""
    start_method: str = ""
    """`fork`, `spawn` or `forkserver` when the project always sets it outside the code."""
    numpy: str = ""
    """The project's own requirement on numpy, such as `>=2`."""
    loader_classes: tuple[str, ...] = ()
    """Further classes (dotted) that start workers like DataLoader."""
    dataset_bases: tuple[str, ...] = ()
    """Further classes (dotted) whose subclasses are datasets."""
    unpicklable_types: tuple[str, ...] = ()
    """Further callables (dotted) whose results cannot be pickled."""
    src: tuple[str, ...] = ()
    """Folders that imports start from, relative to the root."""
