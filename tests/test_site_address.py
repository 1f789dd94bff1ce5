"""One setting says where the documentation is; everything that points at a rule's page follows it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from dllint import registry
from dllint.cli import cli
from tests.test_cli import PROGRAM, check, folder, program

__all__ = ["folder", "program"]

SITE = "https://docs.example.org/dllint"
REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def published(program: Path) -> str:
    """The address of the page of the program's finding."""
    (program / "dllint.toml").write_text(f'docs-url = "{SITE}/"\n')
    return f"{SITE}/rules/dllint_rules/pickling/dll101_lambda_default_factory/"


def test_every_rule_of_ours_has_its_page_where_the_site_has_it() -> None:
    """MkDocs makes a folder of every page."""
    for info in registry.infos():
        path = info.url(SITE).removeprefix(f"{SITE}/").removesuffix("/")
        assert (REPOSITORY / f"{path}.md").is_file(), info.code
        assert info.url("") == ""


def test_formats_for_programs_have_it(published: str) -> None:
    (row,) = json.loads(check("--output-format", "json").stdout)
    assert row["url"] == published
    (diagnostic,) = json.loads(check("--output-format", "rdjson").stdout)["diagnostics"]
    assert diagnostic["code"] == {"value": "DLL101", "url": published}
    (run,) = json.loads(check("--output-format", "sarif").stdout)["runs"]
    assert run["tool"]["driver"]["rules"][0]["helpUri"] == published
    assert run["tool"]["driver"]["informationUri"] == f"{SITE}/"


def test_rules_have_it(published: str) -> None:
    (rule,) = json.loads(CliRunner().invoke(cli, ["rule", "DLL101", "--output-format", "json"]).stdout)
    assert rule["url"] == published


def test_people_have_it(published: str) -> None:
    assert f"docs: {published}\n" in check("--output-format", "full").stdout


def test_without_an_address_there_is_none(program: Path) -> None:
    assert json.loads(check("--output-format", "json").stdout)[0]["url"] is None
    (rule,) = json.loads(CliRunner().invoke(cli, ["rule", "DLL101", "--output-format", "json"]).stdout)
    assert rule["url"] is None
    assert "docs: dllint rule DLL101\n" in check("--output-format", "full").stdout
    assert "helpUri" not in check("--output-format", "sarif").stdout


def test_editors_have_it(published: str, program: Path) -> None:
    pytest.importorskip("lsprotocol")
    from dllint.editor.places import Places
    from dllint.editor.reports import Reports
    from dllint.editor.workbench import Workbench
    from dllint.engine.session import Request

    bench = Workbench(Request(paths=(str(program),)))
    bench.put("words.py", PROGRAM.encode())
    view = bench.view()
    addresses: Any = SimpleNamespace(address=lambda place, part: Path(place).as_uri())
    diagnostic = Reports(addresses, Places("utf-16")).diagnostic(view, view.findings[0])
    assert diagnostic.code_description is not None and diagnostic.code_description.href == published
