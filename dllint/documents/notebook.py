"""A notebook as a source: its Python cells joined to one module."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from functools import cached_property

from dllint.documents.cells import Cell, cells
from dllint.documents.magics import mask
from dllint.documents.splice import places, spliced
from dllint.source import Part, Source, Span, Unreadable

_BETWEEN = "\n"
"""An empty line that belongs to no cell: it separates what is inserted below a cell's last line from what is inserted
above the next one's first."""


class Notebook(Source):
    """The code of a notebook. `text` is what Python would see, without the magics; `raw` the whole JSON.

    In `text` and in its parts every cell ends with a newline, whether its author wrote one or not.
    """

    def __init__(self, path: str, raw: str, bom: bool = False) -> None:
        language, every = cells(raw)
        self.raw = raw
        self._cells: list[Cell] = []
        parts: list[Part] = []
        masked: list[Span] = []
        text = ""
        for cell in every:
            seen = mask(cell.text) if cell.kind == "code" and cell.language in ("", "python") else None
            if seen is None or not _is_python(language):
                continue
            text += _BETWEEN if text else ""
            start = len(text)
            self._cells.append(cell)
            parts.append(Part(Source(path, f"{cell.text}\n"), start, cell.number))
            masked += [Span(start + span.start, start + span.end) for span in seen.spans]
            text += f"{seen.text}\n"
        super().__init__(path, text, bom=bom)
        self.masked = tuple(masked)
        self._parts = tuple(parts) or (Part(Source(path, ""), 0),)

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Notebook:
        """A notebook's file. Raises Unreadable."""
        bom = data.startswith(codecs.BOM_UTF8)
        try:
            return cls(path, data.decode("utf-8-sig"), bom)
        except UnicodeDecodeError as error:
            raise Unreadable(f"the notebook is not valid UTF-8: {error.reason} at offset {error.start}") from None

    def encode(self) -> bytes:
        return (codecs.BOM_UTF8 if self.bom else b"") + self.raw.encode()

    @property
    def parts(self) -> tuple[Part, ...]:
        return self._parts

    @cached_property
    def file(self) -> Source:
        return Source(self.path, self.raw, bom=self.bom)

    def in_file(self, offset: int) -> int:
        part = self.part(offset)
        cell = next((cell for cell in self._cells if cell.number == part.cell), None)
        if cell is None:
            return 0
        known = places(self.raw[cell.start : cell.end])
        return cell.start + known[min(offset - part.start, len(known) - 1)]

    def rewritten(self, texts: Sequence[str]) -> Notebook:
        changed = [(cell, text.removesuffix("\n")) for cell, text in zip(self._cells, texts, strict=False)]
        return Notebook(self.path, spliced(self.raw, changed), self.bom)


def _is_python(language: str) -> bool:
    """Whether a kernel speaks Python; those that do not say do."""
    return not language or language.startswith(("python", "ipython"))


def compose(codes: Sequence[tuple[str, str, str]]) -> bytes:
    """The file of a notebook with these cells: kind (`code` or `markdown`), language and text of each."""
    made = [
        {"cell_type": kind, "metadata": {"vscode": {"languageId": language}} if language else {}, "source": text}
        for kind, language, text in codes
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
