"""The benchmark of surveys: its lists, how it fetches what they name, that it goes on, and its page."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from bench import sources, survey_page
from bench.corpus import Package
from bench.sources import Repository
from bench.survey import SETTINGS, here, measure, survey
from dllint.survey import unit
from dllint.survey.database import Database
from dllint.survey.tool import tool
from dllint.survey.trees import Tree, read
from tests import surveys


def test_the_lists_are_pinned() -> None:
    repositories = sources.repositories()
    commits = {each.commit for each in repositories}
    assert len({each.name for each in repositories}) == len(commits) == len(repositories) >= 300
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) for commit in commits)
    packages = sources.packages()
    assert len({re.sub(r"[-_.]+", "-", each.name).lower() for each in packages}) == len(packages) >= 50
    assert all(re.fullmatch(r"[0-9a-f]{64}", each.sha256) and each.version for each in packages)
    assert {each.form for each in packages} == {"sdist", "wheel"}


def test_what_is_missing_is_fetched_at_its_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = tmp_path / "host" / "owner"
    host.mkdir(parents=True)
    old, _ = surveys.repository(host / "train", surveys.PROGRAM, "import torch\n")
    surveys.git(host / "train", "config", "uploadpack.allowAnySHA1InWant", "true")
    wanted = [Repository("owner/train", old), Repository("owner/gone", "0" * 40)]
    for _ in range(2):
        there = sources.fetch_repositories(tmp_path / "here", wanted, f"file://{tmp_path / 'host'}")
        assert [tree.name for tree in there] == [f"owner/train.git@{old}"]
    assert "owner/gone: " in capsys.readouterr().err
    found = unit.survey(there[0], SETTINGS)
    assert (found.kind, len(found.findings), found.identity) == ("ok", 1, f"git:{old}")


def test_a_package_that_cannot_be_had_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(name, value)
    surveys.folder(tmp_path / "here" / "train-1.0")
    wanted = [Package(name, "1.0", "wheel", "survey", "0" * 64) for name in ("train", "dllint-there-is-none")]
    there = sources.fetch_packages(tmp_path / "here", wanted)
    assert [(tree.name, tree.form) for tree in there] == [("train-1.0", "folder")]
    assert "dllint-there-is-none-1.0: pip failed" in capsys.readouterr().err


def test_a_survey_goes_on_where_it_was(tmp_path: Path) -> None:
    trees = read([str(surveys.folder(tmp_path / name)) for name in ("a", "b")])
    place = tmp_path / "r.db"
    with here(1) as engine:
        first = survey(engine, trees[:1], place)
        (before,) = Database(str(place)).rows("SELECT name, finished, seconds FROM source")
        taken, found = measure(engine, trees, place)
        assert before in Database(str(place)).rows("SELECT name, finished, seconds FROM source")
    assert (len(first), len(found)) == (2, 4)
    assert set(first) < set(found)
    assert taken.row.startswith("| this machine, 1 at a time | ")


def test_the_page_counts_packages_and_repositories_apart(tmp_path: Path) -> None:
    results = Database(str(tmp_path / "r.db"), create=True)
    for number, (tree, outcome) in enumerate(surveys.outcomes(200)):
        folder = Tree(f"p-{number}", "folder", tree.path)
        results.save(folder if number % 10 == 0 else tree, outcome, tool(), SETTINGS)
    taken = survey_page.Measured("this machine, 1 at a time", 25, 50, 90, 0, 2)
    page = survey_page.write(results, [taken], 15)
    assert "* 180 repositories" in page
    assert "* 20 packages of the Python package index: 15 libraries around training" in page
    assert "and 5 others" in page
    assert "| this machine, 1 at a time | 30 | 90 MiB |  | 2 |" in page
    parts = re.findall(r"\*\*(\d+) of (\d+) (repositories|packages) \(", page)
    for broken, analysed, noun in parts:
        form = {"repositories": "git", "packages": "folder"}[noun]
        query = "SELECT count(*) FROM source WHERE form = ? AND outcome = 'ok'"
        assert results.rows(query, form) == [(int(analysed),)]
        breaking = "forkserver IN ('exception', 'hang') AND fork NOT IN ('exception', 'hang')"
        query = f"SELECT count(DISTINCT source) FROM finding JOIN source ON name = source WHERE form = ? AND {breaking}"
        assert results.rows(query, form) == [(int(broken),)]
    assert [noun for _, _, noun in parts] == ["repositories", "packages"]
