"""An attribute that each process makes for itself, on first use: a property in place of an assignment in `__init__`."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.layout import in_quotes, indent_at
from dllint.syntax.nested import end_of, rows
from dllint.syntax.outline import Outline, outline
from dllint.syntax.removal import imports_left_behind
from dllint.syntax.width import MOST, width
from dllint.syntax.write import reindent

_WRITTEN = re.compile(
    r"def __getstate__\((\w+)\):\s+(return \{\s*\*\*\1\.__dict__(?:,\s*(?:\"\w+\"|'\w+'): None)+(?:,\s*)?\})"
)

_OTHERS = "another process's"


class Lazy(NamedTuple):
    """An attribute that becomes lazy: `self.name = value`, with the names of its replacements.

    `store` keeps the value and `pid` the process that made it; `kept` are attributes that `__init__` sets for `value`
    to use: their names and what they are; `parts` those that are taken from it: name, text, offset of the assignment.
    `getpid` calls `os.getpid`; `dropped`: it is left out of pickles. At the offset `gone` an assignment begins that it
    is no longer needed for, of a variable that held it first. `column` is where the value begins, if that is known.
    `imported` is the import in `__init__` that the value needs. `why` what was opened is dropped first.
    """

    name: str
    value: str
    store: str
    pid: str
    getpid: str
    kept: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, str, int], ...] = ()
    dropped: bool = True
    gone: int = -1
    column: int = -1
    imported: str = ""
    why: str = ""


def lazy_attribute(source: Source, statement: int, lazy: Lazy) -> tuple[Edit, ...]:
    """The edits that make an assignment in `__init__`, which begins at an offset, lazy.

    Empty where the statement shares its lines with others, or the class has a `__getstate__` that is not such as these
    edits write. A comment behind it goes along.
    """
    seen = outline(source.text)
    starts = [statement, *(part[2] for part in lazy.parts), *([lazy.gone] if lazy.gone >= 0 else [])]
    places = [_assignment_at(seen, start) for start in starts] if seen else []
    if seen is None or not all(place and _stands_alone(source, seen, place) for place in places):
        return ()
    if any(_comment(source, seen, place) for place in places[1:] if place):
        return ()
    assignment, *parts = (place for place in places if place)
    init, klass = (step for step, _ in list(seen.path(assignment))[:2])
    if not isinstance(init, ast.FunctionDef) or not isinstance(klass, ast.ClassDef) or init.decorator_list:
        return ()
    parameters = [*init.args.posonlyargs, *init.args.args]
    if not parameters:
        return ()
    self, unit, indent = parameters[0].arg, source.unit, source.line(init.lineno)[: init.col_offset]
    edits = [Edit(source.path, _rows_of(source, part), "") for part in parts]
    edits += imports_left_behind(source, seen, assignment) if lazy.imported else ()
    span = _rows_of(source, assignment)
    margin = source.text[span.start : seen.offsets.span(assignment)[0]]
    set_up = [*(f"{name} = {text}" for name, text in lazy.kept), f"{lazy.store} = {self}.{lazy.pid} = None"]
    edits.append(Edit(source.path, span, _lines(source, f"{margin}{self}.", set_up)))
    inner = indent + unit * 2
    text = f"{lazy.value}{_comment(source, seen, assignment)}"
    value = _aligned(source, text, lazy.column, len(f"{inner}{self}.{lazy.store} = "))
    value = value or reindent(text + source.newline, margin, inner).strip()
    members = _properties(self, lazy._replace(value=value), unit)
    own = next((item for item in klass.body if getattr(item, "name", "") == "__getstate__"), None)
    if not lazy.dropped or own is None:
        room = width(source) - len(indent + unit)
        members += [[in_quotes(source, line) for line in _getstate(self, lazy, unit, room)]] if lazy.dropped else []
        return *edits, _below(source, end_of(source, rows(source, seen, init)[1]), indent, members)
    start, end = seen.offsets.span(own)
    written = _WRITTEN.fullmatch(source.text[start:end])
    if written is None:
        return ()
    edits.append(_above(source, source.line_starts[own.lineno - 1], indent, members))
    names = [*re.findall(r"(\w+)[\"']: None", written[2]), lazy.store, lazy.pid]
    margin = indent_at(source, start + written.start(2))
    state = _state_with(written[1], names, unit, width(source) - len(margin))
    text = f"{source.newline}{margin}".join(in_quotes(source, line) for line in state)
    return *edits, Edit(source.path, Span(start + written.start(2), end), text)


def _aligned(source: Source, text: str, column: int, new: int) -> str:
    """A value at another column, with the lines that are aligned with where it began; "" where they are not."""
    first, *below = text.split(source.newline)
    if column < 0 or not below or any(line[:column].strip() for line in below) or '"""' in text or "'''" in text:
        return ""
    return source.newline.join([first, *(" " * new + line[column:] for line in below)])


