"""What messages say: the platform, the consequence and the remedy are those of the code that they are about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.notebooks import notebook
from tests.test_cli import check, folder

__all__ = ["folder"]

IMPORTS = """\
import itertools
import multiprocessing
import threading
from collections import defaultdict

import lmdb
from torch.utils.data import DataLoader, Dataset

"""
DATASET = """\
class Rows(Dataset):
    def __init__(self, path):
        self.kept = {kept}

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return next(self.kept), self.kept.begin()


if __name__ == "__main__":
    list(DataLoader(Rows("rows"), num_workers=2))
"""
SPAWNED = "macOS, Windows and Python 3.14+"


def told(*args: str) -> list[str]:
    """The messages."""
    return [row["message"] for row in json.loads(check("--output-format", "json", *args).stdout)]


@pytest.mark.parametrize(
    ("kept", "remedy"),
    [
        ("open(path)", "open it in the worker, on first use"),
        ("(line for line in path)", "make it in the worker, on first use"),
        ("threading.Thread(target=print)", "make it in the worker, on first use"),
        ("itertools", "import it in the worker, on first use"),
    ],
)
def test_nobody_opens_a_thread(folder: Path, kept: str, remedy: str) -> None:
    (folder / "train.py").write_text(IMPORTS + DATASET.format(kept=kept))
    (message,) = told("--select", "DLL106")
    assert message.endswith(f"; {remedy}")


def test_the_remedy_of_a_notebook_is_no_cell(folder: Path) -> None:
    lambdas = "rows = DataLoader([1], num_workers=2, collate_fn=lambda batch: batch)\nnext(iter(rows))\n"
    for cells in ((IMPORTS, DATASET.format(kept="lambda row: row")), (IMPORTS, lambdas)):
        (folder / "a.ipynb").write_text(notebook(*cells))
        messages = told("--select", "DLL102,DLL103")
        assert [message.rpartition("; ")[2] for message in messages] == ["use a function of a module that is imported"]
    (folder / "a.ipynb").write_text(notebook(IMPORTS, DATASET.format(kept="defaultdict(lambda: 0)")))
    (message,) = told("--select", "DLL101")
    assert message.endswith("; use a class such as `int` or a function of a module that is imported")


def test_a_pool_of_a_notebook_hangs_and_a_process_fails(folder: Path) -> None:
    square = "def square(number):\n    return number\n"
    pool = "with multiprocessing.Pool(2) as pool:\n    print(list(pool.imap(square, [1])))\n"
    (folder / "a.ipynb").write_text(notebook(IMPORTS, square, pool))
    (row,) = json.loads(check("--select", "DLL107", "--output-format", "json").stdout)
    assert f": hangs on {SPAWNED}; define it in a module and import it" in row["message"]
    assert row["outcomes"] == {"fork": "ok", "forkserver": "hang", "spawn": "hang"}
    process = "multiprocessing.Process(target=square, args=(1,)).start()\n"
    (folder / "a.ipynb").write_text(notebook(IMPORTS, square, process))
    assert f": fails on {SPAWNED}; " in told("--select", "DLL107")[0]


@pytest.mark.parametrize(
    ("code", "partial"),
    [
        ("(x):\n        return x", False),
        ("(x):\n        return x + n", True),
        ("(x, n=n):\n        return x + n", True),
    ],
)
def test_a_local_function_needs_a_partial_for_what_it_captures(folder: Path, code: str, partial: bool) -> None:
    main = "if __name__ == '__main__':\n    main(1)\n"
    for code_of, uses in (
        ("DLL104", "list(DataLoader([1], collate_fn=inner, num_workers=2))"),
        ("DLL107", "multiprocessing.Pool(2).map(inner, [1])"),
    ):
        (folder / "train.py").write_text(f"{IMPORTS}def main(n):\n    def inner{code}\n    {uses}\n{main}")
        (line,) = told("--select", code_of)
        remedy = "; move it to module level, with `functools.partial` for what it captures"
        assert line.endswith(remedy if partial else "; move it to module level")


@pytest.mark.parametrize(
    ("start", "does", "outcome"),
    [
        ("multiprocessing.get_context('spawn').Pool(2)", "hangs", "hang"),
        ("multiprocessing.get_context('spawn').Manager()", "fails", "exception"),
        ("multiprocessing.get_context('spawn').Process(target=print).start()", "fails", "exception"),
        ("list(DataLoader([1], num_workers=2, multiprocessing_context='spawn'))", "fails", "exception"),
    ],
)
def test_a_start_method_that_the_code_names_is_that_of_every_platform(
    folder: Path, start: str, does: str, outcome: str
) -> None:
    (folder / "train.py").write_text(f"{IMPORTS}{start}\n")
    done = check("--select", "DLL301", "--output-format", "json")
    (row,) = json.loads(done.stdout)
    assert f": {does} with start method spawn; " in row["message"]
    assert row["outcomes"] == {"spawn": outcome}
    assert "would vanish" not in done.stderr
    (folder / "train.py").write_text(f"{IMPORTS}multiprocessing.Pool(2)\n")
    assert f": hangs on {SPAWNED}; " in told("--select", "DLL301")[0]
    assert "1 would vanish" in check("--select", "DLL301").stderr


@pytest.mark.parametrize(
    ("options", "number"), [("", 1), (", readonly=True", 1), (", readonly=True, lock=False", 0), (", lock=False", 0)]
)
def test_an_environment_without_locks_is_shared_by_forked_workers(folder: Path, options: str, number: int) -> None:
    """As the table of the rule's page says, which was measured: a reader without locks needs no slot."""
    (folder / "train.py").write_text(IMPORTS + DATASET.format(kept=f"lmdb.open(path{options})"))
    forked = ("--select", "DLL106", "--target-platforms", "linux", "--target-python", "<3.14")
    assert len(told(*forked)) == number
    (row,) = json.loads(check("--select", "DLL106", "--output-format", "json").stdout)
    assert ("fork" in row["outcomes"] and row["outcomes"]["fork"] == "exception") == bool(number)


