"""One setting says where the documentation is, one module where dllint is; everything that leads there follows."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from dllint import registry
from dllint.cli import cli
from docs import addresses
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


@pytest.mark.parametrize("file", addresses.files(), ids=lambda file: file.relative_to(REPOSITORY).as_posix())
def test_pages_have_the_addresses_of_today(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text == addresses.written(text), "python -m docs.addresses"


BEFORE = """\
pip install ../dllint flake8 && pip install -q "../dllint[lsp]" && uvx --from ../dllint dllint check .
- repo: ../dllint   # a clone
  rev: HEAD
pre-commit try-repo ../dllint dllint --all-files
- uses: OWNER/dllint@main   # your clone
pip install -e . && cd ../dllint && dllint check
repo_url: ""
"""
AFTER = """\
pip install dllint flake8 && pip install -q "dllint[lsp]" && uvx --from dllint dllint check .
- repo: https://x.org/dllint   # a clone
  rev: v9.9.9
pre-commit try-repo https://x.org/dllint dllint --all-files
- uses: lab/dllint@v9.9.9   # your clone
pip install -e . && cd ../dllint && dllint check
repo_url: "https://x.org/dllint"
"""


def test_publishing_is_a_change_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://x.org/dllint"
    published = ("dllint", "dllint", address, "v9.9.9", "lab/dllint@v9.9.9", f'"{address}"', '""', "edit/main/", '""')
    unpublished = ("../dllint", "../dllint", "../dllint", "HEAD", "OWNER/dllint@main", '""', '""', '""', '""')
    for values, text in ((published, AFTER), (unpublished, BEFORE)):
        places = [place._replace(value=value) for place, value in zip(addresses.PLACES, values, strict=True)]
        monkeypatch.setattr(addresses, "PLACES", places)
        assert addresses.written(BEFORE) == addresses.written(AFTER) == text
