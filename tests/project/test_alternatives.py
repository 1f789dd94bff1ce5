"""Where something is one of several, each of them counts: which of them the code names first decides nothing."""

from __future__ import annotations

import pytest

from dllint.finding import Finding
from tests.order import Files, rules

CONTEXT = """\
from multiprocessing import get_context
from torch.utils.data import DataLoader


def make(rows, safe):
    context = get_context("{}" if safe else "{}")
    return DataLoader(rows, num_workers=2, collate_fn=lambda rows: rows, multiprocessing_context=context)
"""
PATTERN = """\
import glob
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, folder, deep):
        pattern = "{}" if deep else "{}"
        self.paths = list(glob.glob(folder + pattern, recursive=True))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.paths[index]


def make(folder, deep):
    return DataLoader(Pictures(folder, deep), num_workers=2)
"""
OBJECT = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Plain:
    def step(self):
        return self.run()

    def run(self):
        return 1


class Moves(Plain):
    def run(self):
        return torch.zeros(3).cuda()


class Rows(Dataset):
    def __init__(self, fast):
        self.steps = {}() if fast else {}()

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return Plain.step(self.steps)


def make(fast):
    return DataLoader(Rows(fast), num_workers=2)
"""


def found(text: str) -> list[Finding]:
    project = Files(texts={"a.py": text}).project()
    return [finding for rule in rules() for finding in rule().check(project)]


@pytest.mark.parametrize(
    ("program", "one", "other", "code"),
    [
        (CONTEXT, "fork", "spawn", "DLL103"),
        (PATTERN, "/*.png", "/**/*.png", "DLL201"),
        (OBJECT, "Plain", "Moves", "DLL302"),
    ],
    ids=["context", "pattern", "object"],
)
def test_the_order_of_alternatives_decides_nothing(program: str, one: str, other: str, code: str) -> None:
    told = [
        {(finding.code, finding.message, finding.certainty, finding.severity) for finding in found(text)}
        for text in (program.format(one, other), program.format(other, one))
    ]
    assert told[0] == told[1]
    assert {line[0] for line in told[0]} == {code}
