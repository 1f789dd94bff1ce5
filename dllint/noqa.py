"""Comments that silence, added and removed: edits at the ends of lines that only change comments."""

from __future__ import annotations

import re
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from dllint.collect.comments import lines
from dllint.finding import Finding
from dllint.fix import Applicability, Edit, Fix
from dllint.model.facts import Suppression
from dllint.source import Source, Span

_STRING_STARTS = {"FSTRING_START": "FSTRING_END", "TSTRING_START": "TSTRING_END"}
"""From Python 3.12 on a formatted string is many tokens."""


class NotTokenized(Exception):
    """This Python cannot say where the file's strings and statements end."""


def add(
    source: Source,
    comments: Collection[Suppression],
    findings: Iterable[tuple[Span, str]],
    reason: str = "",
    own: bool = False,
) -> list[Edit]:
    """The edits that silence findings, given as places and codes. Raises NotTokenized.

    A comment goes to the end of the first line of its place, else of its last line; where both end in a string or a
    backslash, an ignore comment of our own goes above the statement. One that is there already takes the codes in.
    With `own`, all of them are of our own form, which Ruff leaves alone, and a `# noqa` stays as it is.
    """
    layout = _Layout(source)
    ends: dict[int, set[str]] = defaultdict(set)
    above: dict[int, set[str]] = defaultdict(set)
    for span, code in findings:
        rows = source.location(span.start)[0], source.location(span.end)[0]
        free = [row for row in rows if row not in layout.open]
        (ends[free[0]] if free else above[layout.statement(rows[0])]).add(code)
    here: dict[int, list[Suppression]] = defaultdict(list)
    for comment in comments:
        here[source.location(comment.span.start)[0]].append(comment)
    said = f" {reason}" if reason else ""
    at_end = _own_at_end if own else _at_end
    return [
        *(at_end(source, row, here[row], sorted(codes), said) for row, codes in ends.items()),
        *(_above(source, row, sorted(codes), said) for row, codes in above.items()),
    ]


def remedy(finding: Finding, source: Source) -> Fix:
    """What is told of a comment (DLL901, DLL902) is mended by taking the codes out of it, which `data` has."""
    dropped = finding.data
    named = ", ".join(f"`{code}`" for code in dropped if code)
    title = f"Remove {named} from the comment" if named else "Remove the comment"
    return Fix(title, (_without(source, finding.span, dropped),), Applicability.SAFE)


class _Layout:
    """Where lines and statements of a file end. `open` are the rows that end in a string or with a backslash."""

    def __init__(self, source: Source) -> None:
        self.open = {row for row in range(1, len(source.line_starts) + 1) if source.line(row).endswith("\\")}
        self._starts: list[int] = []
        read = lines(source)
        try:
            for first, last, begins in _tokens(tokenize.generate_tokens(lambda: next(read, ""))):
                self.open |= set(range(first, last))
                if begins:
                    self._starts.append(first)
        except (tokenize.TokenError, SyntaxError) as error:
            raise NotTokenized(str(error)) from None

    def statement(self, row: int) -> int:
        """The row that the statement begins in."""
        return max((start for start in self._starts if start <= row), default=1)


def _tokens(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[int, int, bool]]:
    """First and last row of each string and of what begins a statement, and whether it does."""
    inside: list[tuple[int, str]] = []
    begins = True
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    for token in tokens:
        name = tokenize.tok_name[token.type]
        if token.type == tokenize.STRING:
            yield token.start[0], token.end[0], begins
        elif name in _STRING_STARTS:
            inside.append((token.start[0], _STRING_STARTS[name]))
        elif inside and name == inside[-1][1]:
            yield inside.pop()[0], token.end[0], False
        if begins and token.type not in (*skipped, tokenize.NEWLINE, tokenize.STRING):
            yield token.start[0], token.start[0], True
        if token.type not in skipped:
            begins = token.type == tokenize.NEWLINE


def _is_ours(source: Source, comment: Suppression) -> bool:
    """Whether a comment names dllint: `# dllint: ignore` and `# dllint: noqa`."""
    return "dllint" in source.text[comment.span.start : comment.span.end].lower()


def _at_end(source: Source, row: int, comments: list[Suppression], codes: list[str], said: str) -> Edit:
    span = source.row_span(row)
    end = span.start + len(source.line(row).rstrip(" \t"))
    more = ", ".join(codes)
    if not comments:
        return Edit(source.path, Span(end, span.end), f"  # noqa: {more}{said}")
    comment = comments[-1]
    at = comment.span.end - (1 if comment.own else 0)  # before the bracket of `ignore[...]`
    return Edit(source.path, Span(at, span.end), f", {more}{source.text[at:end]}{said}")


def _own_at_end(source: Source, row: int, comments: list[Suppression], codes: list[str], said: str) -> Edit:
    """The same in our own form: before a `# noqa`, for Ruff may take away what follows that."""
    ours = [item for item in comments if _is_ours(source, item)]
    if ours:
        return _at_end(source, row, ours, codes, said)
    written = f"# dllint: ignore[{', '.join(codes)}]{said}"
    if comments:
        at = comments[0].span.start
        return Edit(source.path, Span(at, at), f"{written}  ")
    span = source.row_span(row)
    end = span.start + len(source.line(row).rstrip(" \t"))
    return Edit(source.path, Span(end, span.end), f"  {written}")


def _above(source: Source, row: int, codes: list[str], said: str) -> Edit:
    start = source.line_starts[row - 1]
    part = source.part(start)
    indent = re.match(r"[ \t\f]*", part.source.line(part.location(start)[0]))
    assert indent
    comment = f"{indent.group()}# dllint: ignore[{', '.join(codes)}]{said}{source.newline}"
    return Edit(source.path, Span(start, start), comment)


def _without(source: Source, span: Span, dropped: Collection[str]) -> Edit:
    """A comment without these codes; one without codes goes as a whole, and with it a line that it had to itself."""
    text = source.text[span.start : span.end]
    word = re.search("noqa|ignore", text, re.IGNORECASE)
    assert word
    codes = re.findall(r"[^\s,:\[\]]+", text[word.end() :])
    kept = [code for code in codes if code not in dropped]
    if kept:
        begin, end = text.index(codes[0], word.end()), text.rindex(codes[-1]) + len(codes[-1])
        return Edit(source.path, span, f"{text[:begin]}{', '.join(kept)}{text[end:]}")
    row = source.location(span.start)[0]
    line = source.row_span(row)
    before, rest = source.text[line.start : span.start], source.text[span.end : line.end].strip()
    if rest:
        return Edit(source.path, Span(span.start, line.end), rest if rest.startswith("#") else f"# {rest}")
    if before.strip():
        return Edit(source.path, Span(line.start + len(before.rstrip()), line.end), "")
    below = source.line_starts[row] if row < len(source.line_starts) else line.end
    return Edit(source.path, Span(line.start, below), "")
