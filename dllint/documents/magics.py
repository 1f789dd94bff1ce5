"""What IPython understands and Python does not, masked in a cell by text of the same length.

`%magic`, `!command`, `?help`, `help?` and the automatic calls (`/f x`) become a statement that does nothing and a
comment, `name = %magic` and `name = !command` an unknown value. Offsets, rows and columns stay what they are. `%time x`
runs `x`, so `x` stays. A cell of one line that isn't Python may name a magic without its `%`: `cd ..`.

IPython also takes the indentation that all of a cell has from its lines, in old versions that of its first line. A form
feed, which sets Python's count of columns back to zero, stands at its end.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from dllint.source import Span

_PYTHON = frozenset({
    "capture", "debug", "lprun", "memit", "mprun", "prun", "pyinstrument", "scalene", "snakeviz", "time", "timeit",
})  # fmt: skip
"""Magics that run Python in the kernel."""
_NAMED = frozenset({
    "alias", "autoawait", "autocall", "automagic", "autosave", "bookmark", "cat", "cd", "clear", "code_wrap",
    "colors", "conda", "config", "connect_info", "cp", "debug", "dhist", "dirs", "doctest_mode", "ed", "edit", "env",
    "gui", "hist", "history", "killbgscripts", "ldir", "less", "lf", "lk", "ll", "load", "load_ext", "loadpy",
    "logoff", "logon", "logstart", "logstate", "logstop", "ls", "lsmagic", "lx", "macro", "magic", "mamba", "man",
    "matplotlib", "micromamba", "mkdir", "more", "mv", "notebook", "page", "pastebin", "pdb", "pdef", "pdoc", "pfile",
    "pinfo", "pinfo2", "pip", "popd", "pprint", "precision", "prun", "psearch", "psource", "pushd", "pwd", "pycat",
    "pylab", "qtconsole", "quickref", "recall", "rehashx", "reload_ext", "rep", "rerun", "reset", "reset_selective",
    "rm", "rmdir", "run", "save", "sc", "set_env", "store", "sx", "system", "tb", "time", "timeit", "unalias",
    "unload_ext", "uv", "who", "who_ls", "whos", "xdel", "xmode",
})  # fmt: skip
"""Line magics of IPython and ipykernel: `%lsmagic` lists them. While automagic is on, they need no `%`."""
_ALONE = re.compile(r"(?:[ \t]*\r?\n)*[ \t]*((\w+)[^\r\n]*)(?:\r?\n)?")
"""A cell of one line. IPython removes empty lines above it, not below it."""
_CELL = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*[ \t]*(%%(\w+|!)?[^\r\n]*)")
"""Colab also takes a cell magic below comments, such as the title of a form, for one. IPython refuses the cell."""
_FIRST = re.compile(r"(?:[ \t]*\r?\n)*([ \t]*)")
_FIRST_CODE = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*([ \t]+)(?=[^\s#])")
_TIMED = re.compile(rf"%?(?:{'|'.join(sorted(_PYTHON))})(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]+(?=[^\s%!-])")
_TOKEN = re.compile(
    r"""
      (?P<comment> \#[^\r\n]* )
    | (?P<string> \"{3}(?:[^"\\]|\\[\s\S]|\"(?!\"\"))*(?:\"{3})? | '{3}(?:[^'\\]|\\[\s\S]|'(?!''))*(?:'{3})?
                | "(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*"? | '(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*'? )
    | (?P<joined> \\(?:\r\n|[\r\n]) )
    | (?P<newline> \r\n|[\r\n] )
    | (?P<open> [\[({] )
    | (?P<close> [\])}] )
    | (?P<assigned> (?<![=!<>:+*/%&|^@-])=[ \t]*[%!](?!=) )
    | (?P<help> \? )
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"[ \t]*([%!?,;/])")
_REST = re.compile(r"(?:[^\\\r\n]|\\(?:\r\n|[\r\n])|\\)*")
"""To the end of a line, over lines that a backslash joins to it."""


