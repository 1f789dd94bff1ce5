"""The page of a survey: its numbers are the database's, and what sources say cannot become code."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from dllint.survey.database import Database
from dllint.survey.outcome import Reported
from dllint.survey.page import page
from dllint.survey.totals import totals
from dllint.survey.trend import trend
from tests import surveys

MADE = [*surveys.outcomes(250)]
BREAKS = {"exception", "hang"}


class Page(HTMLParser):
    """The parts of a page: tables by their labels, blocks of data by their names, tags in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.data: dict[str, Any] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._block = self._table = ""
        self._cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        self._block = given.get("id") or "" if given.get("type") == "application/json" else ""
        if given.get("role") == "region":
            self._table = given["aria-label"] or ""
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        self._cell = tag in ("td", "th")

    def handle_endtag(self, tag: str) -> None:
        self._block = ""
        self._cell = False

    def handle_data(self, data: str) -> None:
        if self._block:
            self.data[self._block] = json.loads(data)
        elif self._cell:
            self.tables[self._table][-1].append(unescape(data))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """A database of made-up results."""
    return surveys.database(tmp_path_factory.mktemp("survey") / "r.db", len(MADE))


def breaking(method: str) -> set[str]:
    """The sources that break under a start method, counted without the database."""
    return {tree.name for tree, o in MADE if any(f.outcomes.get(method) in BREAKS for f in o.findings)}


def is_new(finding: Reported) -> bool:
    """Whether a finding breaks under forkserver and not under fork."""
    return finding.outcomes.get("forkserver") in BREAKS and finding.outcomes.get("fork") not in BREAKS


def test_the_numbers_are_right(results: Database) -> None:
    found = totals(results)
    assert found.sources == len(MADE)
    assert found.findings == sum(len(outcome.findings) for _, outcome in MADE)
    assert found.files == sum(outcome.files for _, outcome in MADE)
    assert found.breaks_on_314 == sum(any(map(is_new, outcome.findings)) for _, outcome in MADE) > 0
    certain = [[f for f in outcome.findings if is_new(f) and f.certainty == "certain"] for _, outcome in MADE]
    assert found.certain_on_314 == sum(map(bool, certain))
    assert {method.name: method.breaks for method in found.methods} == {
        method: len(breaking(method)) for method in ("fork", "spawn", "forkserver")
    }
    for rule in found.rules:
        having = [[f for f in outcome.findings if f.code == rule.code] for _, outcome in MADE]
        assert (rule.findings, rule.sources) == (sum(map(len, having)), sum(map(bool, having)))
    assert found.worst[0].breaking == max(sum(map(is_new, outcome.findings)) for _, outcome in MADE)


def test_the_page_shows_these_numbers(results: Database) -> None:
    found, shown = totals(results), Page(page(results).decode())
    rules = {row[0].split()[0]: row[1:] for row in shown.tables["By rule"][1:]}
    assert rules == {rule.code: [f"{rule.findings:,}", f"{rule.sources:,}"] for rule in found.rules}
    methods = {row[0]: int(row[2]) for row in shown.tables["By start method"][1:]}
    assert methods == {method.name: method.breaks for method in found.methods}
    assert sum(int(row[1]) for row in shown.tables["Outcomes"][1:]) == found.sources
    text = page(results).decode()
    assert (
        f'<strong id="breaks">{found.breaks_on_314}</strong> of <strong id="sources">{found.sources}</strong>' in text
    )


def test_the_page_holds_every_finding_with_route_and_frame(results: Database) -> None:
    data = Page(page(results).decode()).data
    made = {tree.name: outcome for tree, outcome in MADE}
    assert [row[0] for row in data["index"]] == sorted(made)
    details = [source for number in range(3) for source in data[f"chunk-{number}"]]
    for (name, kind, reason, files, _, _, findings), rest in zip(data["index"], details, strict=True):
        outcome = made[name]
        assert (kind, reason, files) == (outcome.kind, outcome.reason, outcome.files)
        assert [(f[0], f[1], f[2], f[4]) for f in findings] == [
            (f.code, f.path, f.row, f.message) for f in outcome.findings
        ]
        assert [row[2] for row in rest] == [f.frame for f in outcome.findings]
        assert [len(row[1]) for row in rest] == [len(f.route) for f in outcome.findings]


def test_nothing_that_a_source_says_becomes_code(results: Database) -> None:
    text = page(results, title="<script>alert(1)</script>").decode()
    tags = Page(text).tags
    running = [given for tag, given in tags if tag == "script" and given.get("type") != "application/json"]
    assert running == [{}]
    assert not [given for _, given in tags if any(name.startswith("on") or name in ("src",) for name in given)]
    (policy,) = [given["content"] for tag, given in tags if given.get("http-equiv") == "Content-Security-Policy"]
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'", policy or "")
    assert "http://" not in text
    assert "https://" not in text


def test_what_has_changed_between_two_surveys(tmp_path: Path) -> None:
    before, after = surveys.database(tmp_path / "b.db", 60), surveys.database(tmp_path / "a.db", 50)
    same = trend(before, after)
    analysed = sum(outcome.kind == "ok" for _, outcome in surveys.outcomes(50))
    assert (same.both, same.only_after, same.breaks_before) == (analysed, 0, same.breaks_after)
    assert not same.broken
    assert all((change.new, change.gone) == (0, 0) for change in same.rules)
    after.connection.execute("DELETE FROM finding WHERE code = 'DLL101'")
    found = trend(before, after)
    assert found.breaks_after == 0 < found.breaks_before == len(found.mended)
    (gone,) = [change for change in found.rules if change.gone]
    assert (gone.code, gone.before, gone.after, gone.new) == ("DLL101", gone.gone, 0, 0)
    back = trend(after, before)
    assert back.broken == found.mended
    shown = Page(page(after, before).decode())
    assert ["DLL101 lambda-default-factory", f"{gone.before}", "0", "0", f"{gone.gone}"] in shown.tables[
        "Changes by rule"
    ]


def test_the_command_writes_whole_pages(tmp_path: Path) -> None:
    surveys.database(tmp_path / "r.db", 3)
    place = tmp_path / "p.html"
    command = ["survey", "report", str(tmp_path / "r.db"), "-o", str(place), "--before", str(tmp_path / "r.db")]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    assert place.read_text(encoding="utf-8").endswith("</html>\n")
    done = CliRunner().invoke(cli, [*command[:4], str(tmp_path / "none" / "p.html")])
    assert done.exit_code == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.html", "r.db"]
