"""A notebook's JSON, read with the place of every cell's code.

The standard parser does not say where things are, so it is led from key to key, and each value is decoded once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from dllint.source import Unreadable

_SPACE = re.compile(r"[ \t\r\n]*")
_VALUE = json.JSONDecoder()
_Read = Callable[[str, str, int], tuple[Any, int]]
"""What to make of the value of a key that begins at an offset, and where the value ends."""


class Cell(NamedTuple):
    """A cell: its kind, its text, and the position in the JSON of the value that holds the text."""

    number: int
    """From 1."""
    kind: str
    language: str
    """That of the cell alone, as some editors note it, else ""."""
    text: str
    start: int
    end: int


def cells(raw: str) -> tuple[str, list[Cell]]:
    """The language and the cells of a notebook of format 4. Raises Unreadable."""
    try:
        table, end = _object(raw, skip(raw, 0), _top)
        if raw[end:].strip():
            raise json.JSONDecodeError("Extra data", raw, skip(raw, end))
    except json.JSONDecodeError as error:
        why = f"{error.msg} (line {error.lineno}, column {error.colno})"
        raise Unreadable(f"the notebook is not valid JSON: {why}") from None
    except RecursionError:
        raise Unreadable("the notebook's JSON is nested too deeply") from None
    except ValueError as error:  # a number of more digits than Python takes
        raise Unreadable(f"the notebook's JSON cannot be read: {error}") from None
    version, found = table.get("nbformat"), table.get("cells")
    if version != 4 or not isinstance(found, list):
        has = f"nbformat {version}" if isinstance(version, int) else "no nbformat"
        raise Unreadable(f"not a notebook of format 4: it has {has if version != 4 else 'no cells'}")
    return _language(table.get("metadata")), [_cell(number, cell) for number, cell in enumerate(found, start=1)]


def _language(metadata: Any) -> str:
    """What the kernel speaks, in lower case; "" where the notebook does not say."""
    for table, key in (("language_info", "name"), ("kernelspec", "language")):
        named = metadata.get(table) if isinstance(metadata, dict) else None
        if isinstance(named, dict) and isinstance(named.get(key), str):
            return str(named[key]).lower()
    return ""


def _cell(number: int, table: dict[str, tuple[Any, int, int]]) -> Cell:
    kind, metadata, source = (table.get(key, ("", 0, 0)) for key in ("cell_type", "metadata", "source"))
    editor = metadata[0].get("vscode") if isinstance(metadata[0], dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    lines = source[0] if isinstance(source[0], list) else [source[0]]
    if not all(isinstance(line, str) for line in lines):
        raise Unreadable(f"not a notebook of format 4: the source of cell {number} is not text")
    return Cell(number, str(kind[0]), str(language or ""), "".join(lines), *source[1:])


def _top(raw: str, key: str, at: int) -> tuple[Any, int]:
    if key != "cells" or raw[at : at + 1] != "[":
        return _VALUE.raw_decode(raw, at)
    found = []
    at = _expect(raw, at, "[")
    while raw[at : at + 1] != "]":
        table, at = _object(raw, at, _placed)
        found.append(table)
        at = _next(raw, at, "]")
    return found, at + 1


def _placed(raw: str, key: str, at: int) -> tuple[Any, int]:
    value, end = _VALUE.raw_decode(raw, at)
    return (value, at, end), end


def _object(raw: str, at: int, read: _Read) -> tuple[dict[str, Any], int]:
    """The object that begins at an offset, and where it ends."""
    table = {}
    at = _expect(raw, at, "{")
    while raw[at : at + 1] != "}":
        key, end = _VALUE.raw_decode(raw, at)
        if not isinstance(key, str):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", raw, at)
        table[key], at = read(raw, key, _expect(raw, skip(raw, end), ":"))
        at = _next(raw, at, "}")
    return table, at + 1


def _next(raw: str, at: int, closing: str) -> int:
    """Where the next entry begins, or the closing bracket."""
    at = skip(raw, at)
    if raw[at : at + 1] == closing:
        return at
    at = _expect(raw, at, ",")
    if raw[at : at + 1] == closing:
        raise json.JSONDecodeError("Illegal trailing comma", raw, at)
    return at


def _expect(raw: str, at: int, character: str) -> int:
    if raw[at : at + 1] != character:
        raise json.JSONDecodeError(f"Expecting {character!r}", raw, at)
    return skip(raw, at + 1)


def skip(raw: str, at: int) -> int:
    """The offset of what comes after the blanks."""
    match = _SPACE.match(raw, at)
    assert match is not None
    return match.end()


def strings(value: str) -> list[tuple[int, int]]:
    """Where the strings of a cell's source begin and end, quotes included: one, or a list of them."""
    if not value.startswith("["):
        return [(0, len(value))]
    found = []
    at = _expect(value, 0, "[")
    while value[at : at + 1] != "]":
        end = _VALUE.raw_decode(value, at)[1]
        found.append((at, end))
        at = _next(value, end, "]")
    return found
