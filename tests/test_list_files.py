"""Lists in files of the project: what is counted, and that findings follow when a list changes."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from dllint.config import Configs
from dllint.editor.workbench import Workbench
from dllint.engine import Request, Result, check
from dllint.files import Lists
from dllint.finding import Severity
from tests.test_cache import settle

__all__ = ["settle"]

SOURCE = """
from torch.utils.data import DataLoader, Dataset


class Names(Dataset):
    def __init__(self):
        with open("lists/train.txt") as file:
            self.names = [line.strip() for line in file]

    def __getitem__(self, index):
        return self.names[index]


def main():
    for batch in DataLoader(Names(), num_workers=4):
        print(batch)


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SOURCE)
    (tmp_path / "dllint.toml").write_text("")
    listed(tmp_path, 20)
    return tmp_path


def listed(project: Path, number: int) -> None:
    (project / "lists").mkdir(exist_ok=True)
    (project / "lists/train.txt").write_text("".join(f"images/{index:06}.jpg\n" for index in range(number)))


def severities(result: Result) -> list[Severity]:
    return [finding.severity for finding, _ in result.findings]


def lists(project: Path) -> Lists:
    return Lists(Configs((str(project),)))


@pytest.mark.usefixtures("settle")
def test_a_verdict_holds_while_its_lists_are_as_long(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    request = Request(paths=(str(project),), in_full=True, cache=True, cache_dir=str(tmp_path_factory.mktemp("cache")))
    assert severities(check(request)) == severities(check(request)) == [Severity.INFO]
    listed(project, 100_000)
    assert severities(check(request)) == [Severity.WARNING]
    (project / "lists/train.txt").unlink()
    assert severities(check(request)) == [Severity.WARNING]
    listed(project, 20)
    assert severities(check(request)) == [Severity.INFO]


def test_an_editor_sees_that_a_list_has_grown(project: Path) -> None:
    bench = Workbench(Request(paths=(str(project),), in_full=True))
    assert [finding.severity for finding in bench.view().findings] == [Severity.INFO]
    listed(project, 100_000)
    assert [finding.severity for finding in bench.view().findings] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("a.txt", "x\n" * 12, 12),
        ("a.csv", "x,y\n" * 12, 12),
        ("a.json", json.dumps({"info": {}, "images": [1] * 30}), 30),
        ("a.json", "[1, 2", None),
        ("a.json", "[" * 100_000, None),
        ("a.txt", "version https://git-lfs.github.com/spec/v1\n" * 20, None),
        ("a.txt", "x\n" * 3, None),
        ("a.pkl", "x\n" * 12, None),
        ("a.txt", "x" * (6 << 20), None),
    ],
)
def test_what_is_counted(tmp_path: Path, name: str, text: str, number: int | None) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_text(text)
    count = lists(tmp_path).longest(f"data/{name}")
    assert (count and count[1]) == number


@pytest.mark.parametrize(
    ("name", "data", "number"),
    [
        ("a.txt.gz", gzip.compress(b"x\n" * 12, mtime=0), 12),
        ("a.json.gz", gzip.compress(b"[%b1]" % (b"1," * 29), mtime=0), 30),
        ("a.txt.gz", gzip.compress(b"x\n" * (6 << 20), mtime=0), None),
        ("a.txt.gz", gzip.compress(b"x\n" * 12, mtime=0)[:-9], None),
        ("a.txt.gz", b"x\n" * 12, None),
        ("a.gz", gzip.compress(b"x\n" * 12, mtime=0), None),
    ],
)
def test_what_is_counted_packed(tmp_path: Path, name: str, data: bytes, number: int | None) -> None:
    (tmp_path / name).write_bytes(data)
    count = lists(tmp_path).longest(name)
    assert (count and count[1]) == number


def test_nothing_outside_of_the_project_is_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
        (folder / "a.txt").write_text("x\n" * 12)
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("ignored.txt\n")
    (root / "ignored.txt").write_text("x\n" * 12)
    (root / "folder").symlink_to(outside)
    (root / "file.txt").symlink_to(outside / "a.txt")
    found = lists(root)
    assert found.longest("a.txt") is not None
    for pattern in (
        *("../outside/a.txt", "./../outside/a.txt", str(outside / "a.txt"), "folder/a.txt", "folder/*a.txt"),
        *("x" + "*x" * 200 + ".txt", "x" + "*" * 5_000 + "y.txt"),
        *("file.txt", "ignored.txt", "missing.txt", "*/a.txt", "", "a.txt/a.txt", "a\0.txt"),
    ):
        assert found.longest(pattern) is None, pattern


def test_files_of_arguments_name_lists(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for folder in ("tool", "lists", "../outside"):
        (root / folder).mkdir(parents=True)
    for name, number in (("lists/long.txt", 30), ("lists/short.txt", 12), ("../outside/a.txt", 12)):
        (root / name).write_text("x\n" * number)
    (root / "tool/all.txt").write_text("--workers 4\n--train-list\n../lists/short.txt\n--val_list=../lists/short.txt\n")
    (root / "tool/more.txt").write_text("--train_list ../lists/long.txt --far ../../outside/a.txt --no no.txt\n")
    (root / "tool/notes.txt").write_text("Use --val_list ../lists/long.txt for this\n")
    found = lists(root)
    assert found.longest("tool/{train_list}") == ("lists/long.txt", 30, 60)
    assert found.longest("tool/{val_list}") == ("lists/short.txt", 12, 24)
    for pattern in ("tool/{far}", "tool/{no}", "tool/{workers}", "lists/{val_list}", "./{val_list}", "{val_list}"):
        assert found.longest(pattern) is None, pattern


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_no_pipe_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    os.mkfifo(tmp_path / "data" / "a.txt")
    assert lists(tmp_path).longest("data/a.txt") is None
    assert lists(tmp_path).longest("data/*a.txt") is None


PROGRAM = """
import argparse

from names import Names
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
parser.add_argument("--listing", required=True)

if __name__ == "__main__":
    for batch in DataLoader(Names(parser.parse_args()), num_workers=4):
        print(batch)
"""
NAMES = """
from torch.utils.data import Dataset


class Names(Dataset):
    def __init__(self, args):
        with open(args.listing) as file:
            self.names = file.readlines()

    def __getitem__(self, index):
        return self.names[index]
"""


def test_a_list_that_files_of_arguments_name(project: Path) -> None:
    (project / "tool").mkdir()
    (project / "train.py").unlink()
    (project / "tool/train.py").write_text(PROGRAM)
    (project / "tool/names.py").write_text(NAMES)
    request = Request(paths=(str(project),), in_full=True)
    assert severities(check(request)) == [Severity.WARNING]
    (project / "tool/first.txt").write_text("--listing ../lists/train.txt\n")
    assert severities(check(request)) == [Severity.INFO]
    (project / "tool/second.txt").write_text("--listing ../lists/elsewhere.txt\n")
    assert severities(check(request)) == [Severity.WARNING]
    (project / "tool/second.txt").unlink()
    (project / "tool/train.py").write_text(PROGRAM.replace('fromfile_prefix_chars="@"', ""))
    assert severities(check(request)) == [Severity.WARNING]
