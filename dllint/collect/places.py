"""The positions of expressions in the text. Brackets around an expression, also a tuple or generator, don't count."""

from __future__ import annotations

import ast
import re
import sys

from dllint.syntax.outline import Offsets

_COMMENT = re.compile(r"#[^\r\n]*")
_BLANK = re.compile(r"(?:[\s\\]|#[^\r\n]*)*")
_CLOSING = re.compile(r"[\s)\\]*")
_VAGUE_FSTRINGS = sys.version_info < (3, 12)
"""Python cannot say where in the file an f-string's expressions stand."""


class Places:
    """The places of a text's nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offsets = Offsets(text)
        self.inside: tuple[int, int] | None = None
        """The f-string whose expressions are being looked at, where Python does not say better where they stand."""
        self.simple = self.offsets.simple
        """Where each row starts, when a node's place is no more than that and its column."""

    def enter(self, place: tuple[int, int] | None) -> None:
        """Look at the expressions of an f-string, or of none."""
        if _VAGUE_FSTRINGS:
            self.inside = place
            self.simple = None if place else self.offsets.simple

    def at(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        if self.inside is not None:
            return self._within(node, self.inside)
        return self.offsets.span(node)

    def _within(self, node: ast.expr | ast.stmt, outer: tuple[int, int]) -> tuple[int, int]:
        try:
            start, end = self.offsets.span(node)
        except IndexError:
            return outer
        return (start, end) if outer[0] <= start < end <= outer[1] else outer

    def unwrapped(self, start: int, end: int, last: int) -> tuple[int, int]:
        """The span within a pair of brackets; the innermost expression in them ends at `last`."""
        first = _BLANK.match(self.text, start + 1)
        tail = _without_comments(self.text[last : end - 1])
        return first.end() if first else start + 1, last + len(tail.rstrip(" \t\f\r\n\\"))

    def bracketed(self, node: ast.Tuple) -> bool:
        """Whether the tuple itself is in brackets: `(a, b)`, and not `(a), (b)`."""
        start, end = self.at(node)
        if self.text[start] != "(":
            return False
        if not node.elts:
            return True
        first, last = self.at(node.elts[0])
        if start < first and self.text.startswith(",", last):
            return True  # no bracket closes between the first element and its comma
        closing = _CLOSING.match(_COMMENT.sub("", self.text[last:end]))
        opening = _COMMENT.sub("", self.text[start:first])
        return opening.count("(") > (closing[0].count(")") if closing else 0)

    def closed(self, end: int, following: int) -> int:
        """Where an operand that ends here and its closing brackets are over; the next begins at `following`."""
        return end + _without_comments(self.text[end:following]).rfind(")") + 1


def _without_comments(text: str) -> str:
    """The text with blanks for its comments."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text) if "#" in text else text
