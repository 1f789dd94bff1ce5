"""What READMEs say about data: the largest public data set that one names.

Only those count that the walk would not leave out, regular files of a bounded size.
"""

from __future__ import annotations

import contextlib
import os
import re

from dllint.benchmarks import ITEMS, data_sets
from dllint.config import Configs
from dllint.files.walk import left_out
from dllint.reading import contents

_NAME = re.compile(r"readme(?:\.(?:md|markdown|rst|txt))?", re.IGNORECASE)
_OF_DATA = re.compile(r"data|corpus|corpora|benchmark|download", re.IGNORECASE)
"""Where the name of a data set is one, in its paragraph or the heading: `Cornell` alone is a university."""
_BLOCK = re.compile(r"\n[ \t]*\n|\n(?=#)")
_HEADING = re.compile(r"#+ .*|.*\n[=~-]{3,}")
_LARGEST = 1 << 18
"""Bytes; a longer page holds data."""
_ENTRIES = 2_000
"""A folder with more entries holds data."""

Named = tuple[str, str, int]
"""A README by its path, a public data set, and the number of its items."""


def largest_named(configs: Configs, folder: str) -> Named | None:
    """The largest public data set that the README in a folder names, if it names any as data."""
    for path in _readmes(configs, folder):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = contents(os.path.join(configs.root, path), _LARGEST).decode("utf-8-sig")
            name = _largest(text)
            if name:
                return path, name, ITEMS[name]
    return None


def _readmes(configs: Configs, folder: str) -> list[str]:
    place = os.path.join(configs.root, folder)
    try:
        names = [] if folder and left_out(configs, place) else os.listdir(place)
    except OSError:
        return []
    found = sorted(name for name in names if _NAME.fullmatch(name)) if len(names) <= _ENTRIES else []
    paths = [f"{folder}/{name}" if folder else name for name in found]
    return [path for path in paths if not left_out(configs, os.path.join(configs.root, path))]


def _largest(text: str) -> str:
    found: set[str] = set()
    heading, as_data = "", False
    for block in _BLOCK.split(text):
        title = _HEADING.match(block)
        heading = title[0] if title else heading
        names = {name for line in block.splitlines() for name in data_sets(line)}
        as_data = as_data or bool(names and _OF_DATA.search(heading + block))
        found |= names
    return max(found, key=lambda name: (ITEMS[name], name)) if as_data else ""
