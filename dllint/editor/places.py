"""Offsets in a source, and positions as editors count them: rows from 0, columns in code units."""

from __future__ import annotations

from lsprotocol.types import Position, PositionEncodingKind, Range

from dllint.source import Part, Span

Encoding = PositionEncodingKind | str

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Places:
    """Positions in the encoding that a client and this server have agreed upon."""

    def __init__(self, encoding: Encoding) -> None:
        self._codec, self._unit = _CODECS[str(getattr(encoding, "value", encoding))]

    def position(self, part: Part, offset: int) -> Position:
        """Where an offset of the whole file is in a part of it."""
        row, column = part.location(offset)
        line = part.source.row_span(row)
        before = part.source.text[line.start : line.start + column - 1]
        return Position(row - 1, len(before.encode(self._codec, "surrogatepass")) // self._unit)

    def range(self, part: Part, span: Span) -> Range:
        """A span as a range; what reaches over the end of the part ends there."""
        last = part.start + len(part.source.text)
        return Range(self.position(part, span.start), self.position(part, min(span.end, last)))

    def offset(self, part: Part, position: Position) -> int:
        """The offset of the whole file that a position in a part of it means; beyond a line's end is its end."""
        row = min(position.line + 1, len(part.source.line_starts))
        line = part.source.row_span(row)
        text = part.source.text[line.start : line.end].encode(self._codec, "surrogatepass")
        before = text[: position.character * self._unit].decode(self._codec, "ignore")
        return part.start + line.start + len(before)
