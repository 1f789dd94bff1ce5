"""New imports, put where the file's own order has them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import libcst as cst
from libcst.helpers import get_full_name_for_node

from dllint.fix import Edit, Import
from dllint.source import Source, Span
from dllint.syntax.layout import BLANK, begins_definition
from dllint.syntax.parse import Tree
from dllint.syntax.stores import binding, bound_names, imported_names
from dllint.syntax.walk import walk

_FUTURE, _STDLIB, _OTHER, _LOCAL = range(4)
_FIRST = re.compile(
    r"#.*(?:isort:\s*skip\b|\b(?:import|imported|keep|must|load)\b.*\b(?:first|before)\b)", re.IGNORECASE
)
"""Comments of an import that stays above the others."""
_SETTING = re.compile(r"(?:sys|os|site|warnings|logging)\.|[A-Z_]+\s*=|[\w.]+\.\w+\s*=")
"""What may come between imports: calls and assignments that no fix changes."""


class Line(NamedTuple):
    """An import statement at the beginning of a file, with its first and last row; whether it is said to be first."""

    node: cst.Import | cst.ImportFrom
    first: int
    last: int
    module: str
    section: int
    is_first: bool


class Place(NamedTuple):
    """Above which row a new line goes, with a blank line before and after it or not."""

    row: int
    before: bool = False
    after: bool = False


def add_imports(
    source: Source, tree: Tree, rows: Sequence[tuple[int, int]], imports: Iterable[Import], used: int = 0
) -> list[Edit]:
    """Edits that add the imports which the file lacks above the offset `used`, or at its beginning.

    `rows` are those of its top-level statements. Raises ValueError where a name would be shadowed.
    """
    lines, below, floor = _beginning(source, tree, rows)
    above = _above(source, tree, rows, used)
    elsewhere = bound_names(tree.module)
    joined: dict[Line, list[Import]] = {}
    placed: dict[int, list[tuple[int, Place, str]]] = {}
    once = {wanted.statement: wanted for wanted in imports}.values()
    for wanted in sorted(once, key=lambda wanted: (wanted.attribute != "", wanted.statement)):
        same = binding(wanted.module, wanted.attribute, wanted.alias)
        own = below if _is_below(lines, below, wanted) else lines
        if any(same in imported_names(line.node) for line in (*own, *above)):
            continue
        if any(other != same and not same[1] == other[1] == "" for other in elsewhere if other[0] == wanted.bound):
            raise ValueError(f"`{wanted.bound}` is something else in {source.path}")
        if wanted.starred and any(_is_last_star(tree, line, wanted) for line in (*own, *above)):
            continue
        host = _host([*own, *above], wanted)
        if host is None:
            place = _place(source, [line for line in own if not line.is_first], floor, wanted)
            placed.setdefault(place.row, []).append((_section(wanted.module), place, wanted.statement))
        else:
            joined.setdefault(host, []).append(wanted)
    edits = [_join(source, tree, line, group) for line, group in joined.items()]
    edits += [_insert(source, row, sorted(items, key=lambda item: item[0])) for row, items in placed.items()]
    return sorted(edits)


def _beginning(source: Source, tree: Tree, rows: Sequence[tuple[int, int]]) -> tuple[list[Line], list[Line], int]:
    """The file's first run of imports, those below settings, and the last row above the run.

    That is the row of its docstring, or of what is said to be imported first (0: it has none). What is for IPython does
    not end the run.
    """
    masked = [(source.location(span.start)[0], source.location(span.end)[0]) for span in source.masked]
    lines: list[Line] = []
    below: list[Line] = []
    floor, run = 0, lines
    for index, (statement, (first, last)) in enumerate(zip(tree.module.body, rows, strict=True)):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if isinstance(small, (cst.Import, cst.ImportFrom)):
            run.append(_line(source, small, first, last))
            floor = last if all(line.is_first for line in (*lines, *below)) else floor
        elif index == 0 and tree.module.get_docstring(clean=False) is not None:
            floor = last
        elif any(top <= first and last <= bottom for top, bottom in masked):
            continue
        elif small is not None and _SETTING.match(source.line(first)):
            run = below
        else:
            break
    return lines, below, floor


def _above(source: Source, tree: Tree, rows: Sequence[tuple[int, int]], used: int) -> list[Line]:
    """The imports that end above an offset, wherever they are at module level."""
    row = source.location(used)[0]
    return [
        _line(source, small, first, last)
        for statement, (first, last) in zip(tree.module.body, rows, strict=True)
        if last < row and isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body[:1]
        if isinstance(small, (cst.Import, cst.ImportFrom))
    ]


def _line(source: Source, node: cst.Import | cst.ImportFrom, first: int, last: int) -> Line:
    module = _module(node)
    return Line(node, first, last, module, _section(module), _is_first(source, first, last))


def _is_first(source: Source, first: int, last: int) -> bool:
    """Whether a comment of an import, or one above it, says that it stays above the others."""
    top = first
    while top > 1 and source.line(top - 1).startswith("#"):
        top -= 1
    return any(_FIRST.search(source.line(row)) for row in range(top, last + 1))


def _is_below(lines: list[Line], below: list[Line], wanted: Import) -> bool:
    """Whether only imports below settings, such as of `sys.path`, are from the package of one that is wanted."""
    outside = _section(wanted.module) in (_OTHER, _LOCAL)
    first, later = (any(_is_of(line, wanted) for line in run) for run in (lines, below))
    return outside and later and not first


def _module(node: cst.Import | cst.ImportFrom) -> str:
    if isinstance(node, cst.Import):
        return get_full_name_for_node(node.names[0].name) or ""
    return "." * len(node.relative) + ((node.module and get_full_name_for_node(node.module)) or "")


def _section(module: str) -> int:
    top = module.partition(".")[0]
    if module == "__future__":
        return _FUTURE
    if not top:
        return _LOCAL
    return _STDLIB if top in sys.stdlib_module_names else _OTHER


def _host(lines: list[Line], wanted: Import) -> Line | None:
    """The line `from module import ...` that an attribute can join."""
    if not wanted.attribute or wanted.alias:
        return None
    for line in lines:
        if isinstance(line.node, cst.ImportFrom) and line.module == wanted.module and _plain(line.node):
            return line
    return None


def _is_last_star(tree: Tree, line: Line, wanted: Import) -> bool:
    """Whether a line is `from module import *`, and no other one below may bind the name again."""
    if line.module != wanted.module or not isinstance(line.node.names, cst.ImportStar):
        return False
    *_, last = (node for node in walk(tree.module) if isinstance(node, cst.ImportStar))
    return last is line.node.names


def _plain(node: cst.ImportFrom) -> bool:
    return not isinstance(node.names, cst.ImportStar) and all(alias.asname is None for alias in node.names)


def _place(source: Source, lines: list[Line], floor: int, wanted: Import) -> Place:
    """isort's place: sections in order, plain imports first in each unless the file sorts by module alone.

    It is beside imports of the same package, where these stand apart. The first one of the project's own modules is
    below those of other packages.
    """
    section = _section(wanted.module)
    if wanted.own and section == _OTHER and lines and not any(_is_of(line, wanted) for line in lines):
        relative = [line for line in lines if line.section == _LOCAL]
        apart = len(_groups(source, lines)) > 1
        return Place(relative[0].first if relative else lines[-1].last + 1, before=apart, after=not relative)
    groups = _groups(source, [line for line in lines if line.section == section])
    beside = [group for group in groups if section == _OTHER and any(_is_of(line, wanted) for line in group)]
    group = next(iter(beside or groups), [])
    if group:
        for mixed in (False, True):
            keys = [_key(isinstance(line.node, cst.ImportFrom), line.module, mixed) for line in group]
            if keys == sorted(keys):
                key = _key(wanted.attribute != "", wanted.module, mixed)
                above = [line for line, other in zip(group, keys, strict=True) if other <= key]
                return Place(above[-1].last + 1 if above else group[0].first)
        same = [line for line in group if _is_of(line, wanted)]
        return Place((same or group)[-1].last + 1)
    earlier = [line for line in lines if line.section < section]
    if earlier:
        return Place(earlier[-1].last + 1, before=True, after=True)
    first = lines[0].first if lines else floor + 1 if floor else _below_comments(source)
    return Place(first, before=True, after=True)


def _key(is_from: bool, module: str, mixed: bool) -> tuple[bool, str]:
    return (is_from and not mixed, module.lower())


def _is_of(line: Line, wanted: Import) -> bool:
    """Whether a line imports from the package of a module that is wanted."""
    return line.module.partition(".")[0] == wanted.module.partition(".")[0]


def _groups(source: Source, lines: list[Line]) -> list[list[Line]]:
    """The lines between gaps: what follows a blank line is another section, say the project's own packages."""
    found: list[list[Line]] = []
    for index, line in enumerate(lines):
        between = range(lines[index - 1].last + 1, line.first) if index else ()
        if not index or any(not source.line(row).strip() for row in between):
            found.append([])
        found[-1].append(line)
    return found


