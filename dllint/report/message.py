"""The parts of a finding's message: what it is, where it fails, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LITERAL = re.compile(r"`[^`]*`")


def parts(message: str) -> Iterator[str]:
    """A message in its parts: `what: where it fails; the remedy`. Text in backquotes separates nothing."""
    plain = _LITERAL.sub(lambda match: "x" * len(match[0]), message)
    colon, semicolon = plain.find(": "), plain.rfind("; ")
    cuts = [cut for cut in (colon, semicolon) if cut >= 0]
    start = 0
    for cut in sorted(cuts):
        yield message[start:cut]
        start = cut + 2
    yield message[start:]


def problem_and_remedy(message: str) -> tuple[str, str]:
    """A message without its remedy, and the remedy; "" if the message has none."""
    remedy = list(parts(message))[-1]
    problem = message.removesuffix(f"; {remedy}")
    return (problem, remedy) if problem != message else (message, "")
