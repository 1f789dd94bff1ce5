"""A number that files ask for makes no loader certain, and is told where the program itself asks for none."""

from __future__ import annotations

import pytest

from dllint import Certainty, Project, Workers
from dllint.collect import collect
from dllint.documents.demands import Demand, Passed
from dllint.project import Targets
from dllint.source import Source

PROGRAM = """\
import argparse
import sys
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default={default})
args = parser.parse_args()
loader = DataLoader([1, 2], num_workers={number})
"""
SAID = "`DataLoader(...)` starts the workers here"


class Asked:
    """Files of which one asks for workers."""

    def __init__(self, script: str) -> None:
        self.script = script

    def longest(self, pattern: str) -> None:
        return None

    def demands(self, names: str) -> tuple[Demand, ...]:
        return (Demand("run.sh", 3, 2, self.script),) if "--workers" in names.split() else ()

    def passed(self, names: str) -> tuple[Passed, ...]:
        return ()


@pytest.mark.parametrize(
    ("default", "number", "script", "workers", "certainty", "said"),
    [
        ("0", "args.workers", "train.py", Workers.SOME, Certainty.LIKELY, f"{SAID}: `run.sh:3` asks for 2"),
        ("0", "int(args.workers)", "./train.py", Workers.SOME, Certainty.LIKELY, f"{SAID}: `run.sh:3` asks for 2"),
        ("0", "args.workers", "test.py", Workers.NONE, Certainty.LIKELY, SAID),
        ("4", "args.workers", "train.py", Workers.SOME, Certainty.CERTAIN, SAID),
        ("0", "2 if sys.argv else args.workers", "train.py", Workers.SOME, Certainty.LIKELY, SAID),
        ("0", "vars(args).get('workers', 4)", "train.py", Workers.SOME, Certainty.CERTAIN, SAID),
    ],
)
def test_what_is_asked_for(
    default: str, number: str, script: str, workers: Workers, certainty: Certainty, said: str
) -> None:
    source = Source("train.py", PROGRAM.format(default=default, number=number))
    project = Project({"train.py": collect(source)}, Targets(), lambda _: source, lists=Asked(script))
    found = [(loader.workers, loader.certainty, loader.start.text) for loader in project.loaders]
    assert found == [(workers, certainty, said)]
