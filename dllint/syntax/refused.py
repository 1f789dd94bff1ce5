"""Why something cannot be moved: what stands in the way, in words."""

from __future__ import annotations


class Refused(Exception):
    """A fix would not mean the same; the message ends the sentence "it stays, as ..."."""
