"""Memory of a dataset's file names before and after the fix of DLL201: `python -m bench.memory > bench/MEMORY.md`.

A small program keeps file names in the way that DLL201 reports, `dllint check --fix --unsafe-fixes` rewrites a copy of
it, and both are run under each start method. Each worker reads every name once; then the proportional set sizes (PSS,
shared pages divided among those that share them) of the main process and all workers are added up. Needs Linux, torch.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MB = 1_000_000
LIMIT_S = 900

DATA = '''"""Pictures, known by their names."""

import glob
import os

from torch.utils.data import Dataset


class Pictures(Dataset):
    def __init__(self, root):
        self.files = sorted(glob.glob(os.path.join(root, "*", "*.jpg")))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return len(self.files[index])
'''

NOTHING = '''"""The same without names."""

import os

from torch.utils.data import Dataset


class Pictures(Dataset):
    def __init__(self, root):
        self.size = int(os.environ["NAMES"])

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return index % 100
'''

TRAIN = '''"""Lets four workers read every name, then prints the kB of each process: {"main": 9, "workers": [9]}."""

import json
import multiprocessing
import os
import sys

from torch.utils.data import DataLoader

from data import Pictures

WORKERS = 4
BLOCK = 10_000


def pss(pid):
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


if __name__ == "__main__":
    pictures = Pictures("/datasets/pictures/train")
    blocks = [range(start, min(start + BLOCK, len(pictures))) for start in range(0, len(pictures), BLOCK)]
    loader = DataLoader(
        pictures,
        num_workers=4,
        batch_sampler=[block for block in blocks for _ in range(WORKERS)],  # batches go to the workers in turn
        multiprocessing_context=sys.argv[1],
        persistent_workers=True,
    )
    read = sum(len(batch) for batch in loader)
    assert read == WORKERS * len(pictures) > 0, read
    workers = multiprocessing.active_children()
    assert len(workers) == WORKERS, workers
    print(json.dumps({"main": pss(os.getpid()), "workers": [pss(worker.pid) for worker in workers]}))
'''

GLOB = '''"""Stands in for the standard module, so that nobody has to create millions of files."""

import importlib.util
import os
import sysconfig

_spec = importlib.util.spec_from_file_location("_glob", os.path.join(sysconfig.get_path("stdlib"), "glob.py"))
_real = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_real)
globals().update({name: value for name, value in vars(_real).items() if not name.startswith("__")})


def glob(pathname, **options):
    if not pathname.endswith("*.jpg"):
        return _real.glob(pathname, **options)
    root = pathname.removesuffix("*/*.jpg")
    count = int(os.environ["NAMES"])
    return [f"{root}n{i % 21841:08d}/n{i % 21841:08d}_{i:09d}_{i * 2654435761 % 2**32:08x}.jpg" for i in range(count)]
'''


EXPLANATION = """\
PSS in MB of the main process and 4 workers, after each worker has read every name once. `python -m bench.memory` writes
this page; [the memory rules](../rules/dllint_rules/memory/README.md) explain the theory.
"""


class Usage(NamedTuple):
    """PSS in MB."""

    main: float
    workers: float

    @property
    def total(self) -> float:
        return self.main + self.workers


def fixed(data: str) -> str:
    """The dataset's source after dllint's own fix."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("data.py", data), ("train.py", TRAIN), ("requirements.txt", "numpy>=2\n")):
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "dllint", "check", "--isolated", "--select", "DLL201"]
        done = subprocess.run([*command, "--fix", "--unsafe-fixes", folder], cwd=ROOT, capture_output=True, text=True)
        result = Path(folder, "data.py").read_text(encoding="utf-8")
    if done.returncode or result == data:
        sys.exit(f"dllint did not fix the program (exit status {done.returncode}):\n{done.stdout}{done.stderr}")
    return result


def run(data: str, method: str, names: int) -> Usage:
    """What the program takes under a start method, once every worker has read every name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("data.py", data), ("train.py", TRAIN), ("glob.py", GLOB)):
            Path(folder, name).write_text(text, encoding="utf-8")
        env = {**os.environ, "NAMES": str(names), "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "train.py", method]
        printed = subprocess.check_output(command, cwd=folder, env=env, text=True, timeout=LIMIT_S)
    usage = json.loads(printed)
    return Usage(usage["main"] * 1024 / MB, sum(usage["workers"]) * 1024 / MB)


def machine() -> str:
    """What the figures were measured on."""
    ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy"))
    system = f"{platform.system()} {platform.release().split('-')[0]}, {os.cpu_count()} cores, {ram:.0f} GiB"
    return f"Python {platform.python_version()}, {versions}; {system}; {date.today()}."


def table(methods: list[str], rows: Iterable[tuple[str, list[Usage]]]) -> Iterator[str]:
    """Markdown, a row as soon as it is known."""
    yield "| the dataset keeps | " + " | ".join(f"{m}: total | main | workers" for m in methods) + " |"
    yield "|---" * (1 + 3 * len(methods)) + "|"
    for name, usages in rows:
        cells = (f"**{usage.total:.0f}** | {usage.main:.0f} | {usage.workers:.0f}" for usage in usages)
        yield f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=2_000_000)
    parser.add_argument("--methods", nargs="+", default=["fork", "spawn"], choices=["fork", "spawn", "forkserver"])
    args = parser.parse_args()
    if sys.platform != "linux":
        sys.exit("bench.memory reads /proc/<pid>/smaps_rollup, which only Linux has")
    after = fixed(DATA)
    programs = [("nothing", NOTHING), ("a list, as written", DATA), ("what `--fix --unsafe-fixes` made of it", after)]
    rows = ((name, [run(data, method, args.names) for method in args.methods]) for name, data in programs)
    print(f"# What {args.names:,} file names cost\n")
    print(EXPLANATION)
    print(machine(), end="\n\n")
    for line in table(args.methods, rows):
        print(line, flush=True)
    kept = [next(line.strip() for line in text.splitlines() if "self.files = " in line) for text in (DATA, after)]
    print("\nAs written, and as fixed:\n\n```py\n" + "\n".join(kept) + "\n```")


if __name__ == "__main__":
    main()
