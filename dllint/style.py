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
_HOOK = r"id:\s*(?:black|ruff-format|ufmt)\b"
_ITS_OWN = r"(?:(?!\bid:)[\s\S])*?"
"""The text of a hook up to its next part."""
_COMMAND = (
    r"(?m:^[ \t@-]*(?:(?:run|command):[ \t]*)?(?:.*(?:&&|;|\s-m)[ \t]*)?(?:black|ruff[ \t]+format)[ \t]+(?![\s=<>!~]))"
)
"""Where a line of a script or of what is run for each change formats the files."""
_COMMANDS = ("Makefile", "tox.ini", ".travis.yml", ".circleci/config.yml", ".github/workflows")
_Told = tuple[tuple[str, str, str, int], ...]
_TOLD: _Told = (
    ("pyproject.toml", r"tool\.ruff", r"line-length\s*=\s*(\d+)", _FORMATTED),
    ("ruff.toml", "", r"line-length\s*=\s*(\d+)", _FORMATTED),
    (".ruff.toml", "", r"line-length\s*=\s*(\d+)", _FORMATTED),
    ("pyproject.toml", r"tool\.black", r"line[-_]length\s*=\s*(\d+)", _FORMATTED),
    ("pyproject.toml", r"tool\.yapf", r"column_limit\s*=\s*[\"']?(\d+)", 79),
    (".style.yapf", "style", r"column_limit\s*[=:]\s*(\d+)", 79),
    ("setup.cfg", "yapf", r"column_limit\s*[=:]\s*(\d+)", 79),
    (".pre-commit-config.yaml", "", rf"{_HOOK}{_ITS_OWN}--line-length[=\s\"',]+(\d+)", 0),
    (".pre-commit-config.yaml", "", rf"{_HOOK}{_ITS_OWN}[\"'\s\[]-l[=\s\"',]*(\d+)", 0),
    *((file, "", rf"{_COMMAND}[^\n]*?(?<=\s)(?:-l|--line-length)[=\s]*(\d+)", 0) for file in _COMMANDS),
)
"""Files of formatters, their sections, how the length is written there, and what holds where only the section is."""
_CHECKED: _Told = (
    *(
        (file, section, r"max[-_]line[-_]length\s*[=:]\s*(\d+)", 0)
        for file in (".flake8", "setup.cfg", "tox.ini")
        for section in ("flake8", "pycodestyle")
    ),
    (".pre-commit-config.yaml", "", rf"id:\s*flake8\b{_ITS_OWN}--max-line-length[=\s\"',]+(\d+)", 0),
    *((".editorconfig", section, r"max_line_length\s*=\s*(\d+)", 0) for section in (_PYTHON, r"\*")),
)
"""The same of what only checks it."""
_SORTED: _Told = (
    ("pyproject.toml", r"tool\.isort", r"line_length\s*=\s*(\d+)", 0),
    ("setup.cfg", "(?:tool:)?isort", r"line_length\s*=\s*(\d+)", 0),
    (".isort.cfg", "(?:settings|isort)", r"line_length\s*=\s*(\d+)", 0),
)
"""The same of what only sorts imports, which says little of other lines."""
_READ = dict.fromkeys(file for file, *_ in (*_TOLD, *_CHECKED, *_SORTED))
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
    texts = {file: _text(os.path.join(folder, file)) for file in _READ}
    named = _section(texts["pyproject.toml"], r"tool\.ruff\.format") or _section(texts["ruff.toml"], "format")
    quote = _QUOTES.search(named)
    return Style(_width(texts), _MARKS[quote[1]] if quote else "")


def _width(texts: dict[str, str]) -> int:
    """What a formatter is told, or takes unless a checker wants lines to be shorter; else what the checker is told."""
    told, checked = (next(_widths(texts, table), 0) for table in (_TOLD, _CHECKED))
    hook = re.search(_HOOK, texts[".pre-commit-config.yaml"])
    formats = hook or any(re.search(_COMMAND, texts[file]) for file in _COMMANDS)
    usual = min(checked or _FORMATTED, _FORMATTED) if formats else checked
    return told or usual or next(_widths(texts, _SORTED), 0)


def _widths(texts: dict[str, str], table: _Told) -> Iterator[int]:
    """What is written comes first: a section of Ruff without a length may be about what it checks."""
    found = [(_section(texts[row[0]], row[1]) if row[1] else texts[row[0]], row) for row in table]
    yield from (int(match[1]) for text, row in found if (match := re.search(row[2], text)))
    yield from (row[3] for text, row in found if text and row[3])


def _section(text: str, name: str) -> str:
    """The lines below a section's header, with the header; "" where there is none."""
    match = re.search(rf"(?ms)^[ \t]*\[{name}\].*?(?=^[ \t]*\[|\Z)", text)
    return match[0] if match else ""


def _text(place: str) -> str:
    """The text of a file, or of the YAML in a folder; "" where there is none."""
    try:
        if os.path.basename(place) == "workflows":
            found = sorted(name for name in os.listdir(place) if name.endswith((".yml", ".yaml")))
            return "\n".join(_text(os.path.join(place, name)) for name in found)
        return contents(place).decode("utf-8", "replace")
    except OSError:
        return ""
