"""What makes results: this dllint with its rules. Another tool, other results."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dllint import __version__, registry


@cache
def tool() -> str:
    """The version, and a digest of the code of dllint, of its rules and of what parses. Machines agree on it."""
    seen = hashlib.sha256()
    for folder in sorted({Path(__file__).parent.parent, *_rules()}, key=lambda folder: folder.name):
        for file in sorted(folder.rglob("*.py"), key=lambda file: file.relative_to(folder).as_posix()):
            seen.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    seen.update(f"{importlib.metadata.version('libcst')} {sys.version_info[:3]}".encode())
    return f"{__version__}+{seen.hexdigest()[:12]}"


def _rules() -> Iterator[Path]:
    """The folders of the packages that have rules."""
    for rule in registry.rules():
        package = sys.modules[rule.__module__.partition(".")[0]]
        yield from (Path(place) for place in getattr(package, "__path__", ()))
