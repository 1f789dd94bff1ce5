"""One project with several configurations: the nearest decides about a file, whatever asks and whatever was named."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dllint.engine import Request, Result, check, plan
from dllint.registry import Layer
from tests.test_cli import REPOSITORY, dllint

FILES = ("shared/records.py", "text/train.py", "vision/train.py")
REPORTED = [("text/train.py", "DLL102")]
"""The same lambda in both packages; vision runs where nothing is pickled."""


@pytest.fixture(params=["git", "no git"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The example of docs/configuration.md."""
    shutil.copytree(REPOSITORY / "examples" / "monorepo", tmp_path / "monorepo")
    if request.param == "git":
        (tmp_path / "monorepo" / ".git").mkdir()
    return tmp_path / "monorepo"


def found(result: Result) -> list[tuple[str, str]]:
    return [(finding.path, finding.code) for finding, _ in result.findings]


def run(*paths: Path, **options: object) -> Result:
    return check(Request(paths=tuple(map(str, paths)), **options))  # type: ignore[arg-type]


def test_whatever_is_named_each_file_has_its_own_findings(repository: Path) -> None:
    whole = run(repository)
    assert found(whole) == REPORTED
    for path in FILES:
        one = run(repository / path)
        assert one.root == str(repository)
        assert found(one) == [item for item in REPORTED if item[0] == path]
    for folder in ("shared", "text", "vision"):
        assert found(run(repository / folder)) == [item for item in REPORTED if item[0].startswith(folder)]
    assert found(run(*(repository / path for path in FILES))) == REPORTED


def test_the_hook_agrees(repository: Path) -> None:
    """pre-commit names the files of a commit, in any order."""
    for files in (FILES, FILES[::-1], FILES[1:], ("vision/train.py",)):
        done = dllint(repository, "check", "--force-exclude", *files)
        told = [tuple(line.split(": ")[:2]) for line in done.stdout.splitlines()]
        assert [(place.split(":")[0], text.split()[0]) for place, text in told] == [
            item for item in REPORTED if item[0] in files
        ]


def test_standard_input_agrees(repository: Path) -> None:
    for path in FILES:
        data = (repository / path).read_bytes()
        done = dllint(repository, "check", "--stdin-filename", path, "-", stdin=data)
        assert done.returncode == int((path, "DLL102") in REPORTED), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("flake8") is None, reason="flake8 is not installed")
@pytest.mark.parametrize("named", [(".",), FILES, ("vision/train.py",), ("text",)])
def test_flake8_agrees(repository: Path, tmp_path: Path, named: tuple[str, ...]) -> None:
    metadata = tmp_path / "plugin" / "dllint-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dllint\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text("[flake8.extension]\nDLL = dllint.flake8:Plugin\n")
    path = os.pathsep.join(map(str, (tmp_path / "plugin", REPOSITORY, REPOSITORY / "rules")))
    command = [sys.executable, "-m", "flake8", "--isolated", "--select=DLL", "-j1", *named]
    env = {**os.environ, "PYTHONPATH": path, "DLLINT_NO_CACHE": "1"}
    done = subprocess.run(command, cwd=repository, env=env, capture_output=True, text=True, timeout=120)
    assert not done.stderr
    places = {line.removeprefix("./").split(":")[0] for line in done.stdout.splitlines()}
    asked = [item for item in REPORTED if named == (".",) or item[0] in named or item[0].split("/")[0] in named]
    assert places == {path for path, _ in asked}


def test_the_editor_agrees(repository: Path) -> None:
    pytest.importorskip("lsprotocol")
    from dllint.editor.desk import Desk

    for folder in (repository, repository / "vision"):
        desk = Desk()
        desk.open_folders([str(folder)])
        place = repository / "vision" / "train.py"
        desk.put(str(place), place.read_bytes())
        views = desk.views()
        assert [(finding.path, finding.code) for view in views for finding in view.findings] == REPORTED


def test_an_editor_takes_up_a_configuration_further_down_that_changed(repository: Path) -> None:
    pytest.importorskip("lsprotocol")
    from dllint.editor.desk import Desk

    desk = Desk()
    desk.open_folders([str(repository)])
    assert [finding.path for view in desk.views() for finding in view.findings] == ["text/train.py"]
    (repository / "text" / "dllint.toml").write_text('ignore = ["DLL1"]\n')
    desk.refresh()
    assert not [finding for view in desk.views() for finding in view.findings]


