"""The site's view of rules: the line below a page's title, and the list of all rules with what a reader filters by."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from dllint import engine, registry
from dllint.engine import Request
from dllint.registry import Layer, RuleInfo
from dllint.report import page
from dllint.testing import pages
from dllint.testing.pages import Case

METHODS = ("fork", "spawn", "forkserver")
METHODS_NOTE = "*Start method*: where the hazard shows. *any*: under all of them, or whatever the start method is."
HEAD = "| code | what | severity | fix | default | start method |\n|---|---|---|---|---|---|"
_TABLE = re.compile(r"^\| code \| name \|.*\n\|[-|]+$", re.MULTILINE)
_ROW = re.compile(
    r"^\| (?P<link>\[(?P<code>DLL\d{3})\]\(.*?\)) \| (?P<name>`.*?`) \| (?P<what>.*) \| (?P<severity>\w+)"
    r" \| (?P<fix>\w*) ?\| (?P<default>[\w-]+) \| \w+ \| [\d.]+ \|$",
    re.MULTILINE,
)


def statuses(root: Path) -> dict[str, bytes]:
    """The pages of rules as `dllint rule` prints them, by their paths in the repository."""
    found = {}
    for info in registry.infos():
        place = Path(info.page).resolve()
        if place.is_relative_to(root):
            found[place.relative_to(root).as_posix()] = page.text(info).encode()
    return found


def index(text: str) -> str:
    """The list of all rules, with the start methods under which each hazard shows; `site.js` adds the filters."""
    known = registry.by_code()

    def row(match: re.Match[str]) -> str:
        cells = (
            match["link"],
            f"{match['name']}<br>{match['what']}",
            match["severity"],
            match["fix"] or "no",
            match["default"],
            _where(known[match["code"]]),
        )
        return f"| {' | '.join(cells)} |"

    before, first, after = _ROW.sub(row, _TABLE.sub(HEAD, text)).partition("## ")
    return f"---\nhide: [toc]\n---\n\n{before}{METHODS_NOTE}\n\n{first}{after}"


def _where(info: RuleInfo) -> str:
    """Start methods in words; a hazard of all of them, or one that has nothing to do with them, shows under any."""
    found = methods(info)
    return ", ".join(found) if 0 < len(found) < len(METHODS) else "any"


def methods(info: RuleInfo) -> tuple[str, ...]:
    """The start methods under which something goes wrong in the programs of a rule's page, as the rule says itself."""
    if info in registry.DIAGNOSTICS:
        return ()
    failing = {
        method
        for case in pages.read(Path(info.page)).cases
        if any(expected.code == info.code for expected in case.expectations)
        for outcomes in _outcomes(case, info.code)
        for method, outcome in outcomes.items()
        if outcome != "ok"
    }
    return tuple(method for method in METHODS if method in failing)


def _outcomes(case: Case, code: str) -> list[dict[str, str]]:
    """What a rule's findings in a case say of start methods."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"dllint.toml": case.config, **case.files}.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        result = engine.check(Request(paths=(folder,), layer=Layer(extend_select=(code,))))
    return [finding.outcomes for finding, _ in result.findings if finding.code == code]
