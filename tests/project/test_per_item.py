"""What changes with the item, where the call that leads to some code was forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from dllint.model.facts import Expr
from dllint.project.data.per_item import PerItem
from dllint.project.evaluate import Answer
from tests.project.facts import project_of

PROGRAM = """\
from torch.utils.data import Dataset


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.first = self.of_all(0)

    def __getitem__(self, index):
        return self.prepared(index), self.of_all(1)

    def prepared(self, index):
        return self.one(index % len(self.rows))

    def one(self, number):
        return self.rows[number]

    def of_all(self, place):
        return self.rows[place]
"""


@pytest.mark.parametrize(("name", "expected"), [("one", Answer.YES), ("of_all", Answer.UNKNOWN)])
def test_a_parameter_changes_if_a_call_passes_what_does(name: str, expected: Answer, tmp_path: Path) -> None:
    (tmp_path / "rows.py").write_text(PROGRAM, encoding="utf-8")
    project = project_of(tmp_path)
    module = project.index.modules["rows.py"]
    function = next(item.index for item in module.model.functions if item.name == name)
    env = project.evaluator.generic(module, function)
    parts = [part for event in module.events(function) for part in event.walk()]
    index: Expr = next(part.args[1] for part in parts if part.kind == "subscript")
    assert project.analysis(PerItem).varies(index, env) is expected
