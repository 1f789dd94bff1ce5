"""Why something cannot be moved: the obstacle, in words."""

from __future__ import annotations


class Refused(Exception):
    """A fix would not mean the same; the message ends the sentence "it stays, as ..."."""


def unfaithful(text: str) -> str:
    """Why LibCST would not print a file back as it is."""
    if "\r" in text.replace("\r\n", ""):
        return "lines of this file end with carriage returns alone"
    if "\f" in text:
        return "this file has form feeds, which would be lost"
    return "this file cannot be written back just as it is"
