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
    def __init__(self, start: int, total, size: int, scale=2) -> None:
        "Counts."
        self.scale = scale
        self.size = size
        self.rows = list(range(start, total))

    def item(self, index):
        return [self.rows[index] * self.scale + part for part in range(self.size)]


def make(size: int, scale=2):
    total = size * scale

    return Rows(1, total, size, scale), Rows(
        start=2,
        total=total,
        size=size,
        scale=scale,
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
    with pytest.raises((AttributeError, pickle.PicklingError)):  # the latter from Python 3.14 on
        pickle.dumps(before)


@pytest.mark.parametrize(
    ("parameters", "call", "taken", "given"),
    [
        ("self", "Rows()", "self, kept=False", "Rows(kept)"),
        ("self, a", "Rows((1))", "self, a, kept=False", "Rows((1), kept)"),
        ("self, a=1", "Rows()", "self, a=1, kept=False", "Rows(kept=kept)"),
        ("self, a: int = 1", "Rows(a=1)", "self, a: int = 1, kept=False", "Rows(a=1, kept=kept)"),
        ("self, a=(1)", "Rows(2)", "self, kept, a=(1)", "Rows(kept, 2)"),
        ("self, *a", "Rows(2)", "self, kept, *a", "Rows(kept, 2)"),
        ("self, a", "Rows(*[1])", "self, a, kept=False", "Rows(*[1], kept=kept)"),
        (
            "\n            self,\n            a,\n        ",
            "Rows(\n        1,\n    )",
            "\n        self,\n        a,\n        kept=False,\n    ",
            "Rows(\n        1,\n        kept,\n    )",
        ),
    ],
)
def test_what_is_passed_has_its_default_where_it_may_come_last(
    parameters: str, call: str, taken: str, given: str
) -> None:
    init = f"        def __init__({parameters}):\n            self.kept = kept\n"
    after = hoist(f"def make(kept=False):\n    §class Rows:\n{init}\n    return {call}\n")
    assert after is not None
    assert f"    def __init__({taken}):\n" in after
    assert f"    return {given}\n" in after


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
