"""Rule pages and the table of rules, for `dllint rule`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from dllint.rule import RuleInfo


def text(info: RuleInfo) -> str:
    """A rule's page as Markdown, its metadata below the title."""
    default = "on by default" if info.default else "opt-in"
    facts = f"*{info.severity.value} · {default} · fix: {info.fixable} · {info.status} since {info.since}*"
    try:
        page = Path(info.page).read_text(encoding="utf-8")
    except OSError:
        page = f"# {info.code} {info.name}\n\n{info.summary}.\n"
    title, _, rest = page.partition("\n")
    return f"{title}\n\n{facts}\n{rest}"


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