def test_a_configuration_that_cannot_be_used_stops_its_project_alone(repository: Path) -> None:
    pytest.importorskip("lsprotocol")
    from dllint.editor.desk import Desk

    desk = Desk()
    desk.open_folders([str(repository)])
    place = repository / "text" / "train.py"
    desk.put(str(place), place.read_bytes())
    (repository / "text" / "dllint.toml").write_text("ignroe = []\n")
    desk.changed([str(repository / "text" / "dllint.toml")])
    assert not desk.views()
    (problem,) = {*desk.problems.values()}
    assert "dllint.toml:1: unknown key `ignroe`; did you mean `ignore`?" in problem
    (repository / "text" / "dllint.toml").unlink()
    desk.changed([str(repository / "text" / "dllint.toml")])
    assert [finding.path for view in desk.views() for finding in view.findings] == ["text/train.py"]


def test_why_is_asked_of_the_file_s_own_targets(repository: Path) -> None:
    quiet = dllint(repository, "check", "--why", "vision/train.py:7").stdout
    assert "is reported here" not in quiet
    assert "DLL102 is reported here" in dllint(repository, "check", "--why", "text/train.py:7").stdout


def test_selection_ignores_and_excludes_hold_below_their_folder(repository: Path) -> None:
    (repository / "vision" / "pyproject.toml").unlink()
    assert len(run(repository).findings) == 2
    ignored = 'per-file-ignores = {"*.py" = ["DLL1"]}'
    for text in ('ignore = ["DLL102"]', 'select = ["DLL3"]', ignored, 'exclude = ["*"]'):
        (repository / "vision" / "dllint.toml").write_text(f"{text}\n")
        assert found(run(repository)) == REPORTED, text
    assert run(repository).targets == set(FILES[:2]), "what is excluded there is no part of the project"
    (repository / "vision" / "dllint.toml").write_text('extend-select = ["DLL901"]\n')
    for package in ("vision", "text"):
        (repository / package / "notes.py").write_text("import torch\nx = 1  # dllint: ignore[DLL101]\n")
    assert ("vision/notes.py", "DLL901") in found(run(repository))
    assert ("text/notes.py", "DLL901") not in found(run(repository))
    assert ("text/notes.py", "DLL901") in found(run(repository, layer=Layer(extend_select=("DLL901",))))


def test_fixes_are_trusted_as_the_file_s_configuration_says(repository: Path) -> None:
    (repository / "vision" / "pyproject.toml").unlink()
    (repository / "vision" / "dllint.toml").write_text("unsafe-fixes = true\n")
    result = run(repository, fix=True)
    assert [item.path for item in result.applied] == ["vision/train.py"]
    assert found(result) == REPORTED
    (repository / "text" / "dllint.toml").write_text('unsafe-fixes = true\nunfixable = ["DLL102"]\n')
    assert not run(repository, fix=True).applied


def test_the_command_line_beats_every_configuration(repository: Path) -> None:
    settings = ('target-platforms = ["linux"]', 'target-python = "3.12"')
    assert not run(repository, settings=settings).findings
    assert len(run(repository, settings=('start-method = "spawn"',)).findings) == 2
    assert len(run(repository, isolated=True).findings) == 2


def test_what_was_found_is_remembered_until_a_configuration_changes(repository: Path, tmp_path: Path) -> None:
    options = {"cache": True, "cache_dir": str(tmp_path / "cache")}
    assert found(run(repository, **options)) == found(run(repository, **options)) == REPORTED
    (repository / "text" / "dllint.toml").write_text('ignore = ["DLL102"]\n')
    assert not run(repository, **options).findings
    (repository / "text" / "dllint.toml").unlink()
    assert found(run(repository, **options)) == REPORTED


def test_imports_start_in_the_src_folder_of_their_own_package(tmp_path: Path) -> None:
    """Two packages with modules of one name: tests beside `src` mean the nearer one."""
    (tmp_path / ".git").mkdir()
    data = (REPOSITORY / "examples" / "monorepo" / "shared" / "records.py").read_text()
    train = "from torch.utils.data import DataLoader\n\nfrom {} import Records\n\n\ndef test_it():\n"
    train += "    for batch in DataLoader(Records([], print), num_workers=4):\n        print(batch)\n"
    for name in ("one", "two"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "tests").mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
        (tmp_path / name / "tests" / "test_it.py").write_text(train.format("records"))
        broken = data.replace("= clean", "= lambda row: clean(row)") if name == "two" else data
        (tmp_path / name / "src" / "records.py").write_text(broken)
    result = run(tmp_path)
    assert [finding.path for finding, _ in result.findings] == ["two/src/records.py"]
    assert {note.path for finding, _ in result.findings for note in finding.notes} == {
        "two/src/records.py",
        "two/tests/test_it.py",
    }


def test_what_would_be_checked(repository: Path) -> None:
    assert plan(Request(paths=(str(repository),))).targets == set(FILES)
