"""The benchmark of surveys: its list, and how it fetches what it lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.survey import Repository, fetch, repositories
from dllint.survey.unit import Settings, survey
from tests import surveys


def test_the_list_is_pinned() -> None:
    listed = repositories()
    assert len({each.name for each in listed}) == len({each.commit for each in listed}) == len(listed) >= 300
    assert all(re.fullmatch(r"[0-9a-f]{40}", each.commit) for each in listed)


def test_what_is_missing_is_fetched_at_its_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = tmp_path / "host" / "owner"
    host.mkdir(parents=True)
    old, _ = surveys.repository(host / "train", surveys.PROGRAM, "import torch\n")
    surveys.git(host / "train", "config", "uploadpack.allowAnySHA1InWant", "true")
    wanted = [Repository("owner/train", old), Repository("owner/gone", "0" * 40)]
    for _ in range(2):
        there = fetch(tmp_path / "here", wanted, f"file://{tmp_path / 'host'}")
        assert there == wanted[:1]
    assert "owner/gone: " in capsys.readouterr().err
    found = survey(there[0].tree(tmp_path / "here"), Settings())
    assert (found.kind, len(found.findings), found.identity) == ("ok", 1, f"git:{old}")
