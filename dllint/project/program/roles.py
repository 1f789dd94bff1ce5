"""The parts that files and names play in a project."""

from __future__ import annotations

import re
from functools import lru_cache

_TESTING = frozenset({"test", "tests", "testing"})
_SHOWING = frozenset({"example", "examples", "tutorial", "tutorials", "demo", "demos", "doc", "docs"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DATA = "(?:s|(?:data)?(?:set|loader)|data|iter|queue)?"
_TRAINED_ON = re.compile(f"(?:train|training){_DATA}")
_HELD_OUT = re.compile(
    f"(?:val(?:id(?:at(?:e|ion))?)?|test(?:ing)?|eval(?:uat(?:e|ion))?|dev|demo|infer(?:ence)?|predict){_DATA}"
)
_KEPT_ASIDE = frozenset({"archive", "archived", "backup", "backups", "bak", "deprecated", "obsolete", "old", "unused"})


def is_test(path: str) -> bool:
    """Whether a file is a test: it shows what can be reached, and proves nothing about what other code passes."""
    parts = path.split("/")
    in_folder = any(part in _TESTING for part in parts[:-1])
    return in_folder or parts[-1].startswith("conftest") or is_named_test(path)


def is_named_test(path: str) -> bool:
    """Whether nothing but a file's own name says that it is a test."""
    *folders, name = path.split("/")
    return (name.startswith("test_") or name.endswith("_test.py")) and not _TESTING.intersection(folders)


def is_example(path: str) -> bool:
    """Whether a file shows how others use what stands elsewhere in the project."""
    return any(part in _SHOWING for part in path.split("/")[:-1])


@lru_cache(4096)  # asked for every step of every route, in few files
def is_kept_aside(path: str) -> bool:
    """Whether a file is in a folder for what a project no longer uses: nobody may run it any more."""
    return any(part.lower() in _KEPT_ASIDE for part in path.split("/")[:-1])


def is_held_out(name: str) -> bool | None:
    """Whether what has a name is for data that nothing is trained on, as `valid_loader` and `testset` are.

    None: the name says neither, or both.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    trained, held_out = any(map(_TRAINED_ON.fullmatch, words)), any(map(_HELD_OUT.fullmatch, words))
    return None if trained is held_out else held_out
