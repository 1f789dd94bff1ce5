"""DLL602's fix: a generator that each process makes for itself, where no seed of its own and nobody else decides."""

from __future__ import annotations

import textwrap

import pytest
from dllint_rules.correctness.dll602_rng_on_dataset import RngOnDataset

from dllint import Applicability, Fix, Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

HEAD = """\
import random
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, seed):
{init}
    def __len__(self):
        return 8
    def __getitem__(self, index):
        return self.rng.random()
{more}
DataLoader(Noisy(0), num_workers=2)
"""


def fix_of(init: str, more: str = "") -> tuple[Source, Fix]:
    code = HEAD.format(init=textwrap.indent(init, " " * 8), more=textwrap.indent(more, "    "))
    source = Source("a.py", code)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    (finding,) = RngOnDataset().check(project)
    fix = RngOnDataset().fix(finding, project)
    assert fix is not None
    return source, fix


@pytest.mark.parametrize(
    ("made", "becomes"),
    [
        ("np.random.default_rng()", "np.random.default_rng(torch.initial_seed())"),
        ("np.random.RandomState()", "np.random.RandomState(torch.initial_seed() % 2**32)"),
        ("random.Random()", "random.Random(torch.initial_seed())"),
    ],
)
def test_the_seed_is_torchs(made: str, becomes: str) -> None:
    source, fix = fix_of(f"self.rng = {made}")
    assert fix.applicability is Applicability.UNSAFE
    result = apply(source.text, [*fix.edits, *place_imports(source, parse(source), fix.imports)])
    assert f"            self._rng = {becomes}\n" in result
    assert "import torch\n" in result
    assert "__getstate__" not in result


@pytest.mark.parametrize(
    ("init", "more", "reason"),
    [
        ("self.rng = np.random.default_rng(seed)", "", "seed that it is given"),
        ("self.rng = np.random.RandomState(seed=0)", "", "seed that it is given"),
        ("self.rng = random.Random()\nself.order = self.rng.random()", "", "drawn from before"),
        ("if chosen():\n    self.rng = random.Random()", "", "not made in every case"),
        ("self.rng = random.Random(  # text\n)", "", "comment"),
    ],
)
def test_what_stands_in_the_way_is_said(init: str, more: str, reason: str) -> None:
    _, fix = fix_of(init, more)
    assert (fix.applicability, fix.edits) == (Applicability.MANUAL, ())
    assert reason in fix.title
    compile(fix.snippet, "a.py", "exec")


@pytest.mark.parametrize(
    ("init", "more", "reason"),
    [
        ("self.seed(seed)", "def seed(self, number):\n    self.rng = random.Random(number)", "`seed` sets it"),
        ("self.rng = random.Random()", "def reset(self):\n    self.rng = None", "other code sets it"),
    ],
)
def test_what_a_method_sets_is_no_property(init: str, more: str, reason: str) -> None:
    _, fix = fix_of(init, more)
    assert (fix.applicability, fix.edits, fix.snippet) == (Applicability.MANUAL, (), "")
    assert reason in fix.title
