"""Source text to a LibCST tree, or the reason why there is none. Nothing but NotParsed gets out."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

import libcst as cst

from dllint.garbage import uncollected
from dllint.source import Source
from dllint.syntax.deep import call_deep, recurse_deep
from dllint.syntax.guard import NotParsed, guard
from dllint.syntax.old_python import tabs_as_blanks
from dllint.syntax.outline import parse_quietly
from dllint.syntax.spans import Spans, render

__all__ = ["NotParsed", "Tree", "parse"]

_SMALL = frozenset(
    node_type
    for node_type in vars(cst).values()
    if isinstance(node_type, type) and issubclass(node_type, (cst.BaseSmallStatement, cst.BaseCompoundStatement))
)
_PYTHON_2 = re.compile(r"\b(?:ur|UR)[\"']|(?<![\w.])0[0-7]+[lL]?\b(?!\.)|<>|`")
"""What Python 2 accepts, and what may also be a slip: only where Python refuses it."""
_STATEMENTS = {
    re.compile(r"(?:^|[;:])[ \t]*print(?:[ \t]+[^\s=(.,:\[]|[ \t]*>>)"): ("print x", "print(x)"),
    re.compile(r"(?:^|[;:])[ \t]*exec[ \t]+[\"'\w]"): ("exec x", "exec(x)"),
    re.compile(r"(?:^|[;:])[ \t]*except[ \t]+(?:[\w.]+|\([^()]*\))[ \t]*,[ \t]*\w+[ \t]*:"): (
        "except X, e",
        "except X as e",
    ),
    re.compile(r"(?:^|[;:])[ \t]*raise[ \t]+\w[\w.]*[ \t]*,"): ("raise X, text", "raise X(text)"),
}
"""The beginnings of statements that Python 2 alone accepts, with their form there and in Python 3."""
_KEYWORD = re.compile(r"(?<=\.)(?:async|await)\b|\b(?:async|await)(?=[ \t]*(?:=[^=]|[,).]|import\b))")
"""A name that is a keyword since Python 3.7."""
_MIXED = "tabs and spaces are mixed: in Python 2 a tab is 8 blanks, Python 3 refuses the indentation"
_TO_DEVICE = re.compile(r"\.(?:cuda|to)\([^()]*$")


class Tree:
    """A parsed file."""

    def __init__(self, source: Source, text: str, module: cst.Module) -> None:
        self.source = source
        self.text = text
        """The text that LibCST parsed: the source's, with blanks of the same length in long literal tables."""
        self.module = module
        self._spans: dict[frozenset[type], Spans] = {}

    @cached_property
    def faithful(self) -> bool:
        """LibCST prints the text back unchanged (form feeds and lone carriage returns it does not)."""
        return recurse_deep(lambda: self.module.code) == self.text

    def spans(self, wanted: frozenset[type]) -> Spans:
        """The spans of the wanted nodes as offsets in `source.text`; settles `faithful` on the way."""
        if wanted not in self._spans:  # the fixes of a file ask for the same
            with uncollected():
                code, found = render(self.module, wanted)
            self.__dict__.setdefault("faithful", code == self.text)
            self._spans[wanted] = found if self.faithful else _align(found, code, self.text)
        return self._spans[wanted]

    @cached_property
    def statement_rows(self) -> list[tuple[int, int]]:
        """First and last row of every top-level statement, decorators included."""
        positions = self.spans(_SMALL | {cst.Decorator})
        rows = []
        for statement in self.module.body:
            first: cst.CSTNode = statement
            last: cst.CSTNode = statement
            if isinstance(statement, cst.SimpleStatementLine):
                first, last = statement.body[0], statement.body[-1]
            elif isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and statement.decorators:
                first = statement.decorators[0]
            end = max(positions[last][1] - 1, positions[last][0])
            rows.append((self.source.location(positions[first][0])[0], self.source.location(end)[0]))
        return rows


def _align(found: Spans, code: str, text: str) -> Spans:
    """Spans in `text` for those in `code`, which differs in blanks only: the n-th visible character is the same."""
    visible = re.compile(r"[^\s\\\ufeff]")
    there, here = ([match.start() for match in visible.finditer(string)] for string in (code, text))
    if len(there) != len(here):
        return found
    here.append(len(text))
    spans: Spans = {}
    for node, (start, end) in found.items():
        first, last = bisect_left(there, start), bisect_left(there, end)
        spans[node] = (here[first], here[last - 1] + 1 if first < last else here[first])
    return spans


def parse(source: Source) -> Tree:
    """The tree of a file. Raises NotParsed."""
    text = guard(source.text)
    return Tree(source, text, _module(text, source.text))


def _module(text: str, original: str) -> cst.Module:
    try:
        with uncollected():
            return call_deep(lambda: cst.parse_module(text))
    except cst.ParserSyntaxError as error:
        raise _explain(original, error) from None
    except (MemoryError, RecursionError):
        raise NotParsed("too deeply nested or too large for the parser", 1, 1, "limits") from None
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # Rust panics are BaseExceptions
        raise NotParsed(f"the parser failed: {_line(error)}", 1, 1, "syntax") from None


def _explain(text: str, error: cst.ParserSyntaxError) -> NotParsed:
    """Python's message about a file that LibCST rejects, which is better than LibCST's."""
    row, column, message = error.raw_line, error.raw_column + 1, _line(error.message)
    try:
        parse_quietly(text)
    except SyntaxError as python:
        row, column, message = python.lineno or row, python.offset or 1, _line(python.msg)
        if isinstance(python, TabError) and _is_indented(tabs_as_blanks(text)):
            return NotParsed(_MIXED, max(row, 1), max(column, 1), "syntax", "2")
    except ValueError as python:
        message = _line(python)
    else:
        return NotParsed(f"Python accepts this file, but LibCST does not: {message}", row, column, "syntax")
    row, column = max(row, 1), max(column, 1)
    refused = next(iter(text.split("\n")[row - 1 : row]), "")
    message, old = _of_old_python(refused, column - 1, message)
    return NotParsed(message, row, column, "syntax", old)


def _is_indented(text: str) -> bool:
    """Whether a Python has no objection to the indentation of a text; it may have others."""
    try:
        parse_quietly(text)
    except IndentationError:
        return False
    except (SyntaxError, ValueError):
        return True
    return True


def _of_old_python(line: str, at: int, message: str) -> tuple[str, str]:
    """What an old Python accepts of a line that Python refuses at a column, in words; and which one does.

    Python's own message where none does.
    """
    for name in _KEYWORD.finditer(line):
        if name.start() <= at and not line[name.end() : at].strip():
            now = "; torch calls it `non_blocking`" if _TO_DEVICE.search(line[: name.start()]) else ""
            return f"`{name[0]}` is a keyword since Python 3.7, and no name{now}", "3.6"
    for statement, (before, now) in _STATEMENTS.items():
        if statement.search(line):
            return f"`{before}` is Python 2, Python 3 has `{now}`", "2"
    old = any(found.start() <= at <= found.end() for found in _PYTHON_2.finditer(line))
    return (f"{message} (Python 2?)", "2") if old else (message, "")


def _line(error: object) -> str:
    """The first line of a message that says something."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
