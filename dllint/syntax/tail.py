"""The end of a script: its top-level statements, and the edit that puts the last ones under the main guard."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from dllint.fix import Edit
from dllint.source import Source, Span
from dllint.syntax.headings import banners_of, is_code, with_headings
from dllint.syntax.layout import BLANK, blank_above, in_quotes, indent_unit
from dllint.syntax.module_names import is_main_guard
from dllint.syntax.nested import end_of, read_at_once, rows
from dllint.syntax.outline import Outline, outline
from dllint.syntax.refold import refolded
from dllint.syntax.removal import lines_of, stands_alone
from dllint.syntax.scoping import bindings
from dllint.syntax.write import closed_up, reindent

GUARD = 'if __name__ == "__main__":'
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAKERS = {"namedtuple", "NamedTuple", "TypedDict", "NewType", "make_dataclass", "Enum", "IntEnum", "type", "wraps"}
"""Calls that make a class or a function, which must be found under its name."""
_VERSIONS = {"__version__", "version_info"}
"""Attributes by which a script chooses what it takes of a library."""

_FOR_TOOLS = re.compile(
    r"#\s*(?:%%|#{3}|-\*-|vim?:|ex:|Local Variables|End:|(?:fmt|ruff|pylint|isort|yapf|mypy|type):)"
)
"""Comments at the end of a file that editors, formatters and galleries read."""


class Statement(NamedTuple):
    """A top-level statement with the names that it binds.

    `kind` is definition (a function or class, or a call that makes one), import, guard, text (a string alone),
    constant (a name in capitals for a literal, a name by the version of a library, or a change of `sys.path`) or other.
    `at_once` are the names that it reads when it runs, and not only when its functions are called.
    """

    kind: str
    span: Span
    names: frozenset[str]
    at_once: frozenset[str] = frozenset()


def top_statements(source: Source) -> list[Statement] | None:
    """The top-level statements of a file; None where the running Python cannot read it."""
    seen = outline(source.text)
    return None if seen is None else [_statement(seen, node) for node in seen.tree.body]


def _statement(seen: Outline, node: ast.stmt) -> Statement:
    start, end = seen.offsets.span(node)
    start = min([start, *(seen.offsets.span(item)[0] - 1 for item in getattr(node, "decorator_list", ()))])
    names = frozenset(bindings(ast.Module([node], [])))
    return Statement(_kind(node), Span(start, end), names, frozenset(read_at_once(node)))


def _kind(node: ast.stmt) -> str:
    if isinstance(node, ast.If) and not node.orelse and _is_guard(node.test):
        return "guard"
    if _imports(node):
        return "import"
    made = isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
    if isinstance(node, _DEFINITIONS) or (made and any(_makes(part) for part in ast.walk(node))):
        return "definition"
    match node:
        case ast.Expr(value=ast.Constant()):
            return "text"
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=called))) if ast.unparse(called) == "sys.path":
            return "constant"
        case ast.If(test=test) if _asks_version(test) and all(map(_is_choice, node.body + node.orelse)):
            return "constant"
        case ast.Assign(targets=targets, value=value) if _is_literal(value):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            fixed = all(name.isupper() or name.startswith("__") for name in names)
            return "constant" if fixed and len(names) == len(targets) else "other"
    return "other"


def _imports(node: ast.stmt) -> bool:
    """An import, or several of which one is tried: what stands in for it is another one, or a literal."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=[]) if all(map(_imports, body)):
            failed = [item for handler in handlers for item in handler.body]
            instead = [*orelse, *(item for item in failed if not _tells(item))]
            return all(_imports(item) or _is_constant(item) for item in instead)
    return False


def _is_constant(node: ast.stmt) -> bool:
    """`pass`, or a name for what is written out."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Assign) and _is_literal(node.value))


def _asks_version(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in _VERSIONS for part in ast.walk(test))


def _is_choice(node: ast.stmt) -> bool:
    """Whether a statement only names something of a library, or says something."""
    names = isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute))
    return names or _tells(node) or _imports(node) or _is_constant(node)


def _tells(node: ast.stmt) -> bool:
    """Whether a statement says what is missing: it raises, prints or warns."""
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return isinstance(node, ast.Raise) or name in ("print", "warn", "warning")


def _is_guard(test: ast.expr) -> bool:
    """The main guard, also with further conditions."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(_is_guard, test.values))
    return is_main_guard(test)


