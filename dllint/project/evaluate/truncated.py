"""Where an answer ends because of a limit, and which limit that is: nothing behind it is certain."""

from __future__ import annotations

import msgspec


class Truncated(msgspec.Struct, frozen=True):
    """The one limit that an answer has met."""

    reason: str
    """What is more than is followed: the end of a sentence for `--why`."""
