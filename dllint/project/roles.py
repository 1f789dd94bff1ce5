"""The parts that files play in a project, by their paths."""

from __future__ import annotations

_SHOWING = frozenset({"example", "examples", "tutorial", "tutorials", "demo", "demos", "doc", "docs"})


def is_test(path: str) -> bool:
    """Whether a file is a test: it shows what can be reached, and proves nothing about what other code passes."""
    parts = path.split("/")
    named = parts[-1].startswith(("test_", "conftest")) or parts[-1].endswith("_test.py")
    return named or any(part in ("test", "tests", "testing") for part in parts[:-1])


def is_example(path: str) -> bool:
    """Whether a file shows how others use what stands elsewhere in the project."""
    return any(part in _SHOWING for part in path.split("/")[:-1])
