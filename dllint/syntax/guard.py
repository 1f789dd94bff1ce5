"""Limits that keep parsers alive, LibCST's above all.

LibCST's parser recurses in native code and dies with a segmentation fault, not an exception, on expressions that nest
too deeply; long chains cost it quadratic time, large tables gigabytes. So the text is looked at first: one regex splits
it at lines that surely begin a statement, and only a file with a suspiciously long or dense piece is looked at closely.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from dllint.syntax.literals import blank_literals

MAX_TEXT = 8_000_000
"""Characters of a file that are looked at."""
MAX_CHARACTERS = 1_500_000
"""Of a file that Python's parser is given, without strings and comments: 0.3 KiB of memory each."""
MAX_TREE = 500_000
"""Of one that LibCST's is given, large literals shortened: 1 to 1.5 KiB and 15 µs each."""
MAX_BRACKETS = 200
"""Nested brackets; CPython's own limit."""
MAX_CHAIN = 2_000
"""Operators, attributes, calls and adjacent strings of one expression. The parser dies at about 8,000 to 12,000 in
8 MiB of stack (it gets 64 MiB here) and takes 1.3 s for these."""
MAX_WORK = 3 * MAX_CHAIN**2
"""Sum of the squares of the lengths of a file's chains: about 4 s."""
MAX_ELIFS = 1_000

_STATEMENT = re.compile(
    r"\n[ \t]*(?:def|class|return|import|raise|assert|while|with|try|pass|del|global|continue|break)\b"
)
"""No expression has a line that begins like this, so no chain goes on past it."""
_BORDERS = ("\ndef ", "\nclass ", "\n    def ", "\n    return ", "\n        return ")
"""The most frequent of these lines."""
_LINKS = 12_000
_LONG_PIECE = 1_000
_TABLE_PIECE = 16_000
_DENSE = re.compile(r"[\[({.+*/%&|^<>~@\"'-]|\b(?:and|or|not|if|lambda|await|for)\b")
_MANY = 400

_TRIPLE = "[^{0}\\\\]*(?:(?:\\\\[\\s\\S]|{0}(?!{0}{0}))[^{0}\\\\]*)*"
_SINGLE = "[^{0}\\\\\\r\\n]*(?:\\\\(?:\\r\\n|[\\s\\S])[^{0}\\\\\\r\\n]*)*"
_NO_CODE = re.compile(
    r"#[^\r\n]*|"
    + "|".join(f"{mark * 3}{_TRIPLE.format(mark)}(?:{mark * 3})?" for mark in "\"'")
    + "|"
    + "|".join(f"{mark}{_SINGLE.format(mark)}{mark}?" for mark in "\"'")
)
"""Comments and strings."""

_TOKEN = re.compile(
    r"""
      (?P<comment> \#[^\r\n]* )
    | (?P<string> \"{3}(?:[^"\\]|\\[\s\S]|\"(?!\"\"))*(?:\"{3})? | '{3}(?:[^'\\]|\\[\s\S]|'(?!''))*(?:'{3})?
                | "(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*"? | '(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*'? )
    | (?P<joined> \\(?:\r\n|[\r\n]) )
    | (?P<newline> \r\n|[\r\n] )
    | (?P<open> [\[({] )
    | (?P<close> [\])}] )
    | (?P<reset> [,;] | (?<![=!<>:+*/%&|^@-])=(?!=) )
    | (?P<dot> \.(?!\d) )
    | (?P<operator> \*\*|//|<<|>>|[<>=!]=|->|[-+*/%&|^~@<>] | \b(?:and|or|not|if|lambda|await|for)\b )
    """,
    re.VERBOSE,
)


class NotParsed(Exception):
    """A file without a tree. `row` and `column` count from 1; `kind` is "syntax" or "limits".

    `python` names the Python that the place is written for, if that is another one than the parser knows.
    """

    def __init__(self, message: str, row: int, column: int, kind: str, python: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column
        self.kind = kind
        self.python = python


def guard(text: str, most: int = MAX_TREE) -> str:
    """The text to parse: the same, or one of the same length with shortened literals. Raises NotParsed."""
    refuse_larger(text, MAX_CHARACTERS)  # to find the literals takes a parse
    borders = [0, *(match.start() for match in _STATEMENT.finditer(text)), len(text)]
    long = [(start, end) for start, end in pairwise(borders) if end - start > _LONG_PIECE]
    if any(end - start > _TABLE_PIECE for start, end in long):
        text = blank_literals(text)
    refuse_larger(text, most)
    if any(len(_DENSE.findall(text, start, end)) > _MANY for start, end in long):
        _check_nesting(text)
    if text.count("elif") > MAX_ELIFS:
        _check_elifs(text)
    return text


def lenient_guard(text: str) -> str:
    """The same for Python's own parser, which looks closely only at what may be long enough to hurt it.

    It bounds its recursion by itself, but for chains on Python 3.10, which fill 1 MiB of stack with 12,000 links. These
    take two characters each, and so does what is worth blanking.
    """
    harmless = len(text) <= MAX_CHARACTERS and _borders_within(text, 2 * _LINKS)
    return text if harmless else guard(text, MAX_CHARACTERS)


def refuse_larger(text: str, most: int) -> None:
    """Raise NotParsed for more characters of code than that."""
    size = len(text)
    if most < size <= MAX_TEXT:
        size = len(_NO_CODE.sub("'", "".join(text.split(" " * 1000))))
    if size > most:
        raise NotParsed(f"too large ({size / 1e6:.1f} million characters)", 1, 1, "limits")


def _borders_within(text: str, reach: int) -> bool:
    """Whether no piece without a line that surely begins a statement is longer than that."""
    at = 0
    while len(text) - at > reach:
        at = max(text.rfind(word, at + 1, at + reach) for word in _BORDERS)
        if at < 0:
            return False
    return True


def _check_nesting(text: str) -> None:
    """Bound what the parser recurses over: brackets, and the length of chains in and around them."""
    chains = [[0, 0]]  # for every open bracket: binary operators, and trailers of the present operand
    total = work = 0
    for match in _TOKEN.finditer(text):
        kind, top = match.lastgroup, chains[-1]
        if kind == "open":
            top[1] += 1
            total += 1
            chains.append([0, 0])
        elif kind in ("dot", "string"):
            top[1] += 1
            total += 1
        elif kind == "operator":
            total += 1 - top[1]
            work += top[1] ** 2
            top[0], top[1] = top[0] + 1, 0
        elif kind in ("close", "reset") or (kind == "newline" and len(chains) == 1):
            total -= top[0] + top[1]
            work += top[0] ** 2 + top[1] ** 2
            top[:] = 0, 0
            if kind == "close" and len(chains) > 1:
                chains.pop()
        if len(chains) > MAX_BRACKETS + 1 or total > MAX_CHAIN or work > MAX_WORK:
            raise _too_deep(text, match.start())


def _check_elifs(text: str) -> None:
    """Bound the number of `elif`s in one statement: each is nested in the one before."""
    counts: Counter[str] = Counter()
    for match in re.finditer(r"^([ \t\f]*)(if|elif)\b", text, re.MULTILINE):
        counts[match[1]] = counts[match[1]] + 1 if match[2] == "elif" else 0
        if counts[match[1]] > MAX_ELIFS:
            raise _too_deep(text, match.start(2))


def _too_deep(text: str, offset: int) -> NotParsed:
    before = re.split(r"\r\n|\n|\r", text[:offset])
    return NotParsed("an expression or statement nests too deeply", len(before), len(before[-1]) + 1, "limits")