def _insert(source: Source, row: int, items: list[tuple[int, Place, str]]) -> Edit:
    """New lines above a row, sections apart, unless the file has lines of both sections beside each other there."""
    newline = source.newline
    sections = groupby(items, key=lambda item: item[0])
    between = newline if any(place.before or place.after for _, place, _ in items) or _is_gap(source, row) else ""
    text = between.join("".join(statement + newline for _, _, statement in group) for _, group in sections)
    offset = source.line_starts[row - 1] if row <= len(source.line_starts) else len(source.text)
    if offset and not source.text[:offset].endswith(("\n", "\r")):
        text = newline + text
    if items[0][1].before and row > 1 and source.line(row - 1).strip():
        text = newline + text
    if items[-1][1].after and row <= len(source.line_starts) and source.line(row).strip():
        text += newline * (BLANK if begins_definition(source.line(row)) else 1)
    return Edit(source.path, Span(offset, offset), text)


def _is_gap(source: Source, row: int) -> bool:
    """Whether the line of a row, or the one above, is blank or none."""
    rows = (row - 1, row)
    return not all(0 < other <= len(source.line_starts) and source.line(other).strip() for other in rows)


def _below_comments(source: Source) -> int:
    """The row below the comments that a file begins with: licence, interpreter, encoding."""
    row = 1
    while row <= len(source.line_starts) and source.line(row).startswith("#"):
        row += 1
    return row


