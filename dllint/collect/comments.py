"""The comments that silence findings: `# noqa`, `# flake8: noqa`, `# dllint: noqa` and `# dllint: ignore[...]`.

Files are looked at closely only when a cheap regex finds one of the words. A comment inside a string never counts; to
know that takes no tokenizer, which costs more than parsing. Where statements begin and end does, for our own comments.
"""

from __future__ import annotations

import re
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise

from dllint.model.facts import Suppression
from dllint.source import Source, Span

_CODE = r"[A-Z]+[0-9]+"
_CODES = rf"(?P<codes>{_CODE}(?:(?:\s*,\s*|\s+){_CODE})*)"
_HINT = re.compile(r"#[^\r\n]*(?:noqa|dllint\s*:)", re.IGNORECASE)
_LINE = re.compile(rf"#\s*noqa\b(?:\s*:\s*{_CODES})?", re.IGNORECASE)
_FILE = re.compile(rf"#\s*(?P<tool>flake8|dllint)\s*[:=]\s*noqa\b(?:\s*:\s*{_CODES})?\s*$", re.IGNORECASE)
_OWN = re.compile(r"#\s*dllint\s*:\s*ignore\b(?:\s*\[(?P<codes>[^\]]*)\])?", re.IGNORECASE)
_LEXEME = re.compile(
    r"""
      \#[^\r\n]*
    | \"{3} [^"\\]* (?: (?: \\[\s\S] | \"(?!\"\") ) [^"\\]* )* \"{3}
    | '{3} [^'\\]* (?: (?: \\[\s\S] | '(?!'') ) [^'\\]* )* '{3}
    | (?!\"{3}) " [^"\\\r\n]* (?: \\(?:\r\n|[\s\S]) [^"\\\r\n]* )* "
    | (?!'{3}) ' [^'\\\r\n]* (?: \\(?:\r\n|[\s\S]) [^'\\\r\n]* )* '
    | ["']
    """,
    re.VERBOSE,
)
"""A comment, a string, or a quote that opens none."""
_NESTING_FSTRINGS = sys.version_info >= (3, 12)
"""An f-string may hold strings in the same quotes, and comments."""
_SKIP = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT})

_Comment = tuple[int, str, bool, range]
"""Offset, text, whether it is alone on its line, and the rows of the statement below."""


def scan(source: Source) -> tuple[Suppression, ...]:
    """Every comment of the file that silences something, in the order of the rows it silences.

    An ignore comment on its own line silences the whole statement below it (a decorated one down to its `def`): one
    entry a row, all with the comment's span.
    """
    if not _HINT.search(source.text):
        return ()
    comments = None if _OWN.search(source.text) else _outside_strings(source)
    if comments is None:
        try:
            comments = list(_tokenized(source))
        except (tokenize.TokenError, SyntaxError):
            comments = list(_guessed(source))
    found = [entry for comment in comments for entry in _judge(source, *comment)]
    return tuple(sorted(found, key=lambda entry: (entry.row, entry.span)))


def lines(source: Source) -> Iterator[str]:
    """The file's lines with lone carriage returns as newlines, so that rows are those of `Source`."""
    starts = [*source.line_starts, len(source.text)]
    for start, end in pairwise(starts):
        line = source.text[start:end]
        yield f"{line[:-1]}\n" if line.endswith("\r") else line
    yield ""


def _outside_strings(source: Source) -> list[_Comment] | None:
    """The comments that may mean something to us, without the rows below; None where strings are hard to tell."""
    found: list[_Comment] = []
    for match in _LEXEME.finditer(source.text):
        lexeme = match[0]
        if lexeme[0] == "#":
            if _HINT.match(lexeme):
                row, column = source.location(match.start())
                found.append((match.start(), lexeme, not source.line(row)[: column - 1].strip(), range(0)))
        elif len(lexeme) == 1 or (_NESTING_FSTRINGS and _holds_code(lexeme)):
            return None
    return found


def _holds_code(literal: str) -> bool:
    """Whether a string, if it is an f-string, may end elsewhere or have one of our comments in it."""
    plain = literal.replace("{{", "").replace("}}", "")
    return "{" in plain and (plain.count("{") != plain.count("}") or _HINT.search(plain) is not None)


def _tokenized(source: Source) -> Iterator[_Comment]:
    """All comments, by Python's own tokenizer."""
    read = lines(source)
    above: list[tuple[int, str]] = []
    inside: list[tuple[int, str]] = []
    in_statement = decorated = False
    for token in tokenize.generate_tokens(lambda: next(read, "")):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            offset = source.line_starts[row - 1] + column
            if token.line[:column].strip():
                yield offset, token.string, False, range(0)
            else:
                (inside if in_statement else above).append((offset, token.string))
        elif token.type == tokenize.NEWLINE:
            if not decorated:
                yield from ((offset, text, True, range(_row(source, offset), row + 1)) for offset, text in above)
                above.clear()
            in_statement = False
        elif token.type not in _SKIP:
            # In brackets a comment speaks for the next row only, not for the rest of a long call.
            yield from ((offset, text, True, range(row, row + 1)) for offset, text in inside)
            inside.clear()
            if not in_statement:
                in_statement, decorated = True, token.string == "@"
    yield from ((offset, text, True, range(0)) for offset, text in above + inside)


def _guessed(source: Source) -> Iterator[_Comment]:
    """The same for a file that the tokenizer of this Python rejects: a `#` that no open quote precedes."""
    for row, start in enumerate(source.line_starts, start=1):
        line = source.line(row)
        for match in re.finditer("#", line):
            before = line[: match.start()]
            if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
                yield start + match.start(), line[match.start() :], not before.strip(), range(row + 1, row + 2)
                break


def _judge(source: Source, offset: int, text: str, alone: bool, below: range) -> Iterator[Suppression]:
    row = _row(source, offset)
    own = _OWN.search(text)
    if own:
        rows = [r for r in below if r > row] if alone else [row]
        for silenced in rows or [row]:
            yield _suppression(silenced, own, offset, own=True)
    whole = _FILE.search(text)
    if whole and not own:
        if alone:
            yield _suppression(0, whole, offset, own=False)
        elif whole["tool"].lower() == "dllint":
            yield _suppression(row, whole, offset, own=False)
        return
    line = _LINE.search(text)
    if line:
        yield _suppression(row, line, offset, own=False)


def _suppression(row: int, match: re.Match[str], offset: int, own: bool) -> Suppression:
    codes = tuple(code for code in re.split(r"[,\s]+", match["codes"] or "") if code)
    return Suppression(row, codes, Span(offset + match.start(), offset + match.end()), own)


def _row(source: Source, offset: int) -> int:
    return source.location(offset)[0]
