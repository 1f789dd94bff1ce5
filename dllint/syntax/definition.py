"""The text of a function at module level, and the edit that puts it there."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Sequence

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import BLANK, begins_definition, blank_above
from dllint.syntax.outline import Offsets
from dllint.syntax.parse import Tree
from dllint.syntax.width import folded
from dllint.syntax.write import insertion_point, reindent


def split_lambda(code: str) -> tuple[str, str] | None:
    """The parameters and the body of a lambda as they are written; None where a parameter's comment would be lost."""
    starts = Offsets(code).starts
    depth = 0
    colon = -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({code})", newline="").readline):
            if token.type == tokenize.COMMENT and colon < 0:
                return None
            if token.type == tokenize.OP and token.string in "([{":
                depth += 1
            elif token.type == tokenize.OP and token.string in ")]}":
                depth -= 1
            elif token.type == tokenize.OP and token.string == ":" and depth == 1 and colon < 0:
                row, column = token.start
                colon = starts[row - 1] + column - (row == 1)
    except (tokenize.TokenError, SyntaxError):
        return None
    return (code[len("lambda") : colon].strip(), code[colon + 1 :].strip()) if colon > 0 else None


def returned(body: str, indent: str, unit: str, column: int = -1) -> str:
    """`return` with an expression that may go over several lines; its continuation lines move along.

    `column` is where it began: lines that are aligned with what follows a bracket stay so.
    """
    aligned = _aligned(body, column, len(f"{unit}return "))
    if aligned:
        return f"return {aligned}"
    try:
        ast.parse(f"_ = {body}")
    except SyntaxError:
        body = _in_brackets(body, indent, unit)
    try:
        lines = reindent(body + "\n", indent, unit)
    except ValueError:
        lines = body
    return "return " + lines.strip()


def _in_brackets(body: str, indent: str, unit: str) -> str:
    """An expression in brackets, which get lines of their own where one of its lines would be no deeper than they."""
    bracketed = f"({body})"
    if all(line.startswith((f"{indent} ", f"{indent}\t")) for line in body.split("\n")[1:]):
        return bracketed
    newline = "\r\n" if "\r\n" in body else "\n"
    try:
        deeper = reindent(bracketed + "\n", indent, indent + unit).strip()[1:-1]
    except ValueError:
        return bracketed
    return f"({newline}{indent}{unit}{deeper}{newline}{indent})"


def _aligned(body: str, column: int, new: int) -> str:
    """An expression of several lines at another column, where all are aligned with its first bracket; else ""."""
    first, *others = body.split("\n")
    bracket = column + re.match(r"[\w.]*", first).end() + 1  # type: ignore[union-attr]
    ends = first[bracket - column - 1 : bracket - column] == "(" and first.rstrip()[-1:] == ","
    if column < 0 or not others or not ends or '"""' in body or "'''" in body:
        return ""
    if any(len(line) - len(line.lstrip(" ")) < bracket for line in others):
        return ""
    return "\n".join(
        [first, *(" " * (len(line) - len(line.lstrip(" ")) - column + new) + line.lstrip(" ") for line in others)]
    )


def with_captured(arguments: ast.arguments, captured: Sequence[str], own: str) -> str:
    """Parameters with the captured variables in front, so that `functools.partial` can fill those in."""
    names = list(captured)
    if names not in ([], ["self"]) and arguments.kwarg is not None and not arguments.posonlyargs:
        names.append("/")  # a keyword of that name must still end up in `**kwargs`
    return ", ".join([*names, own] if own else names)


def definition(source: Source, name: str, parameters: str, body: Sequence[str]) -> str:
    """A function whose body is the given statements."""
    newline, unit = source.newline, source.unit
    header = folded(source, f"def {name}({parameters}):")
    return header + newline + "".join(f"{unit}{statement}{newline}" for statement in body)


def insertion(source: Source, tree: Tree, before: int, text: str, imports: bool) -> tuple[Edit, ...]:
    """A definition in front of the top-level statement that holds an offset, empty lines around it.

    The empty lines above are an edit of their own: of several definitions at one place only the first needs them.
    `imports`: the fix adds imports too, which come before it where the file begins with that statement.
    """
    at = insertion_point(source, tree, before)
    newline = source.newline
    row = source.location(at)[0]
    if source.text[:at].strip():
        missing = blank_above(source, row)
    else:
        missing = int(imports and not begins_definition(source.line(row)))
    edits = (Edit(source.path, Span(at, at), text + newline * BLANK),)
    return (Edit(source.path, Span(at, at), newline * missing), *edits) if missing else edits
