"""Classes that use variables of the function around them: passed to `__init__`, or left where they are."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.syntax.test_hoist_class import hoist

MAKE = """\
def make(size: int, scale=2):
    total = size * scale

    §class Rows:
        def __init__(self, start: int) -> None:
            "Counts."
            self.rows = list(range(start, total))

        def item(self, index):
            return [self.rows[index] * scale + part for part in range(size)]

    return Rows(1), Rows(
        start=2,
    )
"""
MOVED = """\
class Rows:
    def __init__(self, total, scale, size: int, start: int) -> None:
        "Counts."
        self.scale = scale
        self.size = size
        self.rows = list(range(start, total))

    def item(self, index):
        return [self.rows[index] * self.scale + part for part in range(self.size)]


def make(size: int, scale=2):
    total = size * scale

    return Rows(total, scale, size, 1), Rows(
        total, scale, size,
        start=2,
    )
"""


def made(code: str, name: str) -> Any:
    module = ModuleType(name)
    exec(code.replace("§", ""), module.__dict__)
    sys.modules[name] = module
    return module.make(3)


def test_the_class_does_the_same_and_pickles() -> None:
    result = hoist(MAKE)
    assert result == MOVED
    before, after = made(MAKE, "passed_before"), made(result, "passed_after")
    assert [one.item(1) for one in before] == [one.item(1) for one in after]
    assert [one.item(1) for one in pickle.loads(pickle.dumps(after))] == [one.item(1) for one in before]
    with pytest.raises(AttributeError):
        pickle.dumps(before)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return Rows(1), Rows(\n        start=2,\n    )\n", "    return Rows\n"),
        ("    return Rows(1)", "    print(Rows)\n    return Rows(1)"),
        (
            "        def item(self, index):\n",
            "        def more(self):\n            return Rows(1)\n\n        def item(self, index):\n",
        ),
        ("        def item(self, index):\n", "        scale = 3\n\n        def item(self, index):\n"),
        ("        def item(self, index):\n", "        @staticmethod\n        def item(index):\n"),
        ("        def item(self, index):\n", "        def item(self, index=size):\n"),
        ('            "Counts."\n', "            self.size = 1\n"),
        ("__init__(self, start: int)", "__init__(self, start: int, size=1)"),
        ("def __init__(self", "def set_up(self"),
        ("    return Rows(1)", "    total = 1\n    return Rows(1)"),
        ("range(size)]", "range(size)] + [f'{size}']"),
        ("    return Rows(1)", "    def other(scale):\n        return Rows(scale)\n    return Rows(1)"),
    ],
)
def test_what_is_not_the_same_stays(old: str, new: str) -> None:
    assert old in MAKE
    assert hoist(MAKE.replace(old, new)) is None
