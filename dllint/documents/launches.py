"""Command lines in Python: `os.system("python train.py --workers 4")`, `subprocess.run(["python", "train.py"])`.

What a command line isn't known to say, as it is computed, stands there as a variable of the shell does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.documents.demands import Command, commands

_VARIABLE = "$_"
_PLACEHOLDER = r"%(?:\(\w+\))?[\ddfgirs.]*[dfgirs]|(?<!\$)\{[^{}\s]*\}"
"""What `%` and `format` put something in the place of."""


def launched(text: str, start: int, end: int) -> Iterator[Command]:
    """The command lines that the expression between two offsets says: a text, or a list of words."""
    import ast  # most projects are never asked

    code = text[start:end]
    if ".py" not in code and "-m" not in code:
        return
    try:
        said = _said(ast.parse(f"({code})", mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    found = [said] if isinstance(said, list) else [words for words, _ in commands(said, 0, len(said))]
    for words in found:
        yield Command(words, list(_places(words, text, start, end)))


def _said(node: object) -> str | list[str]:
    """A text, or the words of a list."""
    import ast

    match node:
        case ast.Constant(value=str(text)):
            return re.sub(_PLACEHOLDER, _VARIABLE, text)
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else _VARIABLE for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined(_said(left), _said(right))
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            words = map(_said, parts)
            return [word if isinstance(word, str) else _VARIABLE for word in words]
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"), args=[parts]):
            return between.join(_joined([], _said(parts)))
    return _VARIABLE


def _joined(left: str | list[str], right: str | list[str]) -> str | list[str]:
    """What is added: of a list and something that isn't known, a list."""
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    return [*([left] if isinstance(left, str) else left), *([right] if isinstance(right, str) else right)]


def _places(words: list[str], text: str, start: int, end: int) -> Iterator[int]:
    """Where each word stands between two offsets; what isn't found there, where the one before it does."""
    at = start
    for word in words:
        at = max(text.find(word, at, end), at)
        yield at
