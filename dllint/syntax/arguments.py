"""A call as it would be with another argument, for a person to paste and for fixes."""

from __future__ import annotations

import ast
import re

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.outline import Outline, outline
from dllint.syntax.width import placed


def call_with(source: Source, span: Span, name: str, value: str) -> str:
    """The text of a call with a keyword argument added or changed; "" where it may be given already, unseen."""
    text = piece(source, span)
    seen = outline(text)
    call = _call(seen)
    if seen is None or call is None or any(item.arg is None for item in call.keywords):
        return ""
    given = next((item.value for item in call.keywords if item.arg == name), None)
    if given is not None:
        start, end = seen.offsets.span(given)
        return text[:start] + value + text[end:]
    ends = [seen.offsets.span(item)[1] for item in (*call.args, *(item.value for item in call.keywords))]
    return _added(text, max(ends, default=-1), f"{name}={value}")


def add_argument(source: Source, span: Span, argument: str) -> Edit | None:
    """The edit that gives a call one more keyword argument; None where the file, or what is given, cannot be read."""
    text = source.text[span.start : span.end]
    call = _call(outline(f"({text})"))
    given = [*call.args, *(item.value for item in call.keywords)] if call is not None else []
    if call is None or any(item.arg is None for item in call.keywords) or any(map(_is_starred, given)):
        return None
    seen = outline(f"({text})")
    ends = [seen.offsets.span(item)[1] - 1 for item in given] if seen is not None else []
    new = _added(text, max(ends, default=-1), argument)
    if source.newline not in text and new:
        new = placed(source, new, span.start, span.end)
    return Edit(source.path, span, new) if new else None


def _is_starred(given: ast.expr) -> bool:
    return isinstance(given, ast.Starred)


def piece(source: Source, span: Span) -> str:
    """The text of a span, with the indentation of its first line taken from the others, where no string is in them."""
    text = source.text[span.start : span.end]
    line = source.line(source.location(span.start)[0])
    indent = line[: len(line) - len(line.lstrip())]
    if '"""' in text or "'''" in text:
        return text
    return "\n".join(row.removeprefix(indent) for row in text.splitlines())


def _added(text: str, end: int, argument: str) -> str:
    """One more argument behind the last one, on a line of its own where that has its own; "" where it has brackets."""
    if end < 0:
        return f"{text[:-1].rstrip()}{argument})"
    rest = re.fullmatch(r"(?:\s*,)?((?:\s|#[^\n]*(?=\n|\Z))*)", text[end:-1])
    if rest is None:
        return ""
    if "\n" not in rest[1]:
        return f"{text[:end]}, {argument})"
    last = text[:end].splitlines()[-1]
    indent = last[: len(last) - len(last.lstrip())]
    body, closing = rest[1].rstrip(), rest[1][len(rest[1].rstrip()) :]
    return f"{text[:end]},{body}\n{indent}{argument},{closing})"


def _call(seen: Outline | None) -> ast.Call | None:
    """The call that a text is, and nothing besides."""
    if seen is None or len(seen.tree.body) != 1 or not isinstance(seen.tree.body[0], ast.Expr):
        return None
    value = seen.tree.body[0].value
    return value if isinstance(value, ast.Call) else None
