"""What files give to options: which files are asked, and that findings follow when they change."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from dllint.config import Configs
from dllint.editor.workbench import Workbench
from dllint.engine import Request, Result, check
from dllint.files import Lists, demanded
from tests.test_cache import settle

__all__ = ["settle"]

SOURCE = """
import argparse
import json

from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)


def main():
    args = parser.parse_args()
    for batch in DataLoader([1], num_workers=args.workers, collate_fn=lambda rows: rows):
        print(json.dumps(batch))


if __name__ == "__main__":
    main()
"""
NAMES = "--workers -j workers workers="


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SOURCE)
    (tmp_path / "dllint.toml").write_text("")
    return tmp_path


def codes(result: Result) -> list[str]:
    return [finding.code for finding, _ in result.findings]


def lists(project: Path, whole: bool = True) -> Lists:
    return Lists(Configs((str(project),)), whole)


def asked(path: Path, names: str = NAMES) -> list[tuple[str, int, int, str]]:
    return [tuple(demand)[:4] for demand in lists(path).demands(names)]


def test_keys_of_the_mappings_around_a_number_in_json(tmp_path: Path) -> None:
    text = '{"a": {"b": [{"workers": 1}], "c": {"workers": 2} /* "d": { */}, "workers": 3} // {"e": {"workers": 4}\n'
    (tmp_path / "settings.json").write_text(text)
    found = [(demand.number, demand.keys) for demand in lists(tmp_path).demands("workers")]
    assert found == [(1, ("b", "")), (2, ("a", "c")), (3, ())]


@pytest.mark.usefixtures("settle")
def test_a_verdict_holds_while_other_files_ask_for_the_same(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    request = Request(paths=(str(project),), cache=True, cache_dir=str(tmp_path_factory.mktemp("cache")))
    assert codes(check(request)) == codes(check(request)) == []
    (project / "conf").mkdir()
    settings = project / "conf/settings.json"
    settings.write_text('{"workers": 3}')
    assert codes(check(request)) == codes(check(request)) == ["DLL103"]
    settings.write_text('{"workers": 0}')
    assert codes(check(request)) == []
    (project / "run.sh").write_text("python train.py --workers 3\n")
    assert codes(check(request)) == ["DLL103"]
    (project / "run.sh").unlink()
    assert codes(check(request)) == []
    launcher = project / "launch.py"
    launcher.write_text('import os\nos.system("python train.py --workers 3")\n')
    assert codes(check(request)) == codes(check(request)) == ["DLL103"]
    launcher.write_text('import os\nos.system("python train.py --workers 0")\n')
    assert codes(check(request)) == []


def test_an_editor_sees_what_other_files_ask_for(project: Path) -> None:
    bench = Workbench(Request(paths=(str(project),)))
    assert not bench.view().findings
    (project / "settings.json").write_text('{"workers": 3}')
    assert [finding.code for finding in bench.view().findings] == ["DLL103"]
    (project / "settings.json").unlink()
    assert not bench.view().findings


def test_no_file_is_read_that_no_loader_depends_on(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> set[str]:
        raise AssertionError

    monkeypatch.setattr(demanded, "others", fail)
    (project / "train.py").write_text(SOURCE.replace("default=0", "default=2"))
    assert codes(check(Request(paths=(str(project),)))) == ["DLL103"]
    (project / "train.py").write_text(SOURCE.replace("num_workers=args.workers", "num_workers=0"))
    assert codes(check(Request(paths=(str(project),)))) == []


def test_a_script_in_no_project_asks_no_files(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"workers": 3}')
    assert lists(tmp_path, whole=False).demands(NAMES) == ()
    (tmp_path / "train.py").write_text(SOURCE)
    assert codes(check(Request(paths=(str(tmp_path / "train.py"),)))) == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.json", '{"data": {"workers": "4"}}', [(1, 4, "")]),
        ("a.json", '{\n/* "workers": 4, */\n// "workers": 5,\n"workers": 6}', [(4, 6, "")]),
        ("a.json", '{"text": "\\"workers\\": 4", "workers": 0.5, "more": {"workers": [4]}}', []),
        ("a.json", '{"workers": 99999}', []),
        ("a.sh", "python a.py --workers=4 -j8", [(1, 4, "a.py"), (1, 8, "a.py")]),
        ("a.sh", "python -m torch.distributed.launch --nproc_per_node 2 a.py --workers 4", [(1, 4, "a.py")]),
        ("a.sh", "N=4\npython -m a.b --workers ${N} --config c.py", [(2, 4, "a.b")]),
        ("a.sh", "python a.py --workers ${N:-4} | tee log", [(1, 4, "a.py")]),
        ("a.sh", "python a.py --workers $N; python b.py \\\n '--workers' '4' &", [(2, 4, "b.py")]),
        ("a.sh", "python --workers 4 a.py\ntool --workers 4\n# python a.py --workers 4\npython a.py --workers", []),
        (
            "a.sh",
            "python a.py data.workers=4 +a.b.workers=5 workers.data=6 --a.workers=7 my_workers=8",
            [(1, 4, "a.py"), (1, 5, "a.py"), (1, 7, "a.py")],
        ),
        ("makefile", "all:\n\t@python a.py -j 4\n", [(2, 4, "a.py")]),
        ("a.md", "`python a.py -j 4`\n```sh\n$ python a.py -j 5\n```\n", [(3, 5, "a.py")]),
        ("a.rst", "Run::\n\n  python a.py -j 5\n\nor python a.py -j 4\n", [(3, 5, "a.py")]),
        ("a.sh", "python a.py # python a.py -j 4\necho; # python a.py -j 4\n", []),
        ("a.txt", "python a.py -j 5", []),
        ("a.sh", "python a.py \\\n" * 3_000 + "'" * 3_000, []),
        ("a.json", '"' + '\\"' * 30_000, []),
        ("a.json", "/*" * 30_000, []),
        ("a.json", '"' * 30_000 + '{"workers": ' * 2_000, []),
    ],
)
def test_what_is_asked_for(tmp_path: Path, name: str, text: str, found: list[tuple[int, int, str]]) -> None:
    (tmp_path / name).write_text(text)
    assert asked(tmp_path) == [(name, *demand) for demand in found]


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.sh", "python a.py --list a.txt --data=x", [("a.py", "a.txt", {"--list", "a.txt", "--data", "x"})]),
        ("a.sh", "python -m a.b '--list=$LIST'", [("a.b", "$LIST", {"--list", "$LIST"})]),
        ("a.sh", "python a.py --list", [("a.py", "", {"--list"})]),
        ("a.sh", "python --list a.txt a.py; python b.py", []),
        ("a.json", '{"--list": "a.txt"}', []),
    ],
)
def test_what_command_lines_pass(tmp_path: Path, name: str, text: str, found: list[tuple[str, str, set[str]]]) -> None:
    (tmp_path / name).write_text(text)
    assert [tuple(passed) for passed in lists(tmp_path).passed("--list")] == [(name, *passed) for passed in found]


READING = """
import argparse