def _makes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in _MAKERS and not (called == "type" and len(node.args) == 1)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def guarded(
    source: Source, first: Span, last: Span, lifted: Sequence[Span] = (), gone: Sequence[Span] = ()
) -> Edit | None:
    """Whole statements under the main guard, with the comments right above the first; None where a line is shared.

    Code that is commented out and ends the file goes along. `lifted` are definitions and imports among them that go
    above it, the imports first; `gone` are those that it does not keep. A guard that follows at once is the one.
    """
    top, bottom = source.location(first.start)[0], source.location(last.end)[0]
    before = source.text[source.row_span(top).start : first.start]
    after = source.text[last.end : source.row_span(bottom).end].strip()
    if before or (after and not after.startswith("#")):
        return None
    while top > 1 and source.line(top - 1).startswith("#"):
        top -= 1
    top = with_headings(source, top)
    bottom = _with_end(source, _with_block(source, bottom))
    moved = sorted(_lifted_rows(source, lifted), key=lambda pair: not _is_import(source, pair))
    banners = banners_of(source, _named(source, moved), top)
    start = source.row_span(top).start
    end = end_of(source, bottom)
    gap = source.newline if top > 1 and source.line(top - 1).strip() else ""
    texts = (_with_banner(source, banners.get(pair)) + _whole(source, pair) for pair in moved)
    above = "".join(_gap(source, moved, index, top) + text for index, text in enumerate(texts))
    if moved and _is_import(source, moved[0]) and _is_import(source, joined := _above(source, top)):
        start = end_of(source, joined[1])
    gap = above + source.newline * BLANK if above else gap
    dropped = _lifted_rows(source, gone)
    taken = {row for pair in (*moved, *dropped, *banners.values()) for row in range(pair[0], pair[1] + 1)}
    rest = "".join(_lines(source, row, row) for row in range(top, bottom + 1) if row not in taken)
    following = _guard_below(source, bottom)
    try:
        unit = following.unit if following is not None else indent_unit(source, rest)
        inside = closed_up(reindent(rest.lstrip("\r\n"), "", unit))
    except ValueError:
        return None
    block = refolded(source, inside)
    if following is not None:
        header = source.text[following.header.start : following.header.end]
        block = block.rstrip("\r\n") + source.newline * 2
        return Edit(source.path, Span(start, following.header.end), f"{gap}{header}{block}")
    return Edit(source.path, Span(start, end), f"{gap}{in_quotes(source, GUARD)}{source.newline}{block}")


class _Guard(NamedTuple):
    """A main guard without an alternative: its first line, and how much its block is indented."""

    header: Span
    unit: str


def _guard_below(source: Source, row: int) -> _Guard | None:
    """The main guard that is the next thing below a row."""
    seen = outline(source.text)
    node = next((node for node in seen.tree.body if node.lineno > row), None) if seen is not None else None
    if seen is None or not isinstance(node, ast.If) or node.orelse or not is_main_guard(node.test):
        return None
    first = node.body[0]
    if first.lineno == node.lineno or any(source.line(between).strip() for between in range(row + 1, node.lineno)):
        return None
    margin = Span(source.line_starts[first.lineno - 1], seen.offsets.span(first)[0])
    header = Span(source.line_starts[node.lineno - 1], source.line_starts[node.lineno])
    return _Guard(header, source.text[margin.start : margin.end])


def _whole(source: Source, lines: tuple[int, int]) -> str:
    return _lines(source, *lines).rstrip("\r\n") + source.newline


def _with_banner(source: Source, banner: tuple[int, int] | None) -> str:
    """A banner that goes above a definition, with the empty line that it has below it; "" without one."""
    if banner is None:
        return ""
    return _whole(source, banner) + ("" if source.line(banner[1] + 1).strip() else source.newline)


def _gap(source: Source, moved: Sequence[tuple[int, int]], index: int, top: int) -> str:
    """The empty lines above something that goes above the guard; none between imports."""
    before = moved[index - 1] if index else _above(source, top)
    if _is_import(source, moved[index]) and _is_import(source, before):
        return ""
    between = _between(source, before, moved[index]) if index else None
    return source.newline * (blank_above(source, top) if not index else BLANK if between is None else between)


def _between(source: Source, above: tuple[int, int], below: tuple[int, int]) -> int | None:
    """How many empty lines there are between two pairs of rows; None where there is something else."""
    between = range(above[1] + 1, below[0])
    apart = below[0] <= above[1] or any(source.line(row).strip() for row in between)
    return None if apart else len(between)


