"""What columns, keys and attributes hold, by their names: text, or something else that is an object of its own."""

from __future__ import annotations

import re

_TEXT = re.compile(
    r"(?:^|_)(?:path|file|fname|filename|filepath|img|image|url|uri|caption|text|sentence|title|name)s?(?:_|$)"
    r"(?!.*(?:id|idx|num|size))",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"(?:^|_)(?:id|uid|uuid|key)s?(?:_|$)", re.IGNORECASE)


def means_text(name: str) -> bool:
    """Whether text stands under a name."""
    return bool(_TEXT.search(name))


def means_text_or_identifier(name: str) -> bool:
    """Whether text, or an identifier, stands under a name: another object for each item, whichever it is."""
    return means_text(name) or bool(_IDENTIFIER.search(name))