from torch.utils.data import DataLoader, Dataset


class Lines(Dataset):
    def __init__(self, path):
        self.lines = [line.strip() for line in open(path)]

    def __getitem__(self, index):
        return self.lines[index]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--list")
    for batch in DataLoader(Lines(parser.parse_args().list), num_workers=2):
        print(batch)
"""


@pytest.mark.usefixtures("settle")
def test_a_verdict_holds_while_command_lines_name_the_same_list(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    request = Request(paths=(str(project),), cache=True, cache_dir=str(tmp_path_factory.mktemp("cache")))
    (project / "train.py").write_text(READING)
    (project / "some.txt").write_text("line\n" * 10)

    assert codes(check(request)) == codes(check(request)) == ["DLL201"]
    (project / "run.sh").write_text("python train.py --list some.txt\n")
    assert codes(check(request)) == codes(check(request)) == []
    (project / "more.sh").write_text("python train.py --list missing.txt\n")
    assert codes(check(request)) == ["DLL201"]


SELECTING = """
import argparse
import os
import random

from torch.utils.data import DataLoader, Dataset


class Names(Dataset):
    def __init__(self, root):
        self.names = [os.path.join(at, name) for at, _, found in os.walk(root) for name in found]
        self.key = lambda name: name
        self.random = random.Random(0)

    def __getitem__(self, index):
        return self.key(self.names[self.random.randrange(len(self.names))])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="numbers")
    numbers = parser.parse_args().mode != "names"
    print(list(DataLoader(range(9) if numbers else Names("images"), num_workers=2)))
"""


@pytest.mark.usefixtures("settle")
@pytest.mark.parametrize("given", ["--mode names", "--mode=names", "--mode $MODE", "--mode [MODE]"])
def test_what_no_command_line_selects_matters_little(
    project: Path, tmp_path_factory: pytest.TempPathFactory, given: str
) -> None:
    request = Request(paths=(str(project),), cache=True, cache_dir=str(tmp_path_factory.mktemp("cache")))
    (project / "train.py").write_text(SELECTING)

    assert codes(check(request)) == codes(check(request)) == []
    (project / "run.sh").write_text("python train.py --mode numbers\n")
    assert codes(check(request)) == codes(check(request)) == []
    (project / "more.sh").write_text(f"python train.py {given}\n")
    assert codes(check(request)) == ["DLL201", "DLL102", "DLL602"]


def test_which_files_are_asked(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root / "far/away", root / "many", root / "ignored", outside):
        folder.mkdir(parents=True)
    for file in (
        *(root / "far/away/a.json", root / "ignored/a.json", root / "a.json", outside / "a.json"),
        *(root / "many" / f"{number}.json" for number in range(300)),
    ):
        file.write_text('{"workers": 4}')
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("ignored/\n")
    (root / "large.json").write_text('{"workers": 4}' + " " * (1 << 16))
    (root / "bytes.json").write_bytes(b'{"workers": 4, "name": "\xff"}')
    (root / "link.json").symlink_to(outside / "a.json")
    (root / "folder").symlink_to(outside)
    assert [path for path, *_ in asked(root)] == ["a.json", "far/away/a.json"]


def test_the_files_near_the_root_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demanded, "MOST", 2)
    for name in ("b/b/a.json", "c.json", "b/a.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"workers": 4}')
    found = lists(tmp_path)
    assert [path for path, *_ in found.demands(NAMES)] == ["b/a.json", "c.json"]
    assert found.left == 1


def test_that_files_are_too_many_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demanded, "MOST", 1)
    for name in ("a.json", "b.json"):
        (project / name).write_text('{"workers": 4}')
    said = CliRunner().invoke(cli, ["check", "--no-cache", "--timings", str(project)]).stderr
    assert "files not asked for numbers of workers: 1, as there are too many" in said
