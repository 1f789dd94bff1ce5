"""One test over all rules: names, places, headings, examples and the tables that list them.

`DLLINT_UPDATE=1 pytest tests/test_rulebook.py` writes the tables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dllint import registry
from dllint.rule import Rule
from dllint.testing import pages
from tests import rulebook

FAMILIES = {"1": "pickling", "2": "memory", "3": "start", "4": "lifetime", "5": "shared_memory", "6": "correctness"}
HEADINGS = ["Why", "Examples", "Fix", "Not reported", "See also"]
LONGEST_SUMMARY = 100

RULES = registry.rules()


def each_rule(rules: tuple[type[Rule], ...] = RULES) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", rules, ids=[rule.code for rule in rules])


def page_of(rule: type[Rule]) -> pages.Page:
    return pages.read(Path(registry.info(rule).page))


@each_rule()
def test_code_name_family_and_file_agree(rule: type[Rule]) -> None:
    assert re.fullmatch(r"DLL[1-6]\d\d", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    assert not rule.name.startswith(("no-", "use-", "avoid-")), "a name says what is wrong, read after `ignore`"
    package, folder, module = rule.__module__.rsplit(".", 2)
    assert package == "dllint_rules"
    assert folder == FAMILIES[rule.code[3]]
    assert module == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"


@pytest.mark.parametrize("info", registry.infos(), ids=lambda info: info.code)
def test_a_summary_says_in_one_phrase_what_is_wrong(info: registry.RuleInfo) -> None:
    assert re.fullmatch(r"(?!an? |the )([a-z`]|[A-Z]{2})[^\n|]*[^.\s]", info.summary), (
        "no article, no capital, no full stop"
    )
    assert len(info.summary) <= LONGEST_SUMMARY


@each_rule()
def test_metadata_is_well_formed(rule: type[Rule]) -> None:
    assert rule.fixable in {"never", "sometimes", "always"}
    assert rule.status in {"stable", "preview", "deprecated"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)
    assert rule.__doc__, "a rule's class says in its docstring what it looks for"
    overrides = rule.fix is not Rule.fix
    assert overrides or rule.fixable == "never", "fixable without a fix method"


def test_names_are_unique() -> None:
    names = [info.name for info in registry.infos()]
    assert len(names) == len(set(names))


@each_rule()
def test_the_page_has_the_fixed_headings(rule: type[Rule]) -> None:
    page = page_of(rule)
    assert page.title == f"{rule.name} ({rule.code})"
    first = next(section for section in page.sections if section.level == 1)
    paragraphs = [text for text in "\n".join(first.prose).split("\n\n") if text.strip()]
    assert len(paragraphs) == 1, "one paragraph below the title"
    assert not first.blocks
    assert [section.title for section in page.sections if section.level == 2] == HEADINGS
    assert max(section.level for section in page.sections) <= 3
    for section, following in zip(page.sections, (*page.sections[1:], None), strict=True):
        filled = any(line.strip() for line in section.prose) or (following and following.level > section.level)
        assert section.level < 2 or filled, f"nothing below the heading `{section.title}`"


@each_rule()
def test_the_page_shows_a_finding_and_a_quiet_case(rule: type[Rule]) -> None:
    page = page_of(rule)
    reports = [case for case in page.cases if any(e.code == rule.code for e in case.expectations)]
    assert reports, "no example that reports"
    assert any(expectation.text for case in reports for expectation in case.expectations), "no message is checked"
    assert any(not case.expectations for case in page.cases), "no quiet example"
    assert any(case.diff for case in page.cases) == (rule.fixable != "never"), (
        "a diff block exactly when it can be fixed"
    )


def test_every_page_in_the_rulebook_belongs_to_a_rule() -> None:
    known = {Path(registry.info(rule).page).resolve() for rule in RULES}
    assert {path.resolve() for path in rulebook.PACKAGE.rglob("dll*.md")} == known


@pytest.mark.parametrize("info", registry.DIAGNOSTICS, ids=lambda info: info.code)
def test_the_tools_own_diagnostics_have_pages(info: registry.RuleInfo) -> None:
    assert rulebook.title(Path(info.page)) == f"{info.name} ({info.code})"


@pytest.mark.parametrize(
    ("file", "text"),
    [(rulebook.INDEX, rulebook.index), (rulebook.README, rulebook.readme), (rulebook.SITE, rulebook.site)],
)
def test_the_tables_are_up_to_date(file: Path, text: Callable[[], str]) -> None:
    if os.environ.get("DLLINT_UPDATE"):
        file.write_text(text(), encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text(), "renew it with DLLINT_UPDATE=1 pytest tests/test_rulebook.py"
