"""A source file: its bytes, the text decoded from them, and where lines begin."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

import msgspec

try:  # where hashlib has it from, which loads OpenSSL for its other hashes: a thirtieth of a short run
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


_ASCII = "a..b-c +AGE- ~{ \\n \\x41 \\u0041\n"
"""Plain text that escapes of odd encodings occur in (UTF-7, HZ, Punycode, IDNA, `unicode_escape`)."""


class Span(msgspec.Struct, frozen=True, order=True, array_like=True):
    """A half-open range of character offsets in the decoded text."""

    start: int
    end: int


class Unreadable(Exception):
    """The bytes aren't Python text; the message says why."""


class Part(NamedTuple):
    """What is shown and edited by itself: a whole file, or a cell of a notebook.

    It begins at offset `start` of the file's text; offsets inside are the same but for that, while the text here is as
    its author sees it. Cells count from 1, those without code too.
    """

    source: Source
    start: int
    cell: int | None = None

    def location(self, offset: int) -> tuple[int, int]:
        """Row and column within this part of an offset of the whole file."""
        return self.source.location(offset - self.start)


class Source:
    """One file's text. `path` is relative to the project's root, with forward slashes; the text has no BOM."""

    masked: Sequence[Span] = ()
    """The parts of the text that replace something that isn't Python, and must stay."""
    width = 0
    """How long its lines may be, where its project says so."""
    quote = ""
    """The mark that strings begin with, where its project says so."""

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
                encoding = _declared(body)
            return cls(path, body.decode(encoding), encoding, bom)
        except (SyntaxError, LookupError) as error:
            raise Unreadable(str(error)) from None
        except UnicodeDecodeError as error:
            byte = body[error.start]
            raise Unreadable(
                f"is not valid {encoding}: byte 0x{byte:02x} at offset {error.start} (no coding comment?)"
            ) from None
        except UnicodeError as error:
            raise Unreadable(f"is not valid {encoding}: {error}") from None

    def encode(self) -> bytes:
        """The file's bytes. Raises UnicodeEncodeError."""
        return (codecs.BOM_UTF8 if self.bom else b"") + self.text.encode(self.encoding)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The pieces that are shown and edited by themselves, in order; never none."""
        return (Part(self, 0),)

    @property
    def file(self) -> Source:
        """The text on disk: if Python is wrapped in something else, that."""
        return self

    def in_file(self, offset: int) -> int:
        """The offset in `file` of an offset in this text."""
        return offset

    def part(self, offset: int) -> Part:
        """The part that an offset belongs to."""
        parts = self.parts
        return parts[max(bisect_right(parts, offset, key=lambda part: part.start) - 1, 0)]

    def rewritten(self, texts: Sequence[str]) -> Source:
        """The file with other texts for its parts, one for each."""
        return Source(self.path, texts[0], self.encoding, self.bom)

    def place(self, offset: int) -> str:
        """`row:column` of an offset, in a notebook `cell N:row:column`."""
        part = self.part(offset)
        row, column = part.location(offset)
        return f"{row}:{column}" if part.cell is None else f"cell {part.cell}:{row}:{column}"

    @cached_property
    def newline(self) -> str:
        """The newline that the file's first line ends with."""
        first = re.search(r"\r\n|\n|\r", self.text)
        return first.group() if first else "\n"

    @property
    def unit(self) -> str:
        """One level of its indentation."""
        return indentation(self.text)[0] or "    "

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line starts; lines end where Python's tokenizer ends them."""
        return line_starts(self.text)

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


_REWRITING = re.compile(rb"\A((?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*)future[-_](?:fstrings|annotations)\b")
"""The declaration of a codec that is UTF-8, but for new syntax that it writes as older Pythons have it."""


def _declared(body: bytes) -> str:
    """The encoding that a file declares. Raises SyntaxError, LookupError, UnicodeError and Unreadable.

    One in which plain ASCII means something else makes other lines of a file than readers see, or cannot write it back.
    """
    encoding = tokenize.detect_encoding(io.BytesIO(_REWRITING.sub(rb"\1utf-8", body, count=1)).readline)[0]
    try:
        plain = _ASCII.encode(encoding) == _ASCII.encode("ascii") and _ASCII.encode("ascii").decode(encoding) == _ASCII
    except UnicodeError:
        plain = False
    if not plain:
        raise Unreadable(f"is in {encoding}, an encoding that no program can be in: it gives ASCII another meaning")
    return encoding


def line_starts(text: str) -> list[int]:
    """The offset at which each line of a text starts."""
    starts = list(accumulate(map(len, io.StringIO(text, newline="")), initial=0))
    if len(starts) > 1 and text[-1] not in "\r\n":
        starts.pop()
    return starts


def is_notebook(path: str) -> bool:
    """Whether a file is a Jupyter notebook."""
    return path.endswith(".ipynb")


def is_settings(path: str) -> bool:
    """Whether a file may hold settings: YAML, or TOML that isn't known to be for tools."""
    return path.endswith((".yaml", ".yml", ".toml")) and not path.endswith(("pyproject.toml", "dllint.toml"))


def is_template(path: str) -> bool:
    """Whether a file's name is filled in before anybody runs it, as cookiecutter does: it needn't be Python yet."""
    return "{{" in path


def digest(path: str, data: bytes) -> bytes:
    """What a file's content is known by, under whatever name; notebooks and settings mean something else by it."""
    person = b"notebook" if is_notebook(path) else b"settings" if is_settings(path) else b""
    return blake2b(data, digest_size=16, person=person).digest()


def hashed(data: bytes, size: int = 16) -> str:
    """What any bytes are known by, as text."""
    return blake2b(data, digest_size=size).hexdigest()


@lru_cache(maxsize=8)
def indentation(text: str) -> tuple[str, int]:
    """By what most blocks of a text are indented, "" without blocks, and how many are."""
    found: Counter[str] = Counter()
    above = [""]
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.INDENT:
                found[token.string[len(above[-1]) :]] += 1
                above.append(token.string)
            elif token.type == tokenize.DEDENT:
                above.pop()
    except (tokenize.TokenError, SyntaxError):
        pass
    most = max(found, key=found.__getitem__, default="")
    return (most, found[most]) if len(most) <= 8 else ("", 0)
