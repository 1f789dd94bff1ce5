"""What an editor shows beside the pointer: a finding or a rule in a few lines, and where the page is."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from dllint.finding import Finding
from dllint.fix import Applicability, Fix
from dllint.registry import RuleInfo
from dllint.report import message, page

_OUTCOMES = {
    "exception": "stops with an exception",
    "hang": "hangs",
    "corrupt": "gives wrong data",
    "bloat": "uses more memory",
    "ok": "works",
}


def address(info: RuleInfo, site: str = "") -> str:
    """Where a rule's page is, on the documentation's site if it has an address; "" where there is none."""
    return info.url(site) or (Path(info.page).as_uri() if os.path.exists(info.page) else "")


def finding(found: Finding, info: RuleInfo, fix: Fix | None) -> str:
    """What it is, where it fails, the remedy, and a link."""
    lines = [*message.parts(found.message), *_outcomes(found.outcomes)]
    if fix is not None and fix.edits:
        trust = "" if fix.applicability is Applicability.SAFE else f" ({fix.applicability.label})"
        lines.append(f"Quick fix: {fix.title}{trust}")
    return f"{_title(info)} · {found.severity.value}\n\n{_list(lines)}{_link(info)}"


def rule(info: RuleInfo) -> str:
    """What a rule is about, and a link."""
    return f"{_title(info)} · {page.status(info)}\n\n{page.introduction(info)}\n{_link(info)}"


def _title(info: RuleInfo) -> str:
    return f"**{info.code}** {info.name}"


def _list(lines: list[str]) -> str:
    return "".join(f"* {line[:1].upper()}{line[1:]}\n" for line in lines)


def _link(info: RuleInfo) -> str:
    where = address(info)
    return f"\n[Why, examples, and what the fix changes]({where})" if where else ""


def _outcomes(outcomes: Mapping[str, str]) -> Iterator[str]:
    """What happens under each start method."""
    methods: dict[str, list[str]] = defaultdict(list)
    for method, outcome in sorted(outcomes.items()):
        methods[_OUTCOMES.get(outcome, outcome)].append(method)
    if methods:
        yield "; ".join(f"{' and '.join(names)}: {what}" for what, names in methods.items())
