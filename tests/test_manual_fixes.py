"""Remedies that are shown and not applied: whole pieces of code, with the program's own names."""

from __future__ import annotations

import pytest

from dllint import Applicability, Fix, Project, registry
from dllint.collect import collect
from dllint.project import Targets
from dllint.source import Source

HEAD = """\
import csv
import torch
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __init__(self, path):
        {init}
    def __len__(self):
        return 4
    def __getitem__(self, index):
        {item}

DataLoader(Data("."), num_workers=2)
"""


def fix_of(code: str, init: str, item: str) -> Fix | None:
    source = Source("a.py", HEAD.format(init=init.replace("\n", "\n        "), item=item))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    rule = next(rule() for rule in registry.rules() if rule.code == code)
    (finding,) = rule.check(project)
    return rule.fix(finding, project)


@pytest.mark.parametrize(
    ("code", "init", "item", "words"),
    [
        (
            "DLL202",
            "self.rows = [dict(row) for row in csv.reader(open(path))]",
            "return self.rows[index]['a']",
            ["self.rows = Serialized(self.rows)"],
        ),
        (
            "DLL110",
            "self.noise = torch.Generator()",
            "return torch.rand(1, generator=self.noise)",
            [
                "self._noise = self._noise_pid = None",
                "def noise(self):",
                "self._noise = torch.Generator().manual_seed(torch.initial_seed())",
                'return {**self.__dict__, "_noise": None, "_noise_pid": None}',
            ],
        ),
    ],
)
def test_what_to_paste(code: str, init: str, item: str, words: list[str]) -> None:
    fix = fix_of(code, init, item)
    assert fix is not None
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    compile(fix.snippet, "a.py", "exec")
    for word in words:
        assert word in fix.snippet