def _join(source: Source, tree: Tree, line: Line, wanted: list[Import]) -> Edit:
    """Names added to `from module import ...`, among those that are there."""
    assert not isinstance(line.node.names, cst.ImportStar)
    positions = tree.spans(frozenset({cst.ImportAlias}))
    aliases = [(alias.evaluated_name, positions[alias]) for alias in line.node.names]
    start, end = aliases[0][1][0], aliases[-1][1][1]
    pieces: list[str] = []
    gaps = [_gap(source, first) for _, (first, _) in aliases]
    if " " in gaps[1:]:  # several names in a line
        gaps = [" "] * len(gaps)
    waiting = sorted((item.attribute for item in wanted), key=_name_key)
    for index, (name, (first, last)) in enumerate(aliases):
        while waiting and _name_key(waiting[0]) < _name_key(name):
            pieces.append(waiting.pop(0) + "," + gaps[index])
        stop = aliases[index + 1][1][0] if index + 1 < len(aliases) else last
        pieces.append(source.text[first:stop])
    gap = gaps[-1] if len(aliases) > 1 or _comma_follows(source, end) else " "
    pieces += ["," + gap + name for name in waiting]
    return Edit(source.path, Span(start, end), "".join(pieces))


def _gap(source: Source, offset: int) -> str:
    """The text before a name in a list: a newline with the indentation, or a space."""
    row, column = source.location(offset)
    before = source.line(row)[: column - 1]
    return " " if before.strip() else source.newline + before


def _comma_follows(source: Source, offset: int) -> bool:
    return source.text[offset:].lstrip().startswith(",")


def _name_key(name: str) -> tuple[int, str]:
    """isort's order of names: constants, classes, the rest."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name
