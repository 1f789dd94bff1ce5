"""Shorten large literal tables before parsing: nothing is to be learned from their thousandth row."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from dllint.syntax.outline import Offsets, parse_quietly

_LARGE = 8_000
"""Characters from which on a literal is shortened."""
_KEPT = 2_000
"""Characters of it, about, that stay: rules look at the first elements."""
_CLOSERS = {ast.List: "]", ast.Dict: "}", ast.Set: "}", ast.Tuple: ")"}
_LITERAL = (ast.Constant, *_CLOSERS, ast.UnaryOp, ast.BinOp, ast.expr_context, ast.unaryop, ast.operator)
_COMMA = re.compile(r"[\s)]*,")
_STRING = re.compile(r"[A-Za-z]{0,2}(?:\"{3}|'{3}|\"(?:[^\"\\\r\n]|\\[\s\S])*\"|'(?:[^'\\\r\n]|\\[\s\S])*')")


def blank_literals(text: str) -> str:
    """The text with the ends of its large literals turned into spaces; every offset stays right."""
    try:
        tree = parse_quietly(text)
    except (SyntaxError, ValueError):
        return text
    offsets = Offsets(text)
    pieces, at = [], 0
    for start, end in sorted(_blanks(tree, text, offsets)):
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _blanks(tree: ast.Module, text: str, offsets: Offsets) -> Iterator[tuple[int, int]]:
    """The ranges to blank: ends of literals, which never overlap."""
    stack: list[tuple[ast.AST, int]] = [(tree, _LARGE)]
    while stack:
        node, large = stack.pop()
        if isinstance(node, ast.expr):
            start, end = offsets.span(node)
            if end - start < large:
                continue
            blank, first = _blank(node, text, start, end, offsets)
            if blank:
                yield blank
                stack += [(element, _KEPT) for element in first]
                continue
        stack += [(child, large) for child in ast.iter_child_nodes(node)]


def _is_literal(root: ast.expr) -> bool:
    return all(isinstance(node, _LITERAL) for node in ast.walk(root))


def _blank(
    node: ast.expr, text: str, start: int, end: int, offsets: Offsets
) -> tuple[tuple[int, int] | None, list[ast.expr]]:
    """The part of a large literal that may go, and the first elements, which stay."""
    if isinstance(node, ast.Constant):
        first = _STRING.match(text, start)  # adjacent strings are one constant
        whole = first is None or first.end() == end or first[0].endswith(('"""', "'''"))
        return None if first is None or whole else (first.end(), end), []
    if type(node) not in _CLOSERS or text[end - 1] != _CLOSERS[type(node)] or not _is_literal(node):
        return None, []
    elements: list[ast.expr] = node.values if isinstance(node, ast.Dict) else node.elts  # type: ignore[attr-defined]
    kept: list[ast.expr] = []
    for element in elements:
        if kept and offsets.span(element)[1] > start + _KEPT:
            break
        kept.append(element)
    # The comma makes a tuple; a parenthesis closes the element.
    comma = _COMMA.match(text, offsets.span(kept[-1])[1]) if kept else None
    return (None, []) if comma is None else ((comma.end(), end - 1), kept)
