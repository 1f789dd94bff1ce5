"""Programs that use CUDA, before and after dllint's fixes: skipped where there is no GPU.

They were run with torch 2.11 (CUDA 13) and Python 3.12 on an NVIDIA H200.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from tests.on_gpu import needs_gpu, run

pytestmark = needs_gpu

FORKED = {"fork": "Cannot re-initialize CUDA in forked subprocess"}
SENT = {"spawn": "pickle", "forkserver": "pickle"}
WORKS: dict[str, str] = {}

START = """\
import threading

import torch
from torch.nn.utils.rnn import pack_sequence
from torch.utils.data import DataLoader, Dataset, random_split

device = torch.device("cuda")


class Items(Dataset):
    def __len__(self):
        return 8


"""

COLLATE = """
def collate(items):
    {}


if __name__ == "__main__":
    weight = torch.ones(1, device=device)
    for batch in DataLoader(range(8), batch_size=4, num_workers=2, collate_fn=collate):
        print({})
"""
ITEM = """
class Rows(Items):
    def __getitem__(self, index):
        row, label = torch.full((3,), float(index)), torch.tensor(index)
        {}


def main():
    weight = torch.ones(1, device=device)
    {}


if __name__ == "__main__":
    main()
"""
TEXT = """
class Lines(Dataset):
    def __init__(self, path):
        {}

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        {}


if __name__ == "__main__":
    with open("lines.txt", "w") as out:
        out.writelines(f"line {{number}} of {{number * number}}\\n" for number in range(8))
    weight = torch.ones(1, device=device)
    {}
    for batch in DataLoader(lines, batch_size=4, num_workers=2):
        print(batch)
"""
DEFAULT = 'torch.set_default_device("cuda"); lines = Lines("lines.txt")'
OF_TYPE = 'torch.set_default_tensor_type(torch.cuda.FloatTensor); lines = Lines("lines.txt")'
AROUND = 'with torch.device("cuda"): lines = Lines("lines.txt")'
NUMBERS = """self.rows = []
        for number, line in enumerate(open(path)):
            self.rows.append((number, len(line)))"""
TABLE = """self.table = {}
        for line in open(path):
            key, value = line.split(" of ")
            self.table[key] = value
        self.rows = sorted(self.table)"""
SPLITS = """first, second = random_split(Rows(), [4, 4])
    for row in DataLoader(first, batch_size=2, num_workers=2):
        print(row.device, row.shape)
    for row in DataLoader(second, batch_size=2, num_workers=2):
        print(row.device, row.shape)"""
TWO_LOOPS = """loader = DataLoader(Rows(), batch_size=4, num_workers=2)
    for rows, labels in loader:
        print(rows.device, labels.device, (rows.sum() * weight).item(), labels)
    for step, (rows, targets) in enumerate(loader):
        rows = rows.to(device)
        print(step, rows.sum().item(), (targets * weight).tolist())"""
PINNED = """for rows in DataLoader(Rows(), batch_size=4, num_workers=2, pin_memory=True):
        print(rows.device, rows.sum().item())"""
KEPT = """
class Rows(Items):
    def __init__(self):
        {}

    def __getitem__(self, index):
        {}


if __name__ == "__main__":
    model = torch.nn.Linear(1, 1).cuda()
    for batch in DataLoader(Rows(), batch_size=4, num_workers=2):
        print((batch.to(device) * 2).tolist())
"""
PINS = dict.fromkeys(("spawn", "forkserver"), "only dense CPU tensors can be pinned") | FORKED

PROGRAMS = {
    "collate": (COLLATE.format("return torch.tensor(items).cuda()", "batch.device, (batch * weight).tolist()"), FORKED),
    "packed sequence": (
        COLLATE.format(
            "return pack_sequence([torch.ones(9 - item) for item in items]).to(device)",
            "batch.data.device, batch.data.sum().item(), batch.batch_sizes.tolist()",
        ),
        FORKED,
    ),
    "two loops": (ITEM.format("row = row.to(device)\n        return row, label.to(device)", TWO_LOOPS), FORKED),
    "pinned": (ITEM.format("return row.cuda(non_blocking=True)", PINNED), PINS),
    "splits": (ITEM.format("return row.cuda()", SPLITS), FORKED),
    **{
        f"{name}, {where}": (TEXT.format(init, item, made), WORKS)
        for name, init, item in (
            ("rows of text", "self.rows = [line.split() for line in open(path)]", 'return "_".join(self.rows[index])'),
            ("rows of integers", NUMBERS, "first, second = self.rows[index]\n        return f'{first} {second}'"),
            ("a dictionary", TABLE, "return self.table[self.rows[index]]"),
        )
        for where, made in (("default device", DEFAULT), ("default type", OF_TYPE), ("in a context", AROUND))
    },
    "a lambda": (KEPT.format("self.double = lambda x: 2 * x", "return self.double(torch.tensor(index))"), SENT),
    "a lock": (
        KEPT.format("self.lock = threading.Lock()", "with self.lock:\n            return torch.tensor(index)"),
        SENT,
    ),
}


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_fixed_works(name: str, method: str, tmp_path: Path) -> None:
    code, fails = PROGRAMS[name]
    (tmp_path / "before").mkdir()
    before = run(tmp_path / "before", START + textwrap.dedent(code), method)
    says = fails.get(method, "")
    assert (bool(before.status), says in before.errors) == (bool(says), True), before.errors
    (tmp_path / "after").mkdir()
    file = tmp_path / "after" / "main.py"
    file.write_text((tmp_path / "before" / "main.py").read_text())
    CliRunner().invoke(cli, ["check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", str(file)])
    assert file.read_text() != (tmp_path / "before" / "main.py").read_text()
    after = run(tmp_path / "after", file.read_text(), method)
    assert after.status == 0, after.errors
    assert says or after.out == before.out
