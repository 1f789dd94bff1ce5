"""Limits that keep LibCST alive: it ends in a segmentation fault, or takes minutes, where a file nests too deeply."""

from __future__ import annotations


class NotParsed(Exception):
    """A file without a tree. `row` and `column` count from 1; `kind` is "syntax" or "limits"."""

    def __init__(self, message: str, row: int, column: int, kind: str) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column
        self.kind = kind


def guard(text: str) -> str:
    """The text to parse: the same, or one of the same length. Raises NotParsed."""
    return text