def made_again(source: Source, statement: int, name: str, value: str) -> tuple[Edit, ...]:
    """The methods that leave an attribute, set in `__init__` at an offset, out of the pickle and make it again.

    Empty where it is not set by a statement in `__init__`.
    """
    seen = outline(source.text)
    assignment = _assignment_at(seen, statement) if seen else None
    init = seen.parents[assignment][0] if seen and assignment else None
    if seen is None or not isinstance(init, ast.FunctionDef) or init.decorator_list or not init.args.args:
        return ()
    self, unit, indent = init.args.args[0].arg, source.unit, source.line(init.lineno)[: init.col_offset]
    members = [[in_quotes(source, line) for line in lines] for lines in _state_without(self, name, value, unit)]
    return (_below(source, end_of(source, rows(source, seen, init)[1]), indent, members),)


def state_without(name: str, value: str) -> str:
    """The same to paste."""
    return "\n\n".join("\n".join(lines) for lines in _state_without("self", name, value, "    "))


def _state_without(self: str, name: str, value: str, unit: str) -> list[list[str]]:
    kept = f'{{key: value for key, value in {self}.__dict__.items() if key != "{name}"}}'
    return [
        [f"def __getstate__({self}):", f"{unit}return {kept}"],
        [f"def __setstate__({self}, state):", f"{unit}{self}.__dict__.update(state)", f"{unit}{self}.{name} = {value}"],
    ]


def _rows_of(source: Source, statement: ast.stmt) -> Span:
    return Span(source.line_starts[statement.lineno - 1], end_of(source, statement.end_lineno or statement.lineno))


def is_lazy_state(definition: str) -> bool:
    """Whether a `__getstate__` is such as `lazy_attribute` writes, and can take more entries."""
    return _WRITTEN.fullmatch(definition) is not None


def lazy_members(lazy: Lazy) -> str:
    """The code to paste into the class and its `__init__`."""
    set_up = [*(f"self.{name} = {text}" for name, text in lazy.kept), f"self.{lazy.store} = self.{lazy.pid} = None"]
    members = [*_properties("self", lazy, "    "), *([_getstate("self", lazy, "    ")] if lazy.dropped else [])]
    return "\n\n".join("\n".join(lines) for lines in [["# in __init__:", *set_up], *members])


def _properties(self: str, lazy: Lazy, unit: str) -> list[list[str]]:
    """The property, and one for each part, as lines."""
    whole = [
        "@property",
        f"def {lazy.name}({self}):",
        f"{unit}if {self}.{lazy.pid} != {lazy.getpid}():",
        *([f"{unit}{unit}{lazy.imported}", ""] if lazy.imported else []),
        *([f"{unit}{unit}{self}.{lazy.store} = None  # {lazy.why or _OTHERS}"] if lazy.dropped else []),
        f"{unit}{unit}{self}.{lazy.store} = {lazy.value}",
        f"{unit}{unit}{self}.{lazy.pid} = {lazy.getpid}()",
        f"{unit}return {self}.{lazy.store}",
    ]
    parts = [["@property", f"def {name}({self}):", f"{unit}return {text}"] for name, text, _ in lazy.parts]
    return [whole, *parts]


def _getstate(self: str, lazy: Lazy, unit: str, room: int = MOST) -> list[str]:
    state = _state_with(self, [lazy.store, lazy.pid], unit, room)
    return [f"def __getstate__({self}):", *(unit + line for line in state)]


def _state_with(self: str, names: list[str], unit: str, room: int) -> list[str]:
    """The statement that returns the state without some attributes: an entry a line where one line has no room."""
    entries = [f"**{self}.__dict__", *(f'"{name}": None' for name in names)]
    line = f"return {{{', '.join(entries)}}}"
    return [line] if len(line) <= room else ["return {", *(f"{unit}{entry}," for entry in entries), "}"]


def _below(source: Source, at: int, indent: str, members: list[list[str]]) -> Edit:
    """Members after a function, an empty line before each."""
    text = "" if source.text[:at].endswith(("\n", "\r")) else source.newline
    text += "".join(source.newline + _lines(source, indent, lines) for lines in members)
    return Edit(source.path, Span(at, at), text)


def _above(source: Source, at: int, indent: str, members: list[list[str]]) -> Edit:
    """Members before a function, an empty line after each."""
    text = "".join(_lines(source, indent, lines) + source.newline for lines in members)
    return Edit(source.path, Span(at, at), text)


def _lines(source: Source, indent: str, lines: list[str]) -> str:
    return "".join((indent + line if line else "") + source.newline for line in lines)


def _assignment_at(seen: Outline, start: int) -> ast.Assign | None:
    found = (node for node in ast.walk(seen.tree) if isinstance(node, ast.Assign) and len(node.targets) == 1)
    return next((node for node in found if seen.offsets.span(node)[0] == start), None)


def _stands_alone(source: Source, seen: Outline, statement: ast.stmt) -> bool:
    """Whether a statement has its lines for itself, without comments inside."""
    start, end = seen.offsets.span(statement)
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    before = source.text[source.line_starts[first - 1] : start]
    after = source.text[end : end_of(source, last)].strip()
    return not before.strip() and (not after or after.startswith("#")) and "#" not in source.text[start:end]


def _comment(source: Source, seen: Outline, statement: ast.stmt) -> str:
    """The comment behind a statement, with the space before it."""
    after = source.text[seen.offsets.span(statement)[1] : end_of(source, statement.end_lineno or statement.lineno)]
    return f"  {after.strip()}" if after.strip() else ""
