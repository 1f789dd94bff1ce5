"""The links of Markdown pages, and those that lead nowhere, on GitHub or on the site.

Both views show the same files, but they name headings differently where those repeat or hold dashes between blanks.
A link to a heading must be right in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

_FENCE = re.compile(r" *(?P<ticks>`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(
    r"\]\((?P<inline>[^)\s]+)(?: \"[^\"]*\")?\)|^\[[^]]+\]: *(?P<reference>\S+)|(?:src|href)=\"(?P<html>[^\"]+)"
)
_HEADING = re.compile(r"#{1,6} +(?P<title>.*?) *#*$")
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


class Link(NamedTuple):
    """A link within the repository: a path (empty for the page itself) and an anchor (empty for the page's top)."""

    line: int
    path: str
    anchor: str


def links(text: str) -> list[Link]:
    """The links of a page that lead to files, not to addresses."""
    found = []
    for number, line in prose(text):
        for match in _LINK.finditer(_CODE.sub("", line)):
            target = match["inline"] or match["reference"] or match["html"]
            if not _OUTSIDE.match(target):
                path, _, anchor = target.partition("#")
                found.append(Link(number, unquote(path), anchor))
    return found


def anchors(text: str) -> set[str]:
    """What a link may say after `#`: names of headings that GitHub and MkDocs agree on."""
    titles = [match["title"] for _, line in prose(text) if (match := _HEADING.match(line))]
    plain = [re.sub(r"\]\([^)]*\)|[`*\[\]]", "", title).lower() for title in titles]
    github = [re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in plain]
    mkdocs = [re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title, flags=re.ASCII).strip()) for title in plain]
    return {name for name in github if github.count(name) == 1} & set(mkdocs)


def broken(page: Path, root: Path) -> list[str]:
    """What is wrong with the links of a page, as `path:line: what`."""
    text = page.read_text(encoding="utf-8")
    return [
        f"{page.relative_to(root).as_posix()}:{link.line}: {wrong}"
        for link in links(text)
        if (wrong := _wrong(link, page, root))
    ]


def _wrong(link: Link, page: Path, root: Path) -> str:
    target = (page.parent / link.path).resolve() if link.path else page
    if not target.is_relative_to(root):
        return f"{link.path} is outside of the repository"
    if not target.is_file():
        return f"no file {link.path}"
    if link.anchor and target.suffix == ".md" and link.anchor not in anchors(target.read_text(encoding="utf-8")):
        return f"no heading #{link.anchor} in {target.name} that GitHub and MkDocs agree on"
    return ""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines outside of fenced code and comments."""
    fence = ""
    blank = re.sub(r"<!--.*?-->", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    for number, line in enumerate(blank.split("\n"), start=1):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match["ticks"].startswith(fence) else fence
        elif match:
            fence = match["ticks"]
        else:
            yield number, line
