"""The page of a survey in a real browser: 10,000 sources load, filter and search within a second each.

Needs playwright and a Chromium: `pip install playwright`, and `playwright install chromium` or a system's own.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dllint.survey.page import page
from dllint.survey.totals import totals
from tests import surveys

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.slow
LIMIT_S = 1.0
CHOOSE = """([id, value]) => new Promise(done => {
    const input = document.getElementById(id), began = performance.now();
    input.value = value;
    input.dispatchEvent(new Event("input"));
    requestAnimationFrame(() => setTimeout(() => done((performance.now() - began) / 1000)));
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    with playwright.sync_playwright() as driver:
        system = shutil.which("chromium") or shutil.which("google-chrome")
        try:
            opened = driver.chromium.launch(executable_path=system, args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium: {error}")
        yield opened
        opened.close()


@pytest.mark.parametrize("number", [300, 10_000])
def test_the_page_is_quick_and_agrees_with_the_database(browser: Any, tmp_path: Path, number: int) -> None:
    results = surveys.database(tmp_path / "r.db", number)
    found = totals(results)
    (tmp_path / "p.html").write_bytes(page(results))
    opened = browser.new_page()
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))

    began = time.monotonic()
    opened.goto((tmp_path / "p.html").as_uri())
    opened.wait_for_selector("#list > li")
    assert time.monotonic() - began < LIMIT_S

    def counted(choice: str, value: str) -> tuple[int, int]:
        """The sources and findings that a choice leaves; the choice is taken back."""
        assert opened.evaluate(CHOOSE, [choice, value]) < LIMIT_S
        words = opened.text_content("#count").replace(",", "").split()
        assert opened.evaluate(CHOOSE, [choice, ""]) < LIMIT_S
        return int(words[0]), int(words[2])

    assert counted("query", "") == (found.sources, found.findings)
    assert counted("breaking", "new")[0] == found.breaks_on_314
    for method in found.methods:
        assert counted("breaking", method.name)[0] == method.breaks
    for rule in found.rules:
        assert counted("rule", rule.code) == (rule.sources, rule.findings)
    for kind, sources in found.outcomes.items():
        assert counted("outcome", kind)[0] == sources
    (matching,) = results.rows("SELECT count(*) FROM source WHERE name LIKE '%y-0007%'")[0]
    assert counted("query", "Y-0007")[0] == matching == min(10, max(0, number - 70))
    assert not said


def test_a_finding_has_its_route_and_frame(browser: Any, tmp_path: Path) -> None:
    results = surveys.database(tmp_path / "r.db", 120)
    (tmp_path / "p.html").write_bytes(page(results))
    opened = browser.new_page(viewport={"width": 390, "height": 844})
    opened.goto((tmp_path / "p.html").as_uri())
    name, frame, message = results.rows("SELECT source, frame, message FROM finding ORDER BY source DESC, number")[0]
    opened.fill("#query", name)
    opened.click("#list summary")
    assert opened.text_content("article pre") == frame
    assert message in opened.text_content("article")
    assert opened.locator("article").first.locator("li").count() >= 1
    assert opened.evaluate("document.documentElement.scrollWidth - innerWidth") == 0, "wider than a phone"
    opened.fill("#query", "")
    assert opened.locator("#list > li").count() == 50
    opened.click("#more")
    assert opened.locator("#list > li").count() == 100
    assert opened.evaluate("document.activeElement.tagName") == "SUMMARY"
