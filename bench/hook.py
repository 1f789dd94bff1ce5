"""What a hook costs that checks one changed file of a project, everything else being known, beside an import."""

from __future__ import annotations

import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

from bench.timing import DLLINT, Cost, measured

PLAIN = "def greeting(name):\n    return f'Hello {name}'\n"
HAZARD = """\
from torch.utils.data import DataLoader

if __name__ == "__main__":
    loader = DataLoader(list(range(9)), num_workers=2, collate_fn=lambda batch: batch)
    print(len(list(loader)))
"""
CASES = (("no loader knows it", "hook_plain.py", PLAIN, "click"), ("a hazard", "hook_hazard.py", HAZARD, "libcst"))


class Case(NamedTuple):
    """A file of a project of so many files, the cost of the hook, and that of an import in the same round."""

    files: int
    what: str
    module: str
    costs: list[tuple[Cost, Cost]]

    def row(self) -> str:
        """As a row of `HEAD`."""
        seconds = statistics.median(hook.cpu for hook, _ in self.costs)
        ratio = statistics.median(hook.cpu / base.cpu for hook, base in self.costs)
        return f"| {self.files:,} | {self.what} | {seconds:.3f} | {ratio:.2f} × `import {self.module}` |"


HEAD = "| files | the changed file | seconds of processors | as a multiple |\n|---:|---|---:|---:|"


def cases(folder: Path, cache: Path, rounds: int) -> list[Case]:
    """A file that no loader knows, and one with a hazard, each changed again and again in a project that is known."""
    shutil.rmtree(cache, ignore_errors=True)
    for _, name, text, _ in CASES:
        (folder / name).write_text(text, encoding="utf-8")
    time.sleep(0.2)  # younger files would not be believed
    measured([*DLLINT, "."], folder, cache)
    files = sum(1 for _ in folder.rglob("*.py"))
    found = [Case(files, what, module, []) for what, _, _, module in CASES]
    for number in range(rounds + 1):
        for case, (_, name, text, module) in zip(found, CASES, strict=True):
            (folder / name).write_text(f"{text}\n\nCHANGED = {number}\n", encoding="utf-8")
            hook = measured([*DLLINT, name], folder, cache)
            base = measured([sys.executable, "-c", f"import {module}"], folder, cache)
            if number:  # the first round writes bytecode
                case.costs.append((hook, base))
    for _, name, _, _ in CASES:
        (folder / name).unlink()
    return found
