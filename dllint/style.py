"""How long a project wants its lines, and which quotes: as its formatters, linters and editors are configured."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from dllint.reading import contents


class Style(NamedTuple):
    """The length of a line (0: not configured) and the mark that strings begin with ("": not configured)."""

    width: int = 0
    quote: str = ""


_FORMATTED = 88
"""What Black and Ruff take where nothing is said."""
_PYTHON = r"[^\]\n]*\.(?:py|\{[^}\n]*\bpy)\b[^\]\n]*"
"""The files that a section of an `.editorconfig` is for."""
_TOLD = (
    ("pyproject.toml", r"tool\.ruff", r"line-length\s*=\s*(\d+)", _FORMATTED),
    ("ruff.toml", "", r"line-length\s*=\s*(\d+)", _FORMATTED),
    (".ruff.toml", "", r"line-length\s*=\s*(\d+)", _FORMATTED),
    ("pyproject.toml", r"tool\.black", r"line[-_]length\s*=\s*(\d+)", _FORMATTED),
    ("pyproject.toml", r"tool\.yapf", r"column_limit\s*=\s*[\"']?(\d+)", 79),
    (".style.yapf", "style", r"column_limit\s*[=:]\s*(\d+)", 79),
    ("setup.cfg", "yapf", r"column_limit\s*[=:]\s*(\d+)", 79),
    (".pre-commit-config.yaml", "", r"id:\s*(?:black|ruff-format)\b[^#]*?--line-length[=\s\"',]+(\d+)", 0),
    (".pre-commit-config.yaml", "", r"id:\s*black\b[^#]*?[\"'\s\[]-l[=\s\"',]*(\d+)", 0),
    *(
        (file, section, r"max[-_]line[-_]length\s*[=:]\s*(\d+)", 0)
        for file in (".flake8", "setup.cfg", "tox.ini")
        for section in ("flake8", "pycodestyle")
    ),
    (".pre-commit-config.yaml", "", r"id:\s*flake8\b(?:(?!\bid:)[\s\S])*?--max-line-length[=\s\"',]+(\d+)", 0),
    *((".editorconfig", section, r"max_line_length\s*=\s*(\d+)", 0) for section in (_PYTHON, r"\*")),
)
"""Files, their sections, how the length is written there, and what holds where only the section is there."""
_FORMATS = re.compile(r"id:\s*(?:black|ruff-format)\b")
_QUOTES = re.compile(r"quote-style\s*=\s*[\"'](single|double)")
_MARKS = {"single": "'", "double": '"'}


def style_of(root: str, path: str) -> Style:
    """What holds for a file, given relative to the root: the nearest folder above it that says something."""
    folder = os.path.dirname(os.path.join(root, path))
    while os.path.normpath(folder).startswith(os.path.normpath(root)):
        found = _said_in(folder)
        if found.width or os.path.dirname(folder) == folder:
            return found
        folder = os.path.dirname(folder)
    return Style()


def _said_in(folder: str) -> Style:
    texts = {file: _text(os.path.join(folder, file)) for file, *_ in _TOLD}
    width = next(_widths(texts), 0)
    hook = _FORMATS.search(texts[".pre-commit-config.yaml"])
    named = _section(texts["pyproject.toml"], r"tool\.ruff\.format") or _section(texts["ruff.toml"], "format")
    quote = _QUOTES.search(named)
    return Style(width or (_FORMATTED if hook else 0), _MARKS[quote[1]] if quote else "")


def _widths(texts: dict[str, str]) -> Iterator[int]:
    for file, section, pattern, usual in _TOLD:
        text = _section(texts[file], section) if section else texts[file]
        match = re.search(pattern, text)
        if match or (text and usual):
            yield int(match[1]) if match else usual


def _section(text: str, name: str) -> str:
    """The lines below a section's header, with the header; "" where there is none."""
    match = re.search(rf"(?ms)^[ \t]*\[{name}\].*?(?=^[ \t]*\[|\Z)", text)
    return match[0] if match else ""


def _text(place: str) -> str:
    try:
        return contents(place).decode("utf-8", "replace")
    except OSError:
        return ""
