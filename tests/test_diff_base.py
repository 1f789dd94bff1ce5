"""`--diff-base`: what a change touches, by the cause, the route or the loader, and how git's refusals are told."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from tests.fakes import DATASET, words
from tests.github import commit, git, repository
from tests.test_cli import check, folder

__all__ = ["folder", "repository", "words"]

pytestmark = pytest.mark.usefixtures("words")


def reported(*args: str, base: str = "main") -> list[str]:
    """The findings as `path:row WORD`."""
    done = check("--diff-base", base, *args)
    assert done.exit_code in (0, 1), done.output
    found = re.findall(r"^(.*?):(\d+):\d+: DLL80\d `?(\w+)", done.stdout, re.MULTILINE)
    assert len(found) == len(done.stdout.splitlines())
    assert done.stderr.startswith(f"{len(found)} finding")
    return [f"{path}:{row} {word}" for path, row, word in found]


def test_only_lines_that_are_new_or_changed(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_OLD\nx = 1\ny = 1\nBAD_OLDER\n")
    (folder / "b.py").write_text(f"{DATASET}BAD_B\n")
    request.getfixturevalue("repository")
    assert reported() == []
    (folder / "a.py").write_text(f"{DATASET}BAD_OLD\nx = BAD_X\ny = 1\nBAD_OLDER\nBAD_NEW\n")
    assert reported() == ["a.py:3 BAD_X", "a.py:6 BAD_NEW"], "not committed"
    commit(folder)
    assert reported() == ["a.py:3 BAD_X", "a.py:6 BAD_NEW"]
    assert check("--diff-base", "main", "b.py").exit_code == 0


def test_a_changed_loader_shows_the_cause_far_away(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_B\n")
    (folder / "b.py").write_text("import a\n")
    request.getfixturevalue("repository")
    commit(folder, b="import a\nSTART(BAD_A)\n")
    assert reported() == ["a.py:2 BAD_A"]


def test_what_changed_in_a_submodule(folder: Path, request: pytest.FixtureRequest) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (inner / "a.py").write_text(f"{DATASET}BAD_OLD\n")
    git(inner, "init", "-q")
    _commit_all(inner)
    (folder / "b.py").write_text(f"{DATASET}BAD_B\n")
    request.getfixturevalue("repository")
    assert reported() == []
    (inner / "a.py").write_text(f"{DATASET}BAD_OLD\nBAD_NEW\n")
    (inner / "c.py").write_text(f"{DATASET}BAD_C\n")
    assert reported() == ["inner/a.py:3 BAD_NEW", "inner/c.py:2 BAD_C"], "not committed"
    _commit_all(inner)
    commit(folder)
    assert reported() == ["inner/a.py:3 BAD_NEW", "inner/c.py:2 BAD_C"]
    done = CliRunner().invoke(cli, ["review", "--base", "main"])
    review = json.loads(done.stdout)
    assert review["comments"] == [], "the pull request does not show the lines of a submodule"
    assert "`inner/a.py:3:1`: DLL801 `BAD_NEW` is bad" in review["body"]


def _commit_all(folder: Path) -> None:
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")


def test_reviewers_see_the_changed_line(folder: Path, request: pytest.FixtureRequest) -> None:
    """reviewdog drops what is not in the diff, and code scanning shows an alert only on changed lines."""
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_B\n")
    (folder / "b.py").write_text("import a\n")
    request.getfixturevalue("repository")
    commit(folder, b="import a\nSTART(BAD_A)\n")
    (told,) = json.loads(check("--diff-base", "main", "--output-format", "rdjson").stdout)["diagnostics"]
    assert (told["location"]["path"], told["location"]["range"]["start"]["line"]) == ("b.py", 2)
    assert "The cause is at a.py:2:1." in told["message"]
    assert told["related_locations"][0]["message"] == "the cause"
    assert told["related_locations"][0]["location"]["path"] == "a.py"
    assert "suggestions" not in told
    annotation = check("--diff-base", "main", "--output-format", "github").stdout
    assert annotation.startswith("::error file=b.py,line=2,endLine=2,")
    assert annotation.endswith("::`BAD_A` is bad%0A%0AThe cause is at a.py:2:1.\n")
    assert check("--output-format", "github", "a.py").stdout.startswith("::error file=a.py,line=2,"), (
        "no change: the cause"
    )
    (run,) = json.loads(check("--diff-base", "main", "--output-format", "sarif").stdout)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("b.py", 2)
    cause = result["relatedLocations"][-1]
    assert (cause["message"]["text"], cause["physicalLocation"]["artifactLocation"]["uri"]) == ("the cause", "a.py")
    assert f"[the cause]({cause['id']})" in result["message"]["text"]
    (whole,) = [
        one for one in json.loads(check("--output-format", "rdjson").stdout)["diagnostics"] if "BAD_A" in one["message"]
    ]
    assert whole["location"]["path"] == "a.py", "without a change, the cause"


def test_of_a_long_expression_the_changed_line_is_shown(folder: Path, request: pytest.FixtureRequest) -> None:
    source = 'BAD_ARGS = dict(\n    one="x",\n    two="y",\n)\n'
    (folder / "a.py").write_text(f"{DATASET}{source}")
    request.getfixturevalue("repository")
    from dllint.finding import Finding
    from dllint.report import Context
    from dllint.source import Source, Span

    text = Source("a.py", f"{DATASET}{source}")
    start = text.text.index("dict")
    finding = Finding("DLL801", "a.py", Span(start, text.text.index(")\n") + 1), "it")
    changed = text.text.index("two")
    context = Context(
        root=str(folder),
        cwd=str(folder),
        rules={},
        source=lambda _: text,
        touches=lambda _, span: span.start <= changed < span.end,
    )
    path, span = context.shown(finding)
    assert (path, text.text[span.start : span.end]) == ("a.py", '    two="y",')


def test_what_happened_on_the_base_meanwhile_is_not_of_the_change(repository: Path) -> None:
    commit(repository, a=f"{DATASET}BAD_MINE\n")
    git(repository, "checkout", "-q", "main")
    commit(repository, c=f"{DATASET}BAD_THEIRS\n")
    git(repository, "checkout", "-q", "work")
    git(repository, "merge", "-q", "--no-edit", "main")
    git(repository, "checkout", "-q", "-b", "more", "work^1")
    assert reported() == ["a.py:1 BAD_MINE"] or reported() == ["a.py:2 BAD_MINE"]


def test_new_files_added_or_not(repository: Path) -> None:
    (repository / "a.py").write_text(f"{DATASET}BAD_A\n")
    assert reported() == ["a.py:2 BAD_A"]
    git(repository, "add", "a.py")
    assert reported() == ["a.py:2 BAD_A"]
    (repository / ".gitignore").write_text("b.py\n")
    (repository / "b.py").write_text(f"{DATASET}BAD_B\n")
    assert reported("--config", "dllint.toml", "b.py") == []


def test_a_renamed_file_is_not_a_new_one(folder: Path, request: pytest.FixtureRequest) -> None:
    lines = "".join(f"x{number} = {number}\n" for number in range(20))
    (folder / "a.py").write_text(f"{DATASET}BAD_OLD\n{lines}")
    request.getfixturevalue("repository")
    git(folder, "mv", "a.py", "b.py")
    assert reported() == []
    commit(folder, b=f"{DATASET}BAD_OLD\n{lines}BAD_NEW\n")
    assert reported() == ["b.py:23 BAD_NEW"]


def test_what_was_taken_away_touches_the_line_below(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n# dllint: ignore\nBAD_B\nBAD_C\n")
    request.getfixturevalue("repository")
    commit(folder, a=f"{DATASET}BAD_A\nBAD_B\nBAD_C\n")
    assert reported() == ["a.py:3 BAD_B"]


NAMES = ["lib b/x y.py", "grün.py", "$(x).py"] + (
    ['q"uote.py', "tab\t.py", "back\\slash.py", "line\nfeed.py"] if sys.platform != "win32" else []
)


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(folder: Path, request: pytest.FixtureRequest, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(f"{DATASET}BAD_OLD\nx = 1\n")
    request.getfixturevalue("repository")
    (folder / name).write_text(f"{DATASET}BAD_OLD\nx = 1\nBAD_NEW\n")
    done = check("--diff-base", "main", "--output-format", "json-lines")
    assert (done.stdout.count("BAD_NEW` is bad"), done.stdout.count("BAD_OLD` is bad")) == (1, 0)


def test_the_machines_configuration_does_not_matter(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_OLD\r\n")
    (folder / ".gitattributes").write_text("b.py -diff\n")
    (folder / "b.py").write_text(f"{DATASET}BAD_B\n")
    request.getfixturevalue("repository")
    for key, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "color.diff": "always",
        "color.ui": "always",
        "diff.external": "false",
        "diff.interHunkContext": "9",
        "diff.context": "9",
        "core.quotePath": "true",
        "diff.renames": "false",
        "diff.relative": "true",
        "diff.suppressBlankEmpty": "true",
    }.items():
        git(folder, "config", key, value)
    (folder / "a.py").write_text(f"{DATASET}BAD_OLD\r\nBAD_NEW\r\n", newline="")
    assert reported() == ["a.py:3 BAD_NEW"]
    (folder / "b.py").write_text(f"{DATASET}BAD_B\nx = 1\n")
    assert reported() == ["a.py:3 BAD_NEW", "b.py:2 BAD_B"], "of a file without a diff all lines count"


def test_from_a_folder_below_and_with_a_root_below(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "dllint.toml").unlink()
    (folder / "inner").mkdir()
    (folder / "inner/dllint.toml").touch()
    (folder / "inner/a.py").write_text(f"{DATASET}BAD_OLD\n")
    request.getfixturevalue("repository")
    (folder / "inner/a.py").write_text(f"{DATASET}BAD_OLD\nBAD_NEW\n")
    assert reported("inner") == ["inner/a.py:3 BAD_NEW"]


def test_cells_of_a_notebook(folder: Path, request: pytest.FixtureRequest) -> None:
    def write(*lines: str) -> None:
        cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": [*lines]}
        book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        (folder / "a.ipynb").write_text(json.dumps(book, indent=1))

    write(DATASET, "BAD_OLD\n", "x = 1\n")
    request.getfixturevalue("repository")
    write(DATASET, "BAD_OLD\n", "x = 1\n", "BAD_NEW\n")
    assert reported() == ["a.ipynb:cell 1:4 BAD_NEW"]


def test_changed_lines_are_the_first_annotations(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    request.getfixturevalue("repository")
    commit(folder, b="import a\nSTART(BAD_A)\n", c=f"{DATASET}BAD_C\n")
    lines = check("--diff-base", "main", "--output-format", "github").stdout.splitlines()
    assert ["`BAD_C`" in lines[0], "`BAD_A`" in lines[1]] == [True, True]


# Refusals: exit status 2, one line, and what to do.


def refused(*args: str) -> str:
    done = check(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    return done.stderr


def test_an_unknown_ref(repository: Path) -> None:
    assert refused("--diff-base", "none") == "error: git has no commit 'none'\n"
    assert refused("--diff-base", "--output=x") == "error: git has no commit '--output=x'\n"
    assert not (repository / "x").exists()


def test_no_repository(folder: Path) -> None:
    assert "error: git rev-parse: not a git repository" in refused("--diff-base", "main")


def test_no_commit_in_common(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "alone")
    commit(repository)
    assert refused("--diff-base", "main") == "error: 'main' and HEAD have no commit in common\n"


def test_a_shallow_clone(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, a="x = 1\n")
    git(repository, "checkout", "-q", "main")
    commit(repository, b="x = 1\n")
    clone = tmp_path_factory.mktemp("clones") / "clone"
    git(repository, "clone", "-q", "--depth=1", "--no-single-branch", repository.as_uri(), str(clone))
    git(clone, "checkout", "-q", "work")
    monkeypatch.chdir(clone)
    told = refused("--diff-base", "origin/main")
    assert told.startswith("error: 'origin/main' and HEAD have no commit in common; this clone is shallow: fetch more")
    assert "this clone is shallow" in refused("--diff-base", "0" * 40)


@pytest.mark.usefixtures("repository")
def test_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert refused("--diff-base", "main") == "error: git is not installed, or not on the PATH\n"


@pytest.mark.parametrize("option", ["--fix", "--fix-only", "--diff", "--add-noqa", "-"])
def test_it_is_for_reports(repository: Path, option: str) -> None:
    assert "--diff-base cannot be combined" in refused("--diff-base", "main", option)
