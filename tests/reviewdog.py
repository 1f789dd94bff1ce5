"""What reviewdog does with a suggestion, after its documentation of the format: lines and columns of UTF-8 bytes."""

from __future__ import annotations

from typing import Any


def applied(data: bytes, suggestion: dict[str, Any]) -> bytes:
    """The file after one suggestion."""
    place = suggestion["range"]
    start, end = _offset(data, place["start"]), _offset(data, place["end"])
    assert start <= end
    return data[:start] + suggestion["text"].encode("utf-8") + data[end:]


def text(data: bytes, place: dict[str, Any]) -> str:
    """What a range holds."""
    return data[_offset(data, place["start"]) : _offset(data, place["end"])].decode("utf-8")


def _offset(data: bytes, point: dict[str, int]) -> int:
    lines = data.split(b"\n")
    line, column = point["line"] - 1, point["column"] - 1
    assert 0 <= line < len(lines), f"there is no line {point['line']}"
    assert 0 <= column <= len(lines[line]), f"line {point['line']} has no column {point['column']}"
    return sum(len(before) + 1 for before in lines[:line]) + column
