"""A list of which code asks what is in it is not packed: each such question would unpack all of it."""

from __future__ import annotations

import pytest
from dllint_rules.memory.dll202_python_container_on_dataset import PythonContainerOnDataset

from dllint import Applicability
from dllint.collect import collect
from dllint.project import Project, Targets
from dllint.source import Source

PROGRAM = """\
import json

from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.rows = [json.loads(line) for line in open(path)]
        {init}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]

    def uses(self, row):
        {use}


def main(path):
    return DataLoader(Rows(path), num_workers=4)
"""


@pytest.mark.parametrize(
    ("init", "use", "manual"),
    [
        ("pass", "return row in self.rows", True),
        ("pass", "return (row)in self.rows", True),
        ("pass", "return row not in self.rows", True),
        ("print({} in self.rows)", "return len(self.rows)", False),
        ("pass", "return [one for one in self.rows]", False),
        ("pass", "return sorted(self.rows, key=str)", False),
    ],
)
def test_what_is_searched(init: str, use: str, manual: bool) -> None:
    source = Source("data.py", PROGRAM.replace("{init}", init).replace("{use}", use))
    project = Project({"data.py": collect(source)}, Targets(), lambda _: source)
    (finding,) = PythonContainerOnDataset().check(project)
    fix = PythonContainerOnDataset().fix(finding, project)
    assert fix is not None
    assert (fix.applicability is Applicability.MANUAL) is manual
    assert ("would unpack all of it each time: `" in fix.title) is manual
