"""Wrap the prose of Markdown pages at 120 columns: `python -m docs.reflow [PAGE...]`, all pages by default.

It changes only paragraphs and list items with a longer line. It leaves code, tables, headings and HTML alone, and never
breaks a line inside a short code span.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from docs.site import ROOT

WIDTH = 120
SHORT = 80
"""Longer code spans may be broken."""
_FENCE = re.compile(r" *(?P<ticks>`{3,}|~{3,})")
_ITEM = re.compile(r"(?P<marker> *(?:[-*+]|\d+\.) +)\S")
_KEPT = re.compile(r" *(?:#{1,6} |\||<|>|!\[|\[[^]]+\]: |---|\{)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_STARTS_A_BLOCK = re.compile(r"(?:[-*+>#|]|\d+\.)(?: |$)")
_GLUE = "\0"
"""Stands for a blank that is no place to break."""


def pages(root: Path = ROOT) -> list[Path]:
    """Every Markdown file of the repository."""
    found = (page for page in root.rglob("*.md") if not page.is_symlink())
    ignored = {"node_modules", "build", "dist", "shared"}
    return sorted(
        page
        for page in found
        if not any(part.startswith(".") or part in ignored for part in page.relative_to(root).parts)
    )


def wrapped(text: str) -> str:
    """The text with its long prose wrapped."""
    return "".join(line for prose, block in _blocks(text) for line in (_wrap(block) if prose else block))


def _blocks(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Paragraphs and list items, which are prose, and every other line alone."""
    block: list[str] = []
    for prose, line in _lines(text):
        if block and (not prose or _ITEM.match(line)):
            yield True, block
            block = []
        if prose:
            block.append(line)
        else:
            yield False, [line]
    if block:
        yield True, block


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is prose: not code, a comment, a table, a heading or HTML."""
    fence, comment = "", False
    for line in text.splitlines(keepends=True):
        ticks = _FENCE.match(line)
        border = ticks is not None and (not fence or line.strip() == fence)
        comment = not fence and (comment or "<!--" in line)
        yield not (border or fence or comment or not line.strip() or _KEPT.match(line)), line
        comment = comment and "-->" not in line
        if ticks is not None and border:
            fence = "" if fence else ticks["ticks"]


def _wrap(block: list[str]) -> list[str]:
    if all(len(line.rstrip("\n")) <= WIDTH for line in block):
        return block
    item = _ITEM.match(block[0])
    first = item["marker"] if item else " " * (len(block[0]) - len(block[0].lstrip()))
    words = " ".join(line.strip() for line in block)[len(first.strip()) :].strip()
    glued = _CODE.sub(lambda code: code[0].replace(" ", _GLUE) if len(code[0]) <= SHORT else code[0], words)
    lines = textwrap.wrap(
        _together(glued), WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace(_GLUE, " ") + "\n" for line in lines]


def _together(text: str) -> str:
    """Keep words that would start a list or a heading with the word before them."""
    words = text.split(" ")
    return "".join(
        (_GLUE if _STARTS_A_BLOCK.match(word) else " ") + word if number else word for number, word in enumerate(words)
    )


def main() -> None:
    """Wrap the named pages, or all of them."""
    for page in [Path(name) for name in sys.argv[1:]] or pages():
        text = page.read_text(encoding="utf-8")
        if (new := wrapped(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(page)


if __name__ == "__main__":
    main()
