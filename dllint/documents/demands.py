"""What files give to options: numbers in settings in JSON, numbers and texts on command lines.

Command lines are those of scripts, Makefiles, and the code blocks of Markdown and reStructuredText; those that Python
starts are in `launches`. JSON may have comments, as some readers take them; what is no JSON at all has no keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_ENDINGS = (".json", ".sh", ".bash", ".zsh", ".slurm", ".sbatch", ".mk", ".md", ".markdown", ".rst")
_PAGES = (".md", ".markdown", ".rst")
_JSON = (
    r"""(?s)//[^\n]*|/\*.*?(?:\*/|\Z)|(?P<open>[{[])|(?P<close>[\]}])"""
    r"""|"(?P<key>(?:\\.|[^"\\\n])*)(?:"(?:(?P<colon>\s*:)(?:\s*"?(?P<number>\d{1,4})"?(?=\s*(?:[,}\n]|//|/\*)))?)?)?"""
)
"""Comments, brackets and strings, and the numbers of keys; each part matches without an end, so none is tried twice.

These patterns aren't compiled on import: few projects are asked.
"""
_INDENTED = r"(?m)^[ \t]+\S[^\n]*(?:\n[ \t]+\S[^\n]*)*"
_NOTHING = r"[ \t]*(?:#|$)"
_LAUNCHERS = ("torch.distributed.", "accelerate.", "cProfile", "pdb", "debugpy", "coverage")
_VARIABLE = r"\$\{?(\w+)(?::-(\d+))?\}?"


class Demand(NamedTuple):
    """A number that a file gives to an option."""

    path: str
    line: int
    number: int
    script: str
    """The script whose command line has it, or a module's dotted name, as it is written; "" of a key in JSON."""
    keys: tuple[str, ...] = ()
    """The keys of the two mappings around one in JSON, the inner one last; "" in a list."""


class Passed(NamedTuple):
    """A text that a command line gives to an option."""

    path: str
    script: str
    text: str
    words: frozenset[str]
    """The words behind the script: the names of options, and what they are given."""


class Command(NamedTuple):
    """A command line: its words, without quotes, and the offsets in the file where they begin."""

    words: list[str]
    starts: list[int]


def is_asking(name: str) -> bool:
    """Whether a file of a name may say something about options."""
    lower = name.lower()
    return lower.endswith(_ENDINGS) or lower == "makefile"


def demands(path: str, text: str, names: frozenset[str]) -> Iterator[Demand]:
    """The numbers in a file for any of some names: keys, options with their dashes, and what overrides settings.

    `workers=` means what a command line gives to a setting of this name, in whatever section: `data.workers=4`.
    """
    lower = path.lower()
    if lower.endswith(".json"):
        yield from _in_json(path, text, names)
        return
    yield from demanded(path, text, _all_commands(text, lower), names)


def _in_json(path: str, text: str, names: frozenset[str]) -> Iterator[Demand]:
    keys: list[str] = []
    key = ""
    for match in re.finditer(_JSON, text):
        if match["open"]:
            keys.append(key)
            key = ""
        elif match["close"]:
            del keys[-1:]
        elif match["colon"]:
            key = match["key"]
            if match["number"] and key in names:
                line = text.count("\n", 0, match.start()) + 1
                yield Demand(path, line, int(match["number"]), "", tuple(keys[1:][-2:]))


def passed(path: str, text: str, names: frozenset[str]) -> Iterator[Passed]:
    """The texts that command lines in a file give to an option that has some names."""
    lower = path.lower()
    yield from given(path, _all_commands(text, lower) if not lower.endswith(".json") else (), names)


def demanded(path: str, text: str, commands: Iterable[Command], names: frozenset[str]) -> Iterator[Demand]:
    """The numbers that command lines in a file's text give to any of some names."""
    for words, starts in commands:
        place = _script(words)
        for at, value in _given(words, place, names):
            number = _number(value, text)
            if number is not None:
                yield Demand(path, text.count("\n", 0, starts[at]) + 1, number, words[place])


def given(path: str, commands: Iterable[Command], names: frozenset[str]) -> Iterator[Passed]:
    """The texts that command lines give to any of some names."""
    for words, _ in commands:
        place = _script(words)
        others = frozenset(part for word in words[place + 1 :] for part in word.split("=", 1))
        for _, value in _given(words, place, names):
            yield Passed(path, words[place], value, others)


def _all_commands(text: str, path: str) -> Iterator[Command]:
    """The commands in a file."""
    for start, end in _code(text, path):
        yield from commands(text, start, end)


def commands(text: str, start: int, end: int) -> Iterator[Command]:
    """The commands between two offsets."""
    for command in _commands(text, start, end):
        words = [word.group().replace('"', "").replace("'", "") for word in command]
        yield Command(words, [word.start() for word in command])


def _code(text: str, path: str) -> Iterator[tuple[int, int]]:
    """Where a file has command lines."""
    if not path.endswith(_PAGES):
        yield 0, len(text)
        return
    from dllint.documents.containers.markdown import BLOCK  # most projects are never asked

    for block in re.finditer(_INDENTED if path.endswith(".rst") else BLOCK, text):
        fence = block.groupdict().get("fence")
        yield block.span("fenced") if fence else block.span()


def _commands(text: str, start: int, end: int) -> Iterator[list[re.Match[str]]]:
    """The words of each command between two offsets."""
    from dllint.documents.containers.commands import GAP, LINE, WORD

    at, nothing = start, re.compile(_NOTHING)
    while at < end:
        line = LINE.match(text, at, end)
        assert line is not None
        stop = line.end()
        words: list[re.Match[str]] = []
        while at < stop and not (not words and nothing.match(text, at, stop)):
            gap = GAP.match(text, at, stop)
            word = WORD.match(text, gap.end() if gap else at, stop)
            if word is not None and word.group().startswith("#"):
                break
            if word is not None:
                words.append(word)
            elif words:
                yield words
                words = []
            at = word.end() if word is not None else (gap.end() if gap else at) + 1
        if words:
            yield words
        at = stop + 1


def _given(words: list[str], place: int, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """What a command gives, behind its script, to an option, and where."""
    for at in range(place + 1, len(words) if place >= 0 else 0):
        word = words[at]
        name, _, value = word.partition("=")
        if word in names:
            value = "".join(words[at + 1 : at + 2])
        elif name not in names and f"{name.lstrip('+').rpartition('.')[2]}=" not in names:
            if word[:2] not in names:
                continue
            value = word[2:]  # `-j8`
        yield at, value


def _script(words: list[str]) -> int:
    """The position of the script or module that a command runs, or -1."""
    for place, word in enumerate(words):
        if word.endswith(".py") and not word.startswith("-"):
            return place
        if word in ("-m", "--module") and place + 1 < len(words) and not words[place + 1].startswith(_LAUNCHERS):
            return place + 1
    return -1


def _number(value: str, text: str) -> int | None:
    variable = re.fullmatch(_VARIABLE, value)
    if variable is not None:
        assigned = re.search(rf"^[ \t]*(?:export[ \t]+)?{variable[1]}=[\"']?(\d+)\b", text, re.MULTILINE)
        value = assigned[1] if assigned else variable[2] or ""
    return int(value) if value.isdecimal() and len(value) < 5 else None
