"""What a row of the table of messages says, and how a wording becomes something to search for."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import NamedTuple

_BLANKS: dict[str, str] = {
    "name": r"[^'\"\n]{1,300}?",
    "function": r"[^\s:']{1,300}",
    "module": r"[\w.]{1,200}",
    "type": r"[\w.<>]{1,200}",
    "class": r"\w{1,100}",
    "number": r"-?\d{1,20}",
    "variable": r"\w{1,100}",
    "file": r"[^>\n]{0,200}",
    "any": r".{0,200}?",
}
"""What a `{blank}` of a wording matches. Bounded, so that a line is searched in linear time."""
_BLANK = re.compile(r"\{(\w+)\}")
_WORDS = re.compile(r"\s+")


class Role(str, Enum):
    """How much a message says. Those are explained that say most of what a log has; the others follow from them.

    A cause names what is wrong, a consequence says what came of it, a sign is left behind by many things.
    """

    CAUSE = "cause"
    CONSEQUENCE = "consequence"
    SIGN = "sign"


class Message(NamedTuple):
    """An error text: what it means, which rules know its causes, what else to look at.

    `wordings` are texts as programs print them, from the oldest to the newest, each a part of one line; what varies is
    a `{blank}`. `rules` are the codes whose findings can be the cause, the most frequent first. `checks` are the
    commands of dllint to run when the project shows no cause. `source` says where the wordings were read or seen.
    A wording that means many things counts only where the traceback, if there is one, `passes` through such a file;
    none counts where it passes through a file of `elsewhere`.
    """

    key: str
    wordings: tuple[str, ...]
    happened: str
    where: str
    look: str
    source: str
    rules: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    role: Role = Role.CAUSE
    passes: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


@cache
def pattern(wording: str) -> re.Pattern[str]:
    """The regular expression of a wording; blanks are its groups."""
    pieces = _BLANK.split(wording)
    literal = [_WORDS.sub(r"\\s+", re.escape(piece).replace(r"\ ", " ")) for piece in pieces[::2]]
    last = len(pieces) // 2 - 1 if not pieces[-1] else -1
    blanks = [f"(?P<{name}>{_blank(name, number == last)})" for number, name in enumerate(pieces[1::2])]
    return re.compile("".join(part for pair in zip(literal, [*blanks, ""], strict=True) for part in pair))


def _blank(name: str, last: bool) -> str:
    """A blank at the end takes what it can get."""
    return _BLANKS[name].removesuffix("?") if last else _BLANKS[name]


@cache
def needle(wording: str) -> str:
    """The longest text that every occurrence of a wording has in it, for a quick look."""
    return max(_BLANK.split(wording)[::2], key=len)
