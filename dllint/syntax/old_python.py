"""Python 2, and Python before 3.7, as text that today's grammar accepts: of the same length, so that places stay.

A training script of those days crashes on a new Python before any worker starts: it is reported as what it is, a syntax
error, but still read. It has the hazards of its own Python; Python 2 always forks workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from dllint.syntax.guard import MAX_CHARACTERS, NotParsed, guard, refuse_larger

_LITERAL = re.compile(
    r"""\#[^\r\n]* | (?P<string> [urbURB]{0,2}(?:
        \"{3}(?:[^"\\]|\\[\s\S]|\"(?!\"\"))*\"{3} | '{3}(?:[^'\\]|\\[\s\S]|'(?!''))*'{3}
        | "(?:[^"\\\r\n]|\\[\s\S])*" | '(?:[^'\\\r\n]|\\[\s\S])*' ))""",
    re.VERBOSE,
)
_PRINT = re.compile(r"(?P<before>(?:^|[;:])[ \t]*)print(?:(?P<to>[ \t]*>>)|(?![ \t]*[=.(\[,:)]|\w))", re.MULTILINE)
_PRINT_TUPLE = re.compile(r"(?P<before>(?:^|[;:])[ \t]*)print(?=[ \t]*\([^()\r\n]*\)[ \t]*[%,])", re.MULTILINE)
_EXEC = re.compile(r"(?P<before>(?:^|[;:])[ \t]*)exec[ \t](?![ \t]*[=.(\[,:)])", re.MULTILINE)
_EXCEPT = re.compile(r"(?P<kept>\bexcept[ \t]+(?:\([^()]*\)|[\w.]+)[ \t]*)(?P<name>,[ \t]*\w+)(?=[ \t]*:)")
_RAISE = re.compile(r"(?P<kept>\braise[ \t]+[\w.]+[ \t]*)(?P<rest>,[^\r\n]*)")
_ASYNC = re.compile(r"\basync(?=[ \t]*(?:=[^=]|[,).]))|(?<=\.)async\b")
_OCTAL = re.compile(r"(?<![\w.])0(?=[0-7]+\b(?!\.))")
_TICKS = re.compile(r"`(?P<inner>[^`\r\n]*)`")
_LONG = re.compile(r"(?<![\w.])(?P<digits>\d+)[lL]\b")
_TABS = re.compile(r"^[ ]*\t[ \t]*", re.MULTILINE)
"""Python 2 lets tabs count as eight blanks."""
_HIDDEN = "\0"


def readings(text: str) -> Iterator[tuple[str, bool]]:
    """The possible readings of a file in an old Python, in today's syntax; and whether that was Python 2."""
    with suppress(NotParsed):
        refuse_larger(text, MAX_CHARACTERS)
        modern = modernised(text)
        candidates = {modernised(text, python_2=False): False}
        for candidate in (modern, tabs_as_blanks(modern)):
            candidates.setdefault(candidate, True)
        for candidate, python_2 in candidates.items():
            with suppress(NotParsed):
                yield guard(candidate, MAX_CHARACTERS), python_2


def tabs_as_blanks(text: str) -> str:
    """The text with the indentation that Python 2 reads."""
    return _TABS.sub(lambda match: match[0].expandtabs(), text)


def modernised(text: str, python_2: bool = True) -> str:
    """The text with what old Pythons wrote otherwise in other words of the same length; strings stay as they are."""
    hidden = _LITERAL.sub(lambda match: _HIDDEN * len(match[0]), text)
    hidden = _ASYNC.sub("asynC", _of_python_2(hidden) if python_2 else hidden)
    parts, at = [], 0
    for match in _LITERAL.finditer(text):
        start, end = match.span()
        literal = f" {match[0][1:]}" if python_2 and match[0][:2].lower() == "ur" else match[0]
        parts += [hidden[at:start], literal if hidden[start] == _HIDDEN else hidden[start:end]]
        at = end
    return "".join((*parts, hidden[at:]))


def _of_python_2(hidden: str) -> str:
    """What only Python 2 accepts in other words; the caller hides comments and strings."""
    hidden = _PRINT_TUPLE.sub(r"\g<before>pass;", hidden)
    hidden = _PRINT.sub(lambda match: f"{match['before']}pass;{' ' * len(match['to'] or '')}", hidden)
    hidden = _EXEC.sub(r"\g<before>pass;", hidden)
    hidden = _EXCEPT.sub(lambda match: match["kept"] + " " * len(match["name"]), hidden)
    hidden = _RAISE.sub(lambda match: match["kept"] + " " * len(match["rest"]), hidden)
    hidden = _TICKS.sub(r"(\g<inner>)", hidden)
    hidden = _LONG.sub(r"\g<digits> ", hidden)
    return _OCTAL.sub(" ", hidden).replace("<>", "!=")
