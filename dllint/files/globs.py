"""Patterns as in .gitignore, compiled so that no pattern takes more than its length times that of the path.

What a `*` or `**` matches is decided once, as short as the text behind it allows: another choice would match nothing
more. So expressions are written without any choice to come back to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

_NEVER = "(?!)"
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "a-fA-F0-9",
}
_CLASS = re.compile(r"\[([!^]?)(\]?(?:\[:[^\]\[]*:\]|\\.|[^\]\\])*)\]", re.DOTALL)
_MEMBER = re.compile(r"\[:(?P<named>[^\]\[]*):\]|\\?(?P<low>.)(?:-\\?(?P<high>.))?", re.DOTALL)


class Glob(NamedTuple):
    """One pattern. `covers`: False for those that begin with `!`, which take back what others cover."""

    matches: re.Pattern[str]
    folders: bool
    """It is about folders alone."""
    covers: bool


class Spec:
    """The patterns of one file, in their order: the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._globs = [glob for glob in map(compiled, lines) if glob][::-1]

    def verdict(self, path: str, folder: bool) -> bool | None:
        """True: covered, False: taken back, None: not mentioned. The path is relative, with forward slashes."""
        for glob in self._globs:
            if (folder or not glob.folders) and glob.matches.match(path):
                return glob.covers
        return None

    def covers(self, path: str, folder: bool) -> bool:
        """Whether a path, or a folder that contains it, is covered."""
        own = self.verdict(path, folder)
        if own is not None:
            return own
        parents = [path[:index] for index, character in enumerate(path) if character == "/"]
        return next((glob.covers for glob in self._globs if any(map(glob.matches.match, parents))), False)


def compiled(line: str) -> Glob | None:
    """The pattern that a line of an ignore file is; None for a comment, or what matches nothing."""
    text = _stripped(line)
    covers = not text.startswith("!")
    text = text if covers else text[1:]
    if (covers and text.startswith("#")) or not text.strip("/"):
        return None
    segments = text.removesuffix("/").split("/")
    if len(segments) == 1:
        segments.insert(0, "**")
    elif not segments[0]:
        del segments[0]
    return Glob(re.compile(_path(segments), re.DOTALL), text.endswith("/"), covers)


def _stripped(line: str) -> str:
    """The line without the blanks at its end, but for one behind a backslash."""
    text = line.rstrip(" ")
    backslashes = len(text) - len(text.rstrip("\\"))
    return f"{text} " if backslashes % 2 and len(text) < len(line) else text


def _path(segments: list[str]) -> str:
    """An expression for a whole path. Between two `**` stand segments that follow each other."""
    names = (f"g{number}" for number in count())
    chunks: list[list[str]] = [[]]
    for segment in segments:
        if len(segment) > 1 and not segment.strip("*"):
            chunks.append([])
        else:
            chunks[-1].append(_segment(segment, names))
    first, *others = chunks
    if not others:
        return "/".join(first) + r"\Z"
    found = "".join(f"{segment}/" for segment in first)
    *inner, last = others
    for chunk in inner:
        if chunk:
            found += _shortest("(?:[^/]*/)*?" + "".join(f"{segment}/" for segment in chunk), names)
    return found + (rf"(?:.*/)?{'/'.join(last)}\Z" if last else r".+\Z")


def _segment(text: str, names: Iterator[str]) -> str:
    """An expression for one name of a path."""
    pieces = [""]
    at = 0
    while at < len(text):
        character = text[at]
        if character == "*":
            pieces += [""] if at == 0 or text[at - 1] != "*" or pieces[-1] else []
            at += 1
            continue
        piece, at = _single(text, at)
        pieces[-1] += piece
    first, *others = pieces
    if not others:
        return first
    *inner, last = others
    whole = not any(pieces)
    return (
        first + "".join(_shortest(f"[^/]*?{piece}", names) for piece in inner) + ("[^/]+" if whole else "[^/]*") + last
    )


def _single(text: str, at: int) -> tuple[str, int]:
    """An expression for what is at an offset and matches one character, and its end."""
    match text[at]:
        case "?":
            return "[^/]", at + 1
        case "\\":
            return (re.escape(text[at + 1]), at + 2) if at + 1 < len(text) else (_NEVER, at + 1)
        case "[":
            found = _CLASS.match(text, at)
            return (_class(*found.groups()), found.end()) if found else (_NEVER, len(text))
    return re.escape(text[at]), at + 1


def _class(negated: str, members: str) -> str:
    """An expression for a set of characters; of a range that runs backwards git takes the first one."""
    parts = []
    for member in _MEMBER.finditer(members):
        named, low, high = member["named"], member["low"], member["high"]
        if named is not None and named not in _CLASSES:
            return _NEVER
        if named is not None:
            parts.append(_CLASSES[named])
        elif high is None:
            parts.append(re.escape(low))
        else:
            parts += [re.escape(low), *([f"{re.escape(low)}-{re.escape(high)}"] if low <= high else [])]
    if negated:
        return f"(?!/)[^{''.join(parts)}]" if parts else "[^/]"
    return f"(?!/)[{''.join(parts)}]" if parts else _NEVER


def _shortest(expression: str, names: Iterator[str]) -> str:
    """What an expression matches first, and no other choice (an atomic group, which Python has from 3.11 on)."""
    name = next(names)
    return f"(?=(?P<{name}>{expression}))(?P={name})"
