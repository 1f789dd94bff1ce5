"""A source file: its bytes, the text decoded from them, and where lines begin."""

from __future__ import annotations

import codecs
import hashlib
import io
import re
import tokenize
from bisect import bisect_right
from functools import cached_property

import msgspec


class Span(msgspec.Struct, frozen=True, order=True, array_like=True):
    """A half-open range of character offsets in the decoded text."""

    start: int
    end: int


class Unreadable(Exception):
    """The bytes are no Python text; the message says why."""


class Source:
    """One file's text. `path` is relative to the project's root, with forward slashes; the text has no BOM."""

    def __init__(self, path: str, text: str, encoding: str = "utf-8", bom: bool = False) -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.bom = bom

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Source:
        """Decode as Python would: BOM, then coding cookie, then UTF-8. Raises Unreadable."""
        if b"\0" in data[:4096]:
            raise Unreadable("looks like a binary file (it has a NUL byte)")
        bom = data.startswith(codecs.BOM_UTF8)
        body = data[len(codecs.BOM_UTF8) :] if bom else data
        encoding = "utf-8"
        try:
            if b"coding" in b"".join(body.split(b"\n", 2)[:2]):
                encoding = tokenize.detect_encoding(io.BytesIO(body).readline)[0]
            return cls(path, body.decode(encoding), encoding, bom)
        except (SyntaxError, LookupError) as error:
            raise Unreadable(str(error)) from None
        except UnicodeDecodeError as error:
            byte = body[error.start]
            raise Unreadable(
                f"is not valid {encoding}: byte 0x{byte:02x} at offset {error.start} (no coding comment?)"
            ) from None

    def encode(self, text: str) -> bytes:
        """The bytes of another text in this file's encoding. Raises UnicodeEncodeError."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)

    @cached_property
    def newline(self) -> str:
        """The newline that the file's first line ends with."""
        first = re.search(r"\r\n|\n|\r", self.text)
        return first.group() if first else "\n"

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line starts; lines end where Python's tokenizer ends them."""
        return [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self.text))]

    def location(self, offset: int) -> tuple[int, int]:
        """Row and column of an offset, both from 1, columns in characters."""
        row = bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1

    def row_span(self, row: int) -> Span:
        """The span of a line, without its newline. Rows count from 1."""
        start = self.line_starts[row - 1]
        end = self.line_starts[row] if row < len(self.line_starts) else len(self.text)
        return Span(start, start + len(self.text[start:end].rstrip("\r\n")))

    def line(self, row: int) -> str:
        """The text of a line, without its newline. Rows count from 1."""
        span = self.row_span(row)
        return self.text[span.start : span.end]


def digest(data: bytes) -> bytes:
    """What a content is known by."""
    return hashlib.blake2b(data, digest_size=16).digest()
