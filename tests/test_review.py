"""`dllint review`: what it prints is taken by a stand-in for GitHub's endpoint, and its suggestions are the fixes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings

from dllint.cli import cli
from dllint.fix import Edit, apply
from dllint.review.comments import _whole_lines
from dllint.source import Source, Span
from tests.fakes import DATASET, words
from tests.github import PullRequest, commit, git, post, repository, serving, suggested
from tests.test_cli import PROGRAM, check, folder
from tests.test_suggestions import fixes

__all__ = ["folder", "repository", "words"]

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "training"


def review(*args: str) -> Result:
    return CliRunner().invoke(cli, ["review", *args])


def made(folder: Path, *args: str) -> PullRequest:
    """The pull request with the review that dllint made of it."""
    done = review("--base", "main", *args)
    assert done.exit_code == 1, done.output
    pull = PullRequest(folder, "main")
    with serving(pull) as address:
        assert post(address, done.stdout) == (200, {"id": 1})
    return pull


def comments(pull: PullRequest) -> list[tuple[str, int, int]]:
    """Path, first and last line of each comment."""
    return [(one["path"], one.get("start_line", one["line"]), one["line"]) for one in pull.reviews[-1]["comments"]]


# What GitHub takes.


def test_a_review(repository: Path) -> None:
    commit(repository, words=PROGRAM)
    pull = made(repository)
    (sent,) = pull.reviews
    assert sent["event"] == "COMMENT"
    assert sent["commit_id"] == pull.head
    assert sent["body"] == "dllint: 1 finding in what this change affects."
    assert comments(pull) == [("words.py", 8, 8)]
    body = sent["comments"][0]["body"]
    assert body.startswith("**DLL101** `lambda-default-factory` (error): `lambda` as factory of the `defaultdict`")
    assert "* `DataLoader(...)` starts the workers here (`words.py:18:14`)" in body
    assert suggested(body) == ["        self.counts = defaultdict(int)"]
    pull.accept(0)
    assert check().exit_code == 0


def test_the_anchor_when_the_cause_is_not_in_the_diff(folder: Path, request: pytest.FixtureRequest) -> None:
    for file in EXAMPLE.glob("*.py"):
        shutil.copy(file, folder)
    loaders = (folder / "loaders.py").read_text()
    (folder / "loaders.py").write_text(loaders.replace("num_workers=args.workers", "num_workers=0"))
    transforms = (folder / "transforms.py").read_text()
    (folder / "transforms.py").write_text(transforms.replace(">= rate", ">= 0.1"))  # captures as little as the other
    request.getfixturevalue("repository")
    commit(folder, loaders=loaders)
    pull = made(folder, "--unsafe-fixes")
    row = 1 + loaders.split("\n").index("        num_workers=args.workers,")
    assert comments(pull) == [("loaders.py", row, row), ("loaders.py", row + 2, row + 2)]
    by_the_workers, at_the_cause = (one["body"] for one in pull.reviews[0]["comments"])
    assert by_the_workers.startswith("7 findings because of this line:\n\n* `")
    places = (
        "data.py:10",
        "data.py:17",
        "loaders.py:21",
        "train.py:63",
        "transforms.py:21",
        "transforms.py:28",
        "vocab.py:23",
    )
    assert all(by_the_workers.count(f"* `{place}:") == 1 for place in places)
    assert by_the_workers.count("move it to module level") == 1, "each remedy once"
    assert "* `vocab.py:23:36`: **DLL101** `lambda-default-factory` (error): `lambda` as factory" in by_the_workers
    assert by_the_workers.endswith("\n\n`dllint check --fix --unsafe-fixes` fixes all of them.")
    assert suggested(by_the_workers) is None
    assert at_the_cause.startswith("**DLL103** "), "the diff shows it"


def test_the_cause_of_a_single_finding_by_way_of_a_line(folder: Path, request: pytest.FixtureRequest) -> None:
    for file in EXAMPLE.glob("*.py"):
        shutil.copy(file, folder)
    loaders = (folder / "loaders.py").read_text()
    (folder / "loaders.py").write_text(loaders.replace("num_workers=args.workers", "num_workers=0"))
    request.getfixturevalue("repository")
    commit(folder, loaders=loaders)
    (comment,) = made(folder, "--unsafe-fixes", "--select", "DLL101").reviews[0]["comments"]
    assert "The cause is at `vocab.py:23:36`." in comment["body"]
    assert "```diff\n--- a/vocab.py\n+++ b/vocab.py\n" in comment["body"]
    assert suggested(comment["body"]) is None


def test_two_suggestions_for_one_line_are_one_comment(repository: Path) -> None:
    commit(repository, words=PROGRAM.replace("lambda: 0)", "lambda: 0); self.more = defaultdict(lambda: 0)"))
    pull = made(repository)
    assert comments(pull) == [("words.py", 8, 8)]
    body = pull.reviews[0]["comments"][0]["body"]
    assert body.startswith("2 findings because of this line:\n\n* **DLL101** ")
    assert body.count("\n  * `words.py:8:") == 2 and body.count("use `int`") + body.count("use a named") <= 1
    assert suggested(body) == ["        self.counts = defaultdict(int); self.more = defaultdict(lambda: 0)"]
    pull.accept(0)
    assert len(check().stdout.splitlines()) == 1


def test_what_is_reviewed_is_selected_as_for_a_check(repository: Path) -> None:
    commit(repository, words=PROGRAM)
    assert review("--base", "main", "--ignore", "pickling").exit_code == 0
    assert review("--base", "main", "--target-platforms", "linux", "--target-python", "3.12").exit_code == 0
    assert review("--base", "main", "--config", "ignore=DLL101").exit_code == 0
    assert review("--base", "main", "--select", "DLL101").exit_code == 1
    assert review("--base", "main", "--exclude", "words.py").exit_code == 0


@pytest.mark.usefixtures("words")
def test_a_suggestion_of_several_lines(repository: Path) -> None:
    commit(repository, a=f"{DATASET}x = 1\nBAD_IMPORT\ny = 1\n")
    pull = made(repository)
    ((path, first, last),) = comments(pull)
    assert (path, first < last) == ("a.py", True)
    pull.accept(0)
    accepted = (repository / "a.py").read_text()
    git(repository, "checkout", "-q", "a.py")
    check("--fix")
    assert (repository / "a.py").read_text() == accepted


@pytest.mark.usefixtures("words")
def test_a_suggestion_beyond_the_hunk_is_shown_as_a_diff(folder: Path, request: pytest.FixtureRequest) -> None:
    lines = "".join(f"x{number} = {number}\n" for number in range(30))
    (folder / "a.py").write_text(f"{DATASET}import os\n{lines}")
    request.getfixturevalue("repository")
    commit(folder, a=f"{DATASET}import os\n{lines}BAD_IMPORT\n")
    pull = made(folder)
    assert comments(pull) == [("a.py", 33, 33)]
    body = pull.reviews[0]["comments"][0]["body"]
    assert suggested(body) is None
    assert "replace `BAD_IMPORT` (`dllint check --fix`):\n\n```diff\n" in body
    assert "+from functools import partial" in body


@pytest.mark.usefixtures("words")
def test_what_is_not_offered_is_told(repository: Path) -> None:
    commit(repository, a=f"{DATASET}BAD_UNSAFE\nBAD_MANUAL\nBAD_NONE\n")
    bodies = [one["body"] for one in made(repository).reviews[0]["comments"]]
    assert bodies[0].endswith("replace `BAD_UNSAFE` (`dllint check --fix --unsafe-fixes`)")
    assert bodies[1].endswith("do it yourself (by hand):\n\n    good = 1\n    good = 2")
    assert bodies[2] == "**DLL801** `bad-word` (error): `BAD_NONE` is bad"
    bodies = [one["body"] for one in made(repository, "--unsafe-fixes").reviews[0]["comments"]]
    assert suggested(bodies[0]) == ["good_unsafe"]


@pytest.mark.usefixtures("words")
def test_fences_in_the_code(repository: Path) -> None:
    commit(repository, a=f"{DATASET}x = '''\n```\n''', BAD_A, '````'\n")
    pull = made(repository)
    pull.accept(0)
    assert (repository / "a.py").read_text() == f"{DATASET}x = '''\n```\n''', good_a, '````'\n"


@pytest.mark.usefixtures("words")
def test_lines_that_the_change_does_not_touch_have_no_comments(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nx = 1\n")
    request.getfixturevalue("repository")
    commit(folder, a=f"{DATASET}BAD_A\nx = 2\n")
    done = review("--base", "main")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "0 findings in what the commits since main affect.\n"


@pytest.mark.usefixtures("words")
def test_what_has_no_line_in_the_diff_is_in_the_body(folder: Path, request: pytest.FixtureRequest) -> None:
    (folder / ".gitattributes").write_text("*.py -diff\n")
    request.getfixturevalue("repository")
    commit(folder, a=f"{DATASET}BAD_A\n")
    pull = made(folder)
    assert pull.reviews[0]["comments"] == []
    assert pull.reviews[0]["body"].endswith("Not on a line of the diff:\n\n* `a.py:2:1`: DLL801 `BAD_A` is bad")


# What it refuses, and options.


@pytest.mark.usefixtures("words")
def test_files_must_be_committed(repository: Path) -> None:
    commit(repository, a=f"{DATASET}BAD_A\n")
    (repository / "b.py").write_text("x = 1\n")
    assert review("--base", "main").exit_code == 1, "other files do not matter"
    (repository / "a.py").write_text(f"{DATASET}\nBAD_A\n")
    git(repository, "add", "a.py")
    done = review("--base", "main")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: commit these files first, because a review covers commits only: a.py\n"


@pytest.mark.usefixtures("words")
def test_options(repository: Path) -> None:
    commit(repository, a=f"{DATASET}BAD_A\n")
    done = review("--base", "main", "--event", "request-changes", "--output-file", "review.json", "--exit-zero")
    assert (done.exit_code, done.stdout) == (0, "")
    sent: dict[str, Any] = json.loads((repository / "review.json").read_text())
    assert sent["event"] == "REQUEST_CHANGES"
    check("--baseline", "known.json", "--write-baseline")
    done = review("--base", "main", "--baseline", "known.json", "--output-file", "review.json")
    assert (done.exit_code, (repository / "review.json").read_text()) == (0, "")
    assert "1 known from known.json, not shown.\n" in done.stderr


@pytest.mark.usefixtures("repository")
def test_bad_usage() -> None:
    assert review().exit_code == 2
    done = review("--base", "none")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "error: git has no commit 'none'\n")
    done = review("--base", "main", "none.py")
    assert (done.exit_code, "error: none.py: no such file or folder\n" in done.stderr) == (2, True)


# The stand-in itself: it refuses what GitHub refuses.


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"line": 9}, "line must be part of the diff"),
        ({"start_line": 2, "line": 2}, "start_line must precede the end line"),
        ({"start_line": 2, "line": 41}, "start_line must be part of the same hunk as the line"),
        ({"path": "none.py"}, "path is not part of the diff"),
        ({"line": "2"}, "'2' is not of type 'integer'"),
        ({"body": ""}, "should be non-empty"),
        ({"colour": "red"}, "'colour' was unexpected"),
    ],
)
def test_what_github_refuses(folder: Path, request: pytest.FixtureRequest, changed: dict[str, Any], told: str) -> None:
    lines = [f"x{number} = {number}" for number in range(40)]
    (folder / "a.py").write_text("\n".join(lines))
    request.getfixturevalue("repository")
    commit(folder, a="\n".join([lines[0], "new = 1", *lines[1:], "new = 2"]))
    pull = PullRequest(folder, "main")
    good: dict[str, Any] = {"path": "a.py", "line": 2, "side": "RIGHT", "body": "text"}
    sent = {"commit_id": pull.head, "event": "COMMENT", "body": "text", "comments": [good]}
    with serving(pull) as address:
        assert post(address, json.dumps(sent))[0] == 200
        status, answer = post(address, json.dumps({**sent, "comments": [{**good, **changed}]}))
        assert (status, [told in error for error in answer["errors"]]) == (422, [True])
        assert post(address, json.dumps({**sent, "commit_id": "0" * 40}))[0] == 422
        assert post(address, json.dumps({**sent, "body": ""}))[0] == 422
    assert len(pull.reviews) == 1


# Whole lines.


@settings(max_examples=200)
@given(fixes())
def test_whole_lines_are_the_edit(made: tuple[Source, Any]) -> None:
    source, fix = made
    edit = Edit("a.py", Span(fix.edits[0].span.start, fix.edits[-1].span.end), fix.edits[-1].text)
    lines, new = _whole_lines(source, edit)
    before = source.text.replace("\r\n", "\n").split("\n")
    after = apply(source.text, [edit]).replace("\r\n", "\n").split("\n")
    assert [*before[: lines.start - 1], *new, *before[lines.stop - 1 :]] == after
