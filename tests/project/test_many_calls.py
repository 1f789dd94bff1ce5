"""Calls that have nothing to do with a hazard hide it from nobody, and add none, however many there are."""

from __future__ import annotations

import pytest

from dllint.collect import collect
from dllint.project import Project
from dllint.project.evaluate.abstract_values import Func
from dllint.source import Source
from dllint.targets import Targets

HELPERS = """
from torch.utils.data import DataLoader, Dataset


def same(items):
    return items


def handed_on(function):
    return function


def wrapped(function):
    return handed_on(function)

"""
HARMLESS = """
def loader_{0}():
    return DataLoader([1, 2], num_workers=0, collate_fn=wrapped(same))

"""
LAST = """
def last():
    return DataLoader([1, 2], num_workers=1, collate_fn=wrapped(lambda items: items))
"""

CHOSEN = """
from torch.utils.data import DataLoader, Dataset


class Change:
    def __init__(self, name):
        known = {{"up": lambda x: x + 1, "down": lambda x: x - 1, "none of them": lambda x: x}}
        self.function = known[name]


class Changed(Dataset):
    def __init__(self):
        self.changes = [{calls}]

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return self.changes[0].function(index)


def loader():
    return DataLoader(Changed(), num_workers=1)
"""


def lambdas(text: str) -> list[str]:
    """The lambdas that go to workers."""
    source = Source("program.py", text)
    found = Project({"program.py": collect(source)}, Targets(), lambda _: source)
    functions = [held for held in found.shipped if isinstance(held.value, Func) and held.value.facts.kind == "lambda"]
    return sorted({text[held.span.start : held.span.end] for held in functions})


@pytest.mark.parametrize("count", [0, 23, 24, 50])
def test_harmless_calls_hide_no_hazard(count: int) -> None:
    program = HELPERS + "".join(map(HARMLESS.format, range(count))) + LAST
    assert lambdas(program) == ["lambda items: items"]


@pytest.mark.parametrize("count", [2, 10, 13, 25])
def test_what_nothing_chooses_is_not_sent(count: int) -> None:
    program = CHOSEN.format(calls=", ".join(['Change("up")', 'Change("down")'] * count))
    assert lambdas(program) == ["lambda x: x + 1", "lambda x: x - 1"]