def _above(source: Source, row: int) -> tuple[int, int]:
    """The rows of the top-level statement that ends above a row, or (0, 0)."""
    seen = outline(source.text)
    nodes = seen.tree.body if seen is not None else []
    return max(((node.lineno, node.end_lineno or 0) for node in nodes if (node.end_lineno or 0) < row), default=(0, 0))


def _is_import(source: Source, lines: tuple[int, int]) -> bool:
    """Whether the statement of some rows is an import."""
    seen = outline(source.text)
    kinds = (ast.Import, ast.ImportFrom)
    nodes = seen.tree.body if seen is not None else []
    return any(isinstance(node, kinds) and lines[0] <= node.lineno <= lines[1] for node in nodes)


def _with_block(source: Source, bottom: int) -> int:
    """The last row of a statement that ends in a row, with the comments that end its block."""
    rows_below = range(bottom + 1, len(source.line_starts) + 1) if source.line(bottom)[:1].isspace() else ()
    for row in rows_below:
        if re.match(r"[ \t]+#", source.line(row)):
            bottom = row
        elif source.line(row).strip():
            break
    return bottom


def _with_end(source: Source, bottom: int) -> int:
    """The last row with a comment, if a file ends with code that is commented out below a row; else that row."""
    below = {
        row: source.line(row) for row in range(bottom + 1, len(source.line_starts) + 1) if source.line(row).strip()
    }
    alone = all(line.startswith("#") and not _FOR_TOOLS.match(line) for line in below.values())
    return max(below) if alone and any(map(is_code, below.values())) else bottom


def _lifted_rows(source: Source, lifted: Sequence[Span]) -> list[tuple[int, int]]:
    """The first and last row of definitions and imports, with their comments and headings."""
    seen = outline(source.text)
    if not lifted or seen is None:
        return []
    ends = {span.end for span in lifted}
    found = [node for node in seen.tree.body if seen.offsets.span(node)[1] in ends]
    return [_with_comments(source, node, *rows(source, seen, node)) for node in found]


def _with_comments(source: Source, node: ast.stmt, first: int, last: int) -> tuple[int, int]:
    if _begins_paragraph(source, node, last):
        return node.lineno, last
    return with_headings(source, first) if isinstance(node, _DEFINITIONS) else first, last


def _named(source: Source, moved: Sequence[tuple[int, int]]) -> list[tuple[str, tuple[int, int]]]:
    """The names of the functions and classes of some rows, with these."""
    seen = outline(source.text)
    nodes = [node for node in seen.tree.body if isinstance(node, _DEFINITIONS)] if seen is not None else []
    return [(node.name, pair) for node in nodes for pair in moved if pair[0] <= node.lineno <= pair[1]]


def _begins_paragraph(source: Source, node: ast.stmt, last: int) -> bool:
    """Whether other statements follow an import at once, so that a comment above is about all of them."""
    below = source.line(last + 1).strip() if last < len(source.line_starts) else ""
    return isinstance(node, (ast.Import, ast.ImportFrom)) and not below.startswith(("import ", "from ")) and bool(below)


def _lines(source: Source, first: int, last: int) -> str:
    return source.text[source.line_starts[first - 1] : end_of(source, last)]


def into_guard(source: Source, start: int) -> tuple[Edit, ...]:
    """A top-level statement, which begins at an offset, under the main guard: the next statement's, or one of its own.

    Empty where it shares its lines.
    """
    seen = outline(source.text)
    body = seen.tree.body if seen else []
    index = next((i for i, node in enumerate(body) if seen and seen.offsets.span(node)[0] == start), -1)
    if seen is None or index < 0:
        return ()
    statement, following = body[index], body[index + 1] if index + 1 < len(body) else None
    span = Span(*seen.offsets.span(statement))
    if isinstance(following, ast.If) and is_main_guard(following.test) and stands_alone(source, seen, statement):
        first = following.body[0]
        at, inside = source.line_starts[first.lineno - 1], seen.offsets.span(first)[0]
        if first.lineno > following.lineno:
            moved = reindent(source.text[span.start : span.end] + source.newline, "", source.text[at:inside])
            return (
                Edit(source.path, lines_of(source, statement, index == 0), ""),
                Edit(source.path, Span(at, at), moved),
            )
    edit = guarded(source, span, span)
    return (edit,) if edit is not None else ()
