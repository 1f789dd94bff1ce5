"""Rule pages and the table of rules, for `dllint rule`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dllint.rule import RuleInfo


def text(info: RuleInfo) -> str:
    """A rule's page as Markdown, its metadata below the title."""
    title, _, rest = _page(info).partition("\n")
    return f"{title}\n\n*{status(info)}*\n{rest}"


def status(info: RuleInfo) -> str:
    """A rule's metadata in one line."""
    default = "on by default" if info.default else "opt-in"
    return f"{info.severity.value} · {default} · fix: {info.fixable} · {info.status} since {info.since}"


def record(info: RuleInfo, site: str) -> dict[str, Any]:
    """A rule as an object for programs; `site` is the address of the documentation, or ""."""
    return {
        "code": info.code,
        "name": info.name,
        "family": info.family,
        "summary": info.summary,
        "severity": info.severity.value,
        "default": info.default,
        "fixable": info.fixable,
        "status": info.status,
        "since": info.since,
        "url": info.url(site) or None,
        "explanation": _page(info),
    }


def introduction(info: RuleInfo) -> str:
    """The text between a page's title and its first heading, as one paragraph."""
    body = _page(info).partition("\n")[2].partition("\n## ")[0]
    return " ".join(body.split())


def _page(info: RuleInfo) -> str:
    try:
        return Path(info.page).read_text(encoding="utf-8")
    except OSError:
        return f"# {info.code} {info.name}\n\n{info.summary}.\n"


def table(infos: Iterable[RuleInfo]) -> str:
    """One line a rule."""
    rows = [(info.code, info.name, info.summary, "" if info.default else "(opt-in)") for info in infos]
    width = max(len(name) for _, name, _, _ in rows)
    return "".join(
        f"{code}  {name.ljust(width)}  {' '.join((said, mark)).strip()}\n" for code, name, said, mark in rows
    )


def show(markdown: str) -> None:
    """Write Markdown to a terminal, rendered."""
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(markdown))