class Masked(NamedTuple):
    """A cell's code as Python, and the parts that aren't Python."""

    text: str
    spans: tuple[Span, ...]


def mask(text: str) -> Masked | None:
    """A cell's code as Python; None for a cell that is in another language or runs elsewhere (`%%bash`)."""
    masked, first, code = _without_magics(text), _FIRST.match(text), _FIRST_CODE.match(text)
    indented = first is not None and code is not None and first[1].startswith(code[1])
    return _dedented(masked, code[1]) if masked and code and indented else masked


def _dedented(masked: Masked, indent: str) -> Masked:
    """A cell without the indentation that all its code has."""
    found = [Span(*match.span()) for match in re.finditer(rf"^{indent}", masked.text, re.MULTILINE)]
    spans = [span for span in found if not any(magic.start < span.start < magic.end for magic in masked.spans)]
    characters = list(masked.text)
    for span in spans:
        characters[span.end - 1] = "\f"
    return Masked("".join(characters), tuple(sorted([*spans, *masked.spans])))


def _without_magics(text: str) -> Masked | None:
    head = _CELL.match(text)
    if head is None:
        alone = _ALONE.fullmatch(text)
        automagic = alone is not None and alone[2] in _NAMED and not _is_python(alone[1])
        return _masked(text, [_magic(text, alone.start(2))] if alone and automagic else list(_escapes(text, 0)))
    if head[2] not in _PYTHON:
        return None
    return _masked(text, [Span(*head.span(1)), *_escapes(text, head.end())])


def _masked(text: str, spans: list[Span]) -> Masked:
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], _stand_in(text, span)]
        end = span.end
    return Masked("".join([*pieces, text[end:]]), tuple(spans))


def _stand_in(text: str, span: Span) -> str:
    """Python of the same length for a stretch that IPython takes: a statement, a value, or only blanks."""
    inside = text[span.start : span.end]
    if span.end < len(text) and text[span.end] not in "\r\n":  # in front of what runs
        return "0;".ljust(len(inside))
    first, *others = re.split(r"(?<=[\r\n])(?!\n)", inside)
    value = "_" if text[: span.start].rstrip(" \t").endswith("=") else "0"
    # Joined lines are comments of their own, as far as there is room for a `#`.
    joined = [re.sub(r"\S", "#", line, count=1) for line in others]
    return value + ("#" + first[2:] if first[1:].strip() else first[1:]) + "".join(joined)


def _escapes(text: str, start: int) -> Iterator[Span]:
    """What IPython takes for itself, from an offset where a line begins or ends."""
    depth, at, line = 0, start, start
    found = _escape(text, line)
    while True:
        if found is not None:
            yield found
            at = found.end
        match = _TOKEN.search(text, at)
        if match is None:
            return
        kind, at, found = match.lastgroup, match.end(), None
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "newline" and not depth:
            line = at
            found = _escape(text, line)
        elif kind == "assigned" and not depth:
            found = _to_end(text, match.end() - 1)
        elif kind == "help" and not depth:
            found = _to_end(text, re.compile(r"[ \t]*").match(text, line).end())  # type: ignore[union-attr]


def _escape(text: str, line: int) -> Span | None:
    """What a line begins with that is IPython's."""
    begun = _ESCAPE.match(text, line)
    return _magic(text, begun.start(1)) if begun is not None else None


def _magic(text: str, start: int) -> Span:
    """A magic to its end, or to the Python that it runs."""
    timed = _TIMED.match(text, start)
    if timed is not None and _is_python(text[timed.end() : _to_end(text, timed.end()).end]):
        return Span(timed.start(), timed.end())
    return _to_end(text, start)


def _to_end(text: str, start: int) -> Span:
    rest = _REST.match(text, start)
    assert rest is not None
    return Span(start, rest.end())


def _is_python(text: str) -> bool:
    """Whether a text is simple statements, which are valid after a semicolon."""
    try:
        return bool(ast.parse(f"0;{text}"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
