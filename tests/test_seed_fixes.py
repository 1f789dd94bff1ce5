"""DLL606's fix: torch's seed in place of the worker's number, in what is said of it too, by the file's own import."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from dllint_rules.correctness.dll606_worker_seed_repeats import WorkerSeedRepeats

from dllint import Project
from dllint.collect import collect
from dllint.fix import apply
from dllint.project import Targets
from dllint.source import Source
from dllint.syntax.parse import parse
from dllint.syntax.write import place_imports

CODE = """\
import functools
import os
import random
{imports}
from torch.utils.data import DataLoader, Dataset


class Dice(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        return random.random()


def start(worker_id, count, rank, seed):
    {said}
    number = {seed}
    random.seed(number)
    {more}


DataLoader(Dice(), num_workers=2, shuffle=True, worker_init_fn=functools.partial(start, count=2, rank=0, seed=1))
"""


def fixed(seed: str, said: str = "", imports: str = "import torch", more: str = "", width: int = 0) -> str:
    source = Source("a.py", CODE.format(seed=seed, said=said, imports=imports, more=more))
    source.width = width
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    (finding,) = WorkerSeedRepeats().check(project)
    fix = WorkerSeedRepeats().fix(finding, project)
    assert fix is not None
    return apply(source.text, [*fix.edits, *place_imports(source, parse(source), fix.imports)])


WORKERS = "torch.utils.data.get_worker_info().num_workers"


@pytest.mark.parametrize(
    ("seed", "after"),
    [
        ("worker_id", "torch.initial_seed() % 2**32"),
        ("worker_id + 7", "torch.initial_seed() % 2**32"),
        ("count * rank + worker_id + seed", "(count * rank + torch.initial_seed() + seed) % 2**32"),
        ("seed + count * rank + worker_id", "(seed + count * rank + torch.initial_seed()) % 2**32"),
        ("worker_id + seed", "(torch.initial_seed() + seed) % 2**32"),
        ("seed", "(seed + torch.initial_seed()) % 2**32"),
        ("rank * 1000 + seed", "(rank * 1000 + seed + torch.initial_seed()) % 2**32"),
        ("rank + seed", f"({WORKERS} * rank + seed + torch.initial_seed()) % 2**32"),
        ("seed + worker_id + rank", f"(seed + torch.initial_seed() + {WORKERS} * rank) % 2**32"),
        (
            "seed + int(os.environ['RANK'])",
            f"(seed + {WORKERS} * int(os.environ['RANK']) + torch.initial_seed()) % 2**32",
        ),
        (
            "seed + torch.distributed.get_rank()",
            f"(seed + {WORKERS} * torch.distributed.get_rank() + torch.initial_seed()) % 2**32",
        ),
    ],
)
def test_torch_knows_the_number_of_the_worker(seed: str, after: str) -> None:
    assert f"    number = {after}\n" in fixed(seed)


def test_what_is_said_of_the_seed_stays_true() -> None:
    seed, after = "rank + worker_id + seed", "num_workers * rank + torch.initial_seed() + seed"
    assert f"    # The seed is {after}\n" in fixed(seed, f"# The seed is {seed}")
    said = '"""Seed a worker: {}.\n\n    worker_id: its number\n    """'
    assert said.format(after) in fixed(seed, said.format(seed))
    wrapped = "num_workers * rank +\n    # torch.initial_seed() + seed"
    assert f"    # The seed is {wrapped}\n" in fixed(seed, f"# The seed is {seed}", width=48)
    several = "count * rank + {} + seed"
    said = f"# {several}".format("worker_id")
    assert f"    # {several}\n".format("torch.initial_seed()") in fixed(several.format("worker_id"), said)


@pytest.mark.parametrize("seed", ["rank + seed", "seed + worker_id + rank", "count * rank + worker_id + seed"])
def test_workers_of_all_ranks_have_seeds_of_their_own(seed: str) -> None:
    (number,) = re.findall("number = (.*)", fixed(seed))
    seeds = [
        eval(number, {"rank": rank, "seed": 1, "count": 3, "torch": Torch(2**40 + worker)})
        for rank in range(4)
        for worker in range(3)
    ]
    assert len(set(seeds)) == 12


class Torch:
    """What torch says in a worker that is one of three."""

    def __init__(self, seed: int) -> None:
        self.initial_seed = lambda: seed
        self.utils = SimpleNamespace(data=SimpleNamespace(get_worker_info=lambda: SimpleNamespace(num_workers=3)))


@pytest.mark.parametrize("imports", ["import torch", "import torch\nimport torch.nn", "import torch.nn"])
def test_the_import_of_the_file_will_do(imports: str) -> None:
    assert (
        fixed("worker_id", imports=imports).count("torch") == CODE.format(imports=imports, **EMPTY).count("torch") + 1
    )
    below = fixed("worker_id", imports="", more=f"\n\n{imports}\n")
    assert "import initial_seed" not in below
    assert "number = torch.initial_seed() % 2**32\n" in below


EMPTY = {"said": "", "seed": "", "more": ""}


def test_an_import_of_another_name_is_added() -> None:
    assert "from torch import initial_seed as _initial_seed\n" in fixed("worker_id", imports="", more="torch = 1")


LATE = """\
import os


def start(worker_id):
    import numpy as np
    np.random.seed(worker_id)


def main():
    os.environ["CUDA_VISIBLE_DEVICES"] = "1"
    import numpy as np
    from torch.utils.data import DataLoader, Dataset

    class Dice(Dataset):
        def __len__(self):
            return 60

        def __getitem__(self, index):
            return np.random.random()

    for _ in DataLoader(Dice(), num_workers=2, shuffle=True, worker_init_fn=start):
        pass
"""


def test_a_file_that_imports_torch_late_imports_it_in_the_worker() -> None:
    source = Source("a.py", LATE)
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    (finding,) = WorkerSeedRepeats().check(project)
    fix = WorkerSeedRepeats().fix(finding, project)
    assert fix is not None
    assert not fix.imports
    after = "    import numpy as np\n    import torch\n    np.random.seed(torch.initial_seed() % 2**32)\n"
    assert after in apply(source.text, fix.edits)


_FIXED = """\
import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


def seed_all(_):
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)


class Dice(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        {in_worker}
        return random.random() + np.random.random()


if __name__ == "__main__":
    {in_main}
    DataLoader(Dice(), num_workers=2, shuffle=True, worker_init_fn=seed_all)
"""
_OWN = """\
def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)
    random.seed(torch.initial_seed() % 2**32)"""


@pytest.mark.parametrize(
    ("in_main", "in_worker", "own"), [("seed_all(0)", "", _OWN), ("", "", ""), ("", "index or seed_all(0)", "")]
)
def test_what_also_seeds_the_main_process_stays(in_main: str, in_worker: str, own: str) -> None:
    source = Source("a.py", _FIXED.format(in_main=in_main, in_worker=in_worker))
    project = Project({"a.py": collect(source)}, Targets(), lambda path: source)
    (finding,) = WorkerSeedRepeats().check(project)
    fix = WorkerSeedRepeats().fix(finding, project)
    assert fix is not None
    assert fix.snippet == own
    assert bool(fix.edits) is not bool(own)
    assert ("`seed_all` also seeds where a.py:24:5 calls it" in fix.title) is bool(own)
