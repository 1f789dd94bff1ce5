"""A statement over several lines as Black and Ruff lay it out; None where that is not certain.

They split at the last brackets, put what is between these on a line of its own, and split that again if it is too long:
at its commas, else at its operators. A value without brackets that can be split gets brackets.
"""

from __future__ import annotations

import io
import keyword
import sys
import tokenize
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_OPENING, _CLOSING = {*"([{"}, {*")]}"}
_COMMA, _TERNARY, _LOGIC, _COMPARISON, _OR, _XOR, _AND, _SHIFT, _SUM, _TERM = range(10, 0, -1)
_OPERATORS = {
    **dict.fromkeys(("and", "or"), _LOGIC),
    **dict.fromkeys(("<", ">", "==", "!=", "<=", ">=", "in", "is"), _COMPARISON),
    "|": _OR,
    "^": _XOR,
    "&": _AND,
    **dict.fromkeys(("<<", ">>"), _SHIFT),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "%", "@"), _TERM),
}
_STARTS = {getattr(tokenize, f"{kind}STRING_START", None) for kind in "FT"} - {None}
_ENDS = {getattr(tokenize, f"{kind}STRING_END", None) for kind in "FT"} - {None}
_ASSIGNING = {"=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "|=", "&=", "^=", ">>=", "<<=", "**="}
_HEADERS = ("if ", "elif ", "while ")
_OTHERS = (
    "import ", "from ", "def ", "class ", "async ", "with ", "del ", "assert ", "match ", "case ", "global ", "type ",
    "nonlocal ", "try:", "except", "finally:", "else:", "@",
)  # fmt: skip
"""How statements begin that are left alone."""


class NotCertain(Exception):
    """What a formatter does here is not known."""


class _Token(NamedTuple):
    """A token of a line: its text, where it is, how many brackets are open around it, and the space before it."""

    text: str
    start: int
    end: int
    depth: int
    space: bool

    @property
    def is_operand_end(self) -> bool:
        """Whether an operator that follows has two operands."""
        last = self.text[-1]
        return last in "_)]}\"'" or (last.isalnum() and not (keyword.iskeyword(self.text) and self.text[0].islower()))


def laid_out(lines: Sequence[str], indent: int, width: int, unit: str) -> list[str] | None:
    """The lines of a statement, given without its indentation, which is so wide; None where they are not certain."""
    try:
        return _Layout(width - indent, unit).statement(_joined(lines))
    except NotCertain:
        return None


def one_call(lines: Sequence[str]) -> tuple[str, list[str]]:
    """A statement that is one call, or keeps what it returns: the text up to its bracket, and its arguments.

    Nothing in these has brackets of its own, and no comma follows the last one.
    """
    text = _joined(lines)
    tokens = _tokens(text)
    outside = [token.text for token in tokens if not token.depth]
    inside = [token for token in tokens if token.depth]
    named = all((word.isidentifier() and not keyword.iskeyword(word)) or word in ".=" for word in outside[:-2])
    called = outside[-2:] == ["(", ")"] and outside[-3:-2] not in ([], ["="])
    if not (named and called and inside) or inside[-1].text == "," or any(token.depth > 1 for token in inside):
        raise NotCertain
    if _has_parameters([token._replace(depth=0) for token in inside]):
        raise NotCertain
    places = [token.end for token in inside if token.text == ","]
    start = inside[0].start
    return text[:start], [text[a:b].rstrip(",").strip() for a, b in pairwise([start, *places, len(text) - 1])]


def _joined(lines: Sequence[str]) -> str:
    """A statement on one line."""
    if any("#" in line or line.endswith("\\") or not line.isascii() for line in lines):
        raise NotCertain
    text = lines[0]
    for line in lines[1:]:
        bare = line.strip()
        glued = text[-1:] in _OPENING or bare[:1] in _CLOSING or bare[:1] == "."
        text += bare if glued else f" {bare}"
    if any(mark in text for mark in ('"""', "'''")):
        raise NotCertain
    return text


def _tokens(text: str) -> list[_Token]:
    """The tokens of a line, an f-string as one."""
    found: list[_Token] = []
    depth = inside = begun = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _STARTS:
                inside, begun = inside + 1, begun if inside else token.start[1]
            elif token.type in _ENDS:
                inside -= 1
                if not inside:
                    found.append(_token(text, begun, token.end[1], depth))
            elif not inside and token.string.strip():
                if token.start[0] != 1 or token.end[0] != 1:
                    raise NotCertain
                depth -= token.string in _CLOSING and token.type == tokenize.OP
                found.append(_token(text, token.start[1], token.end[1], depth))
                depth += token.string in _OPENING and token.type == tokenize.OP
    except (tokenize.TokenError, SyntaxError):
        raise NotCertain from None
    if any(a.text[-1] in "\"'" and b.text[-1] in "\"'" for a, b in pairwise(found)):
        raise NotCertain  # strings that may be joined
    return found


def _token(text: str, start: int, end: int, depth: int) -> _Token:
    return _Token(text[start:end], start, end, depth, text[start - 1 : start] == " ")


class _Layout:
    """Lays out in so many columns."""

    def __init__(self, width: int, unit: str) -> None:
        self.width, self.unit = width, unit

    def statement(self, text: str) -> list[str]:
        if text.startswith(_OTHERS):
            raise NotCertain
        head, value, tail = _parts(text)
        value = _without_brackets(value)
        line = f"{head}{value}{tail}"
        return [line] if self._fits(line, "") else self._value(head, value, tail, _tokens(value), bool(head))

    def _fits(self, line: str, indent: str) -> bool:
        return len(indent) + len(line) <= self.width and not _has_last_comma(line)

    def _value(self, head: str, value: str, tail: str, tokens: list[_Token], optional: bool) -> list[str]:
        """A value that may have brackets around it (`optional`), or is a whole statement."""
        priority, places = _delimiters(tokens)
        last = _last_brackets(tokens)
        if priority == _COMMA:
            if head.strip() in ("", "return") or tail or not optional:
                raise NotCertain
            return self._between(f"{head}(", value, f"){tail}", "", explode=True)
        if not optional:
            if places:
                raise NotCertain
        elif len(places) > 1:
            return self._in_brackets(head, value, tail)
        if last is not None and _may_split(tokens, last, value):
            start, end = last
            opened = f"{head}{value[: start + 1]}"
            if _has_last_comma(value, start):
                raise NotCertain
            if len(opened) > self.width and optional and not places and _has_one_pair(tokens):
                return self._in_brackets(head, value, tail)
            if len(opened) > self.width:
                raise NotCertain
            return self._between(opened, value[start + 1 : end], f"{value[end:]}{tail}", "", _is_display(value, start))
        if not optional:
            if last is None:
                return [f"{head}{value}{tail}"]
            raise NotCertain
        if last is not None and not places:
            raise NotCertain
        return self._in_brackets(head, value, tail)

    def _in_brackets(self, head: str, value: str, tail: str) -> list[str]:
        """A value in brackets of its own, at its operators over several lines if it must be.

        Brackets in what is before the only operator, or is assigned to, may be split instead.
        """
        tokens = _tokens(value)
        places = _delimiters(tokens)[1]
        before = tokens[: places[0]] if len(places) == 1 else []
        if (
            head.startswith("for ")
            or len(head) >= self.width
            or any(token.text in _OPENING for token in (*_tokens(head), *before))
        ):
            raise NotCertain
        if self._fits(value, self.unit):
            return [f"{head}(", self.unit + value, f"){tail}"]
        if not places:
            if len(tokens) == 1:
                return [f"{head}{value}{tail}"]  # a long string stays where it is
            raise NotCertain
        return [f"{head}(", *self._operands(value, "", self.unit), f"){tail}"]

    def _between(self, opened: str, inside: str, closed: str, indent: str, explode: bool) -> list[str]:
        """What is between two brackets on a line of its own, else each of its parts."""
        inner = indent + self.unit
        tokens = _tokens(inside)
        commas = [token for token in tokens if token.text == "," and not token.depth]
        if not tokens or _has_parameters(tokens):
            raise NotCertain
        if any(token.text == "for" and not token.depth for token in tokens):
            if self._fits(inside, inner):
                return [indent + opened, inner + inside, indent + closed]
            raise NotCertain
        if not (explode and commas) and self._fits(inside, inner) and tokens[-1].text != ",":
            return [indent + opened, inner + inside, indent + closed]
        if not commas:
            return [indent + opened, *self._part(inside, "", inner), indent + closed]
        starts = [0, *(token.end for token in commas)]
        ends = [*(token.start for token in commas), len(inside)]
        parts = [part for start, end in zip(starts, ends, strict=True) if (part := inside[start:end].strip())]
        lines = [line for part in parts for line in self._part(part, ",", inner)]
        return [indent + opened, *lines, indent + closed]

    def _part(self, part: str, comma: str, indent: str) -> list[str]:
        """One of several parts between brackets."""
        if self._fits(part + comma, indent):
            return [indent + part + comma]
        tokens = _tokens(part)
        if len(tokens) == 1:
            return [indent + part + comma]  # a long string stays as it is
        named = len(tokens) > 2 and tokens[1].text in ("=", ":") and not tokens[1].depth
        priority, places = _delimiters(tokens)
        if places and not named and priority < _TERNARY:
            return self._operands(part, comma, indent)
        if named and len(tokens) == 3:
            return [indent + part + comma]
        last = _last_brackets(tokens)
        if places or last is None or not _may_split(tokens, last, part):
            raise NotCertain
        if any(token.text in ("lambda", ":", "*", "**", "await", "not") and not token.depth for token in tokens):
            raise NotCertain
        start, end = last
        if len(indent) + start >= self.width:
            raise NotCertain
        return self._between(
            part[: start + 1], part[start + 1 : end], part[end:] + comma, indent, _is_display(part, start)
        )

    def _operands(self, text: str, comma: str, indent: str) -> list[str]:
        """The operands of the operators that bind least, each with its operator before it on a line of its own."""
        tokens = _tokens(text)
        priority, places = _delimiters(tokens)
        if priority >= _TERNARY:
            raise NotCertain
        starts = [0, *(tokens[place].start for place in places)]
        parts = [text[a:b].strip() for a, b in pairwise([*starts, len(text)])]
        parts[-1] += comma
        if priority == _LOGIC and len({tokens[place].text for place in places}) > 1:
            raise NotCertain
        return [line for part in parts for line in self._operand(part, indent)]

    def _operand(self, part: str, indent: str) -> list[str]:
        """An operand with what is before and behind it."""
        if self._fits(part, indent):
            return [indent + part]
        tokens = _tokens(part.rstrip(","))
        last = _last_brackets(tokens)
        if last is None or _delimiters(tokens)[1] or not _may_split(tokens, last, part.rstrip(",")):
            raise NotCertain
        start, end = last
        if _has_last_comma(part, start) or len(indent) + start >= self.width:
            raise NotCertain
        return self._between(part[: start + 1], part[start + 1 : end], part[end:], indent, _is_display(part, start))


def _parts(text: str) -> tuple[str, str, str]:
    """A statement's value, with what is before and behind it."""
    for header in _HEADERS:
        if text.startswith(header) and text.endswith(":"):
            return header, text[len(header) : -1], ":"
    for word in ("return ", "raise "):
        if text.startswith(word):
            return word, text[len(word) :], ""
    if text.startswith("for "):
        inside = next((token for token in _tokens(text) if token.text == "in" and not token.depth), None)
        if inside is None or not text.endswith(":"):
            raise NotCertain
        return text[: inside.end + 1], text[inside.end + 1 : -1], ":"
    assigned = [token for token in _tokens(text) if token.text in _ASSIGNING and not token.depth and token.space]
    if not assigned:
        return "", text, ""
    head, value = text[: assigned[-1].end + 1], text[assigned[-1].end + 1 :]
    if (
        len(assigned) > 1
        or _has_last_comma(head)
        or any(token.text == ":" and not token.depth for token in _tokens(head))
    ):
        raise NotCertain
    return head, value, ""


def _without_brackets(value: str) -> str:
    """A value without the brackets around it, which a formatter adds and takes away; a tuple keeps them."""
    tokens = _tokens(value)
    closed = next((token.end for token in tokens if token.text == ")" and not token.depth), -1)
    if tokens[0].text != "(" or closed != len(value):
        return value
    inside = value[1:-1]
    parts = [token.text for token in _tokens(inside) if not token.depth]
    return value if not parts or {",", "for", ":=", "yield", "await"} & set(parts) else inside


def _delimiters(tokens: Sequence[_Token]) -> tuple[int, list[int]]:
    """How little the operators bind that bind least outside of brackets, and which tokens these are."""
    found: dict[int, list[int]] = {}
    for place, token in enumerate(tokens):
        if token.depth:
            continue
        if token.text == "lambda":
            raise NotCertain
        if token.text == ",":
            found.setdefault(_COMMA, []).append(place)
        elif token.text in ("if", "else"):
            found.setdefault(_TERNARY, []).append(place)
        elif token.text == "not" and place and tokens[place - 1].is_operand_end:
            found.setdefault(_COMPARISON, []).append(place)
        elif place and token.text in _OPERATORS and tokens[place - 1].is_operand_end:
            found.setdefault(_OPERATORS[token.text], []).append(place)
    return max(found.items(), default=(0, []))


def _last_brackets(tokens: Sequence[_Token]) -> tuple[int, int] | None:
    """Where the brackets open and close that end a line; None where others do, or there are none."""
    closing = [token for token in tokens if token.text in _CLOSING and not token.depth]
    opening = [token for token in tokens if token.text in _OPENING and not token.depth]
    return (opening[-1].start, closing[-1].start) if closing else None


def _has_one_pair(tokens: Sequence[_Token]) -> bool:
    return sum(token.text in _OPENING and not token.depth for token in tokens) == 1


def _may_split(tokens: Sequence[_Token], last: tuple[int, int], text: str) -> bool:
    """Whether a line is split at its last brackets, which end it: no subscript, not empty, in no chain of calls."""
    start, end = last
    if end != len(text) - 1 or end == start + 1:
        return False
    before = [token for token in tokens if token.end <= start and not token.depth]
    if text[start] == "[" and before and before[-1].is_operand_end and before[-1].end == start:
        raise NotCertain
    chained = [b for a, b in pairwise(before) if a.text in _CLOSING and b.text == "."]
    if len(chained) > 1:
        raise NotCertain
    return True


def _is_display(text: str, start: int) -> bool:
    """Whether brackets are those of a list, a tuple, a set or a dictionary, not of a call."""
    before = text[:start]
    return not before or before[-1] in " ([{=" or text[start] == "{"


def _has_last_comma(line: str, before: int = sys.maxsize) -> bool:
    """Whether a comma before a closing bracket keeps what is between on lines of their own; one of `(a,)` does not."""
    tokens = _tokens(line)
    for place, (a, b) in enumerate(pairwise(tokens)):
        if a.text == "," and b.text in _CLOSING and b.start < before:
            opening = max(i for i in range(place) if tokens[i].text in _OPENING and tokens[i].depth == b.depth)
            commas = [t for t in tokens[opening:place] if t.text == "," and t.depth == a.depth]
            is_tuple = b.text == ")" and not commas and not (opening and tokens[opening - 1].is_operand_end)
            if not is_tuple:
                return True
    return False


def _has_parameters(tokens: Sequence[_Token]) -> bool:
    """Whether there is a comma between the parameters of a lambda outside of brackets."""
    outside = [token.text for token in tokens if not token.depth]
    starts = [place for place, text in enumerate(outside) if text == "lambda"]
    return any("," in outside[start : outside.index(":", start)] for start in starts)