def test_what_is_kept_of_an_array_is_copied(folder: Path) -> None:
    loop = "kept = []\nfor batch in DataLoader([1], num_workers=2):\n    kept.append(batch{})\n"
    for part, remedy in ((".numpy()", "`.copy()`"), ("[0].view(-1)", "`.clone()`")):
        (folder / "train.py").write_text(IMPORTS + loop.format(part))
        assert told("--select", "DLL207")[0].endswith(f"; keep a {remedy} of it")


def test_a_dataset_that_no_loader_is_seen_to_take(folder: Path) -> None:
    text = DATASET.format(kept="lambda row: row").replace('Rows("rows")', "given(Rows)")
    (folder / "train.py").write_text(f"{IMPORTS}{text}")
    (row,) = json.loads(check("--select", "DLL102", "--output-format", "json").stdout)
    assert f": fails on {SPAWNED} in a loader with workers; " in row["message"]
    assert row["related"][-1]["message"] == "no loader was seen to take `Rows`; one with workers meets this"


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (
            "HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()[0]",
            ", with `dataloader_num_workers` above 0",
        ),
        ('TrainingArguments("out", dataloader_num_workers=2)', ""),
    ],
)
def test_the_route_names_the_option_that_nothing_sets(folder: Path, made: str, asked: str) -> None:
    (folder / "train.py").write_text(
        "from transformers import HfArgumentParser, Trainer, TrainingArguments\n\n"
        'if __name__ == "__main__":\n'
        f"    arguments = {made}\n"
        "    Trainer(None, arguments, data_collator=lambda rows: rows, train_dataset=[1]).train()\n"
    )
    assert f"`Trainer(...)` starts the workers here{asked} (" in check("--output-format", "full").stdout
