"""A small prose linter: `python -m docs.wording` lists wording in pages, messages and help texts that reviews rejected.

Most of it reads as translated. The list is short on purpose, so that each entry is worth a failure.
`tests/test_words.py` runs it.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs.links import prose
from docs.site import ROOT, pages

PLACE = "(?:in|on|under|at|above|below|beside|between|there|before|behind|outside)"
INSTEAD = {
    r", says? (?:the|an?|its?) ": "put the subject before the verb",
    r"\bfor ever\b": "forever",
    r"\bnothing but\b": "only",
    r"\bhangs? on (?:it|them|nothing|what|the)\b": "depends on",
    r"\bwho(?:so)?ever\b": "name the person: users who ...",
    r"\b(?:anew|afresh)\b": "again",
    r"\botherwise than\b": "differs from",
    r"\bin vain\b": "say what does not happen",
    r"\b(?:lets?|letting) go of\b": "release",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|such\b|other\b|better\b|worse\b)[a-z]+": "is not a",
    r"[,:;] for (?:it|they|there|nobody|nothing) ": "because",
    rf"\b(?:stands?|stood|standing) {PLACE}\b": "is",
    rf"\b(?:lies|lay|lie) {PLACE}\b": "is",
    r"\bheld against\b": "compared with",
    r"\bby way of\b": "because of, through",
    r"\bseldom\b": "rarely",
    r"\b(?:is|are|was|were) told(?! apart)\b": "is reported",
    r"\btold of\b": "reported",
    r"\b[Ss]omebody\b|\b[Nn]obody\b": "name the program or person, or use the passive",
    r"\b[Nn]eed (?:be|not)\b": "do not need to",
    r"\b(?:obviously|basically|simply|of course)\b": "leave it out",
    r"\bnot un(?:common|usual|like|known|likely)\w*": "say it without the double negation",
    r"\b[Ss]et-up\b|\b[Ss]tart-up\b|\b[Ll]ook-up\b": "setup, startup, lookup",
    r"\b\w*(?:analyse\b|analys(?:ed|er|ing)|behaviour|colour|initialis|recognis|serialis|normalis|summaris|optimis|organis"
    r"|neighbour|favourit|catalogue|labelled\b|cancelled|judgement)\w*\b": "American spelling",
}  # fmt: skip
"""What not to write, as regular expressions, and what to write instead."""
MESSAGES = ("dllint/**/*.py", "rules/dllint_rules/**/*.py")
"""Sources whose strings are read by users."""
_PATTERNS = [(re.compile(pattern), remedy) for pattern, remedy in INSTEAD.items()]
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|\]\([^)]*\)")


class Wrong(NamedTuple):
    """A wording that is on the list."""

    place: str
    words: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.words!r}: {self.remedy}"


def check(place: str, text: str) -> Iterator[Wrong]:
    """The listed wordings in a piece of prose."""
    plain = _CODE.sub("`x`", text)
    for pattern, remedy in _PATTERNS:
        for match in pattern.finditer(plain):
            yield Wrong(place, match[0].strip(), remedy)


def in_page(name: str, text: str) -> Iterator[Wrong]:
    """The listed wordings in a page, outside code."""
    for number, line in prose(text):
        yield from check(f"{name}:{number}", line)


def in_messages(name: str, text: str) -> Iterator[Wrong]:
    """The listed wordings in the strings of a source, except docstrings."""
    described = {
        node.body[0].value.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node) is not None
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and token.start[0] not in described and " " in token.string:
            yield from check(f"{name}:{token.start[0]}", token.string)


def everything(root: Path = ROOT) -> Iterator[Wrong]:
    """The listed wordings in all pages and messages."""
    for page in pages(root):
        yield from in_page(page.relative_to(root).as_posix(), page.read_text(encoding="utf-8"))
    for source in sorted({path for pattern in MESSAGES for path in root.glob(pattern)}):
        yield from in_messages(source.relative_to(root).as_posix(), source.read_text(encoding="utf-8"))


if __name__ == "__main__":
    found = list(everything())
    print(*found, sep="\n")
    sys.exit(bool(found))
