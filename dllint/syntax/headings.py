"""Comments that head what is below them, such as banners, and the definitions that they are about."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from itertools import takewhile

from dllint.source import Source
from dllint.syntax.outline import outline

Rows = tuple[int, int]
"""The first and the last row of some lines."""

_FOR_TOOLS = re.compile(
    r"#\s*(?:%%|!|-\*-|vim?:|noqa|region\b|endregion\b|(?:fmt|ruff|pylint|isort|yapf|mypy|type):)", re.IGNORECASE
)
"""Comments that mean something to editors, formatters and checkers where they stand."""
_RULER = re.compile(r"^#[ \t]*([#=*~_-])\1{3,}", re.MULTILINE)
_KIND = re.compile(r"\b(?:class|function)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_STEM = 4
"""Letters that words of one stem have in common."""


def with_headings(source: Source, row: int) -> int:
    """The row where the headings above a row begin; the row itself where there are none."""
    while found := _heading_above(source, row):
        row = found[0]
    return row


def banner_above(source: Source, row: int) -> Rows | None:
    """The banner that nothing but empty lines part from a row."""
    found = _heading_above(source, row)
    return found if found is not None and _is_banner(source, found) else None


def comment_naming(source: Source, row: int, name: str) -> Rows | None:
    """The comment, no banner, that nothing but empty lines part from a row, where it has the name of what is there."""
    found = _heading_above(source, row)
    if found is None or _is_banner(source, found):
        return None
    said = "\n".join(source.line(at) for at in range(found[0], found[1] + 1))
    return found if re.search(rf"\b{re.escape(name)}\b", said) else None


def is_of_one(source: Source, banner: Rows) -> bool:
    """Whether a banner is about one definition, not a section: it calls what is below it a class, or a function."""
    return any(_KIND.search(source.line(row)) for row in range(banner[0], banner[1] + 1))


def _heading_above(source: Source, row: int) -> Rows | None:
    """The comment that ends above a row, with nothing but empty lines between, where it is about what is below."""
    last = row - 1
    while last > 0 and not source.line(last).strip():
        last -= 1
    first = _begin(source, last)
    begins_file = all(line.startswith("#") or not line.strip() for line in map(source.line, range(1, first)))
    if first > last or begins_file or not _is_heading(source, first, last):
        return None
    return first, last


def _begin(source: Source, last: int) -> int:
    """The row where a comment at the margin begins, by its last row."""
    return last + 1 - len(list(takewhile(lambda row: source.line(row).startswith("#"), range(last, 0, -1))))


def _is_heading(source: Source, first: int, last: int) -> bool:
    """Whether a comment is a banner, or words of their own: no code that is commented out, and nothing for tools."""
    lines = [source.line(row) for row in range(first, last + 1)]
    if any(map(_FOR_TOOLS.match, lines)):
        return False
    alone = first > 1 and not source.line(first - 1).strip()
    return _is_banner(source, (first, last)) or (alone and not any(map(is_code, lines)))


def _is_banner(source: Source, lines: Rows) -> bool:
    return _RULER.search("\n".join(source.line(row) for row in range(lines[0], lines[1] + 1))) is not None


def is_code(comment: str) -> bool:
    """Whether a comment is a statement that does something, such as a call."""
    try:
        (node,) = ast.parse(comment.lstrip("# \t")).body
    except (SyntaxError, ValueError):
        return False
    kinds = (ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom)
    return isinstance(node, kinds) or isinstance(getattr(node, "value", None), ast.Call)


def banners_of(source: Source, definitions: Sequence[tuple[str, Rows]], top: int) -> dict[Rows, Rows]:
    """For definitions, by name and rows, the banners that other statements part from them but that tell their names.

    None from above the row `top`, and each for the first definition that it is about.
    """
    found: dict[Rows, Rows] = {}
    inside = {row for _, lines in definitions for row in range(lines[0], lines[1] + 1)}
    between = _between(source)
    for name, lines in definitions:
        above = (row for row in range(lines[0] - 1, top - 1, -1) if row in between)
        banner = next((banner for row in above if (banner := _banner_at(source, row))), None)
        if banner and inside.isdisjoint(banner) and banner not in found.values() and _tells(source, banner, name):
            found[lines] = banner
    return found


def _between(source: Source) -> set[int]:
    """The rows without any part of a top-level statement."""
    seen = outline(source.text)
    nodes = seen.tree.body if seen is not None else []
    taken = (range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes)
    return set(range(1, len(source.line_starts) + 1)).difference(*taken)


def _banner_at(source: Source, row: int) -> Rows | None:
    """The banner that ends in a row."""
    lines = _begin(source, row), row
    ends = source.line(row).startswith("#") and not source.line(row + 1).startswith("#")
    return lines if ends and _is_banner(source, lines) and _is_heading(source, *lines) else None


def _tells(source: Source, banner: Rows, name: str) -> bool:
    """Whether a banner has every word of a name, if with another ending."""
    said = {word.lower() for row in range(banner[0], banner[1] + 1) for word in _WORD.findall(source.line(row))}
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and all(word in said or (_stem(word) in map(_stem, said)) for word in words)


def _stem(word: str) -> str:
    return word[:_STEM] if len(word) >= _STEM else f"{word} "
