"""The tools that cached data depends on: dllint, rules, Python and LibCST, identified by their files."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Container, Iterator
from functools import cache

import msgspec

from dllint import __version__
from dllint.source import hashed

State = tuple[int, int, int, int]
"""Size, modification time, change time (both in ns), inode."""

_OWN = os.path.dirname(os.path.dirname(__file__))
_FACTS = ("cache", "collect", "documents", "files", "model", "reduce", "source.py", "syntax")
"""The parts of dllint that say what a file is about."""
_SHELLS = ("cli", "editor", "report", "review", "runtime", "survey", "testing")
"""The parts that ask for verdicts or tell of them: a third of the code, and no judge."""


def state(status: os.stat_result) -> State:
    """What of a file's status changes when the file does."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def of_facts() -> str:
    """What makes facts: the code that collects them, Python and LibCST. Other makers, other facts."""
    start = len(_OWN) + 1
    own = [(file[start:], known) for file, known in _engine()]
    parts = [(file, known[:2]) for file, known in own if file.partition(os.sep)[0] in _FACTS]
    others = [(file, known[:2]) for file, known in _imported("libcst")]
    return hashed(repr((__version__, sys.version, msgspec.__version__, sorted(parts), others)).encode(), 8)


def of_verdicts(folders: Iterator[str]) -> list[tuple[str, State]]:
    """Whose verdict it is: every file of the engine and of the rules in these folders, and LibCST for the fixes."""
    others = [(sys.executable, state(os.stat(sys.executable))), *_imported("libcst")]
    return sorted((*others, *_engine(), *(entry for folder in folders for entry in _code(folder))))


@cache
def _engine() -> list[tuple[str, State]]:
    return list(_code(_OWN, _SHELLS))


def _code(folder: str, without: Container[str] = ()) -> Iterator[tuple[str, State]]:
    """The Python files below a folder of code, with their states."""
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(".py"):
                    yield entry.path, state(entry.stat())
                elif name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                    if place != folder or name not in without:
                        waiting.append(entry.path)


def _imported(*names: str) -> Iterator[tuple[str, State]]:
    """The files that tell one version of a package from another, without importing it."""
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            yield spec.origin, state(os.stat(spec.origin))
