"""Why something cannot be moved: the obstacle, in words."""

from __future__ import annotations

from dllint.source import Source


class Refused(Exception):
    """A fix would not mean the same; the message ends the sentence "it stays, as ..."."""


def unfaithful(source: Source) -> str:
    """Why LibCST would not print a file back as it is."""
    if "\r" in source.text.replace("\r\n", ""):
        return "lines of this file end with carriage returns alone"
    if any("\f" in source.text[span.start : span.end] for span in source.masked):
        return "a cell of this notebook is indented as a whole"
    if "\f" in source.text:
        return "this file has form feeds, which would be lost"
    return "this file cannot be written back just as it is"
