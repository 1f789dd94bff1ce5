"""A log as programs write it: any amount of bytes, to lines without colors and carriage returns."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

LONGEST = 4000
"""Characters of a line that are looked at; what follows counts as another line."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-Z\\-_])")
_QUOTES = {"\u2018": "'", "\u2019": "'"}


def texts(chunks: Iterable[bytes]) -> Iterator[str]:
    """The log's text in pieces that end with a line, in the encoding that its first bytes announce."""
    decoder: codecs.IncrementalDecoder | None = None
    rest = ""
    for chunk in chunks:
        decoder = decoder or codecs.getincrementaldecoder(_encoding(chunk))("replace")
        text = rest + _plain(decoder.decode(chunk))
        cut = max(text.rfind("\n"), text.rfind("\r")) + 1
        if not cut and len(text) > LONGEST:
            cut = len(text)  # an escape sequence that is cut in two stays in the text: no harm
        rest = text[cut:]
        if cut:
            yield _stripped(text[:cut])
    if rest:
        yield _stripped(rest)


def lines(text: str) -> Iterator[str]:
    """The lines of a piece, as long as they may be. A progress bar that is drawn again is a line of its own."""
    for line in re.split(r"\r\n|\n|\r", text):
        for start in range(0, len(line) or 1, LONGEST):
            yield line[start : start + LONGEST]


def _encoding(start: bytes) -> str:
    """Redirected output of PowerShell is UTF-16; everything else is taken for UTF-8."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def _plain(text: str) -> str:
    for fancy, plain in _QUOTES.items():
        if fancy in text:
            text = text.replace(fancy, plain)
    return text


def _stripped(text: str) -> str:
    """Without what a terminal would not show."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
