"""Calls that have nothing to do with a hazard hide it from nobody, and add none, however many there are."""

from __future__ import annotations

import pytest

from dllint.collect import collect
from dllint.model.facts import Expr
from dllint.project import Project
from dllint.project.evaluate.abstract_values import Const, Env, Func, Values
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


DEVICES = """
from torch.utils.data import DataLoader


def zeros(device="cuda"):
    return device


def target(device="cuda"):
    return zeros(device=device)


def collate(batch):
    return target(device="cpu")


def train():
    target()
    return DataLoader([1, 2], num_workers=2, collate_fn=collate)
"""
OF_OTHERS = """
import torch


class Loss{0}:
    def forward(self):
        return torch.zeros(3)


Loss{0}().forward()
"""


def test_calls_of_what_another_package_has_under_a_functions_name():
    """They aren't calls of the function: what it is given is told apart as far as its own calls are."""
    texts = {"data.py": DEVICES} | {f"loss{number}.py": OF_OTHERS.format(number) for number in range(12)}
    sources = {path: Source(path, text) for path, text in texts.items()}
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    (running,) = (item for item in project.running if item.env.function >= 0 and item.env.facts.name == "zeros")
    (given,) = {event.value for event in running.events if event.kind == "return"}
    assert given is not None
    assert [value.value for value in project.values(given, running.env) if isinstance(value, Const)] == ["cpu"]


SCRIPT = """
import torch
from torch.utils.data import DataLoader


def train(net, loader):
    net.train()
    for batch in loader:
        print(batch)


net = torch.nn.Linear(2, 2)
train(net, DataLoader([1, 2], num_workers=2))
"""
OF_OBJECTS = """
import torch


def fit{0}(model):
    model.train()


fit{0}(torch.nn.Linear(2, 2))
"""


def test_methods_of_objects_are_no_calls_of_a_function_of_their_name():
    """However often `model.train()` is called: nothing that is imported is called so."""
    texts = {"train.py": SCRIPT} | {f"fit{number}.py": OF_OBJECTS.format(number) for number in range(70)}
    sources = {path: Source(path, text) for path, text in texts.items()}
    project = Project({path: collect(source) for path, source in sources.items()}, Targets(), sources.__getitem__)
    (start,) = project.main_code.starts(project.index.modules["train.py"])
    assert start.surely


BOXES = {
    "box.py": "class Box:\n    def __init__(self, value):\n        self.value = value\n",
    "one.py": "from box import Box\n\nbox = Box(1)\nbox.value = 2\n",
    "other.py": "def change(question, found):\n    question.value = found\n",
}


def test_who_sets_an_attribute_is_asked_in_the_programs_of_its_class_only(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {name: Source.from_bytes(name, text.encode()) for name, text in BOXES.items()}
    made = Project({name: collect(source) for name, source in sources.items()}, Targets(), sources.__getitem__)
    asked = set()

    def values(expr: Expr, env: Env) -> Values:
        asked.add(env.module.path)
        return usual(expr, env)

    usual = made.evaluator.values
    monkeypatch.setattr(made.evaluator, "values", values)
    box = made.evaluator.klass(made.index.modules["box.py"], 0)
    ((_, _, module),) = made.evaluator.attributes.outside_writes(box, "value")
    assert module.path == "one.py"
    assert "one.py" in asked and "other.py" not in asked
