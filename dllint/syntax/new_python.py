"""A newer Python than the one that runs, as text that this one reads: of the same length, so that places stay.

LibCST reads every Python; what its tree shows to be new is rewritten in place: type parameters and `type X = ...`,
f-strings with any quotes in them, t-strings, `except A, B:`, `except*`, `x[*y]`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import libcst as cst

from dllint.source import Source
from dllint.syntax.guard import NotParsed
from dllint.syntax.outline import parse_quietly
from dllint.syntax.parse import Tree, parse
from dllint.syntax.spans import Spans
from dllint.syntax.walk import walk

_Edit = tuple[int, int, str]

_STRINGS = tuple(getattr(cst, name) for name in ("FormattedString", "TemplatedString") if hasattr(cst, name))
_PARTS = tuple(
    getattr(cst, name) for name in ("FormattedStringExpression", "TemplatedStringExpression") if hasattr(cst, name)
)
_LITERALS = frozenset((cst.SimpleString, *_STRINGS))
_HEX = "[0-9a-fA-F]"
_BROKEN = re.compile(
    rf"(?<!\\)(?:\\\\)*(\\(?:x(?!{_HEX}{{2}})|u(?!{_HEX}{{4}})|U(?!00(?:0{_HEX}|10){_HEX}{{4}})|N(?!\{{[^}}]+\}})))"
)
"""The beginning of an escape that decodes to nothing. A name in `\\N{name}` may be one that a newer Python knows."""
_WANTED = frozenset(
    (cst.TypeParameters, cst.TypeAlias, cst.Name, cst.Tuple, cst.ExceptStarHandler, cst.Index, *_STRINGS, *_PARTS)
)


def downgraded(source: Source) -> str:
    """The file in words of the Python that runs. Raises NotParsed when it is no Python at all, or still too new."""
    tree = parse(source)
    places = tree.spans(_WANTED)
    text = _replaced(tree.text, sorted(set(_edits(tree, places))))
    try:
        parse_quietly(text)
    except SyntaxError as error:
        if (broken := min(_broken_escapes(tree), default=None)) is not None:
            at, escape = broken
            message = f"`{escape}` begins no valid escape in any Python 3: write `\\{escape}`, or make the string raw"
            raise NotParsed(message, *source.location(at), "syntax") from None
        version = ".".join(map(str, sys.version_info[:2]))
        message = f"Python {version}, which runs dllint, does not know this syntax; run it with a newer one"
        raise NotParsed(message, error.lineno or 1, error.offset or 1, "syntax", "newer") from None
    except ValueError:
        raise NotParsed("too deeply nested or too large for the parser", 1, 1, "limits") from None
    return text


def _broken_escapes(tree: Tree) -> Iterator[tuple[int, str]]:
    """Where a string has an escape that no Python 3 decodes, with its beginning; LibCST doesn't decode any."""
    for start, end in tree.spans(_LITERALS).values():
        prefix = tree.text[start:end].partition(tree.text[end - 1])[0].lower()
        for found in _BROKEN.finditer(tree.text, start, end) if "r" not in prefix else ():
            if "b" not in prefix or found[1] == "\\x":
                yield found.start(1), found[1]


def _replaced(text: str, edits: list[_Edit]) -> str:
    pieces, at = [], 0
    for start, end, new in edits:
        if start >= at:  # what stands in something replaced is gone with it
            pieces += [text[at:start], new]
            at = end
    return "".join((*pieces, text[at:]))


def _edits(tree: Tree, places: Spans) -> Iterator[_Edit]:
    for node in walk(tree.module):
        if isinstance(node, cst.TypeAlias):
            yield _alias(tree.text, places[node], places[node.name], node.name.value)
        elif isinstance(node, cst.TypeParameters):
            yield _blank(*places[node])
        elif isinstance(node, _STRINGS):
            yield from _string(tree.text, node, places)
        elif isinstance(node, cst.ExceptStarHandler):
            star = tree.text.index("*", places[node][0])
            yield _blank(star, star + 1)
        elif isinstance(node, cst.ExceptHandler) and isinstance(node.type, cst.Tuple) and not node.type.lpar:
            first, (start, end) = node.type.elements[0].value, places[node.type]
            yield _blank(places[first][1] if first in places else start, end)
        elif isinstance(node, cst.Index) and node.star:
            yield _blank(places[node][0], places[node][0] + 1)


def _blank(start: int, end: int) -> _Edit:
    return start, end, " " * (end - start)


def _alias(text: str, place: tuple[int, int], name: tuple[int, int], word: str) -> _Edit:
    """`type X[T] = value` as an assignment."""
    sign = re.compile(r"[^=]*(?:\[[^\]]*\])?[^=]*=").match(text, name[1])
    end = sign.end() if sign else name[1]
    return place[0], end, word.ljust(end - place[0] - 1) + "="


def _string(text: str, node: cst.CSTNode, places: Spans) -> Iterator[_Edit]:
    """An f-string that this Python cannot read, with names in place of its expressions."""
    start, end = places[node]
    prefix = re.match(r"\w*", text[start:end])
    width = prefix.end() if prefix else 0
    plain = text[start : start + width].replace("t", "f").replace("T", "F")
    if plain == text[start : start + width] and _readable(text[start:end]):
        return
    whole = plain + text[start + width : end]
    inner = [places[part] for part in walk(node) if isinstance(part, _PARTS)]
    filled = [(a - start, b - start, "{" + "_" * (b - a - 2) + "}") for a, b in inner]
    yield start, end, whole if _readable(whole) else _replaced(whole, sorted(filled))


def _readable(code: str) -> bool:
    try:
        parse_quietly(f"({code}\n)")
    except (SyntaxError, ValueError):
        return False
    return True
