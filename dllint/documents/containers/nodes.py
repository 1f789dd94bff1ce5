"""YAML as nodes with their places, and texts inserted between them: what is there stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dllint.fix import Edit
from dllint.source import Source, Span

__all__ = [
    "MappingNode",
    "Node",
    "add_entry",
    "add_item",
    "documents",
    "entries",
    "items",
    "scalars",
    "text_of",
    "walk",
]

_DEPTH = 20
_ENTRIES_FIRST = ("image", "build", "name", "container_name")
"""New entries go below one of these, if there is one."""


def documents(text: str) -> list[MappingNode]:
    """The documents of a file that are mappings; none of a file that isn't YAML, such as a template."""
    try:
        return [node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if isinstance(node, MappingNode)]
    except (yaml.YAMLError, RecursionError, ValueError):
        return []


def entries(node: Node | None, depth: int = _DEPTH) -> dict[str, tuple[Node, Node]]:
    """The keys of a mapping with their key and value nodes, those that `<<` merges in included."""
    if not isinstance(node, MappingNode) or depth == 0:
        return {}
    found: dict[str, tuple[Node, Node]] = {}
    for key, value in node.value:
        if text_of(key) == "<<":
            for other in value.value if isinstance(value, SequenceNode) else (value,):
                found = {**entries(other, depth - 1), **found}
    return {**found, **{name: (key, value) for key, value in node.value if (name := text_of(key)) and name != "<<"}}


def items(node: Node | None) -> list[Node]:
    """The items of a sequence."""
    return list(node.value) if isinstance(node, SequenceNode) else []


def text_of(node: Node | None) -> str:
    """A scalar's text, "" for everything else."""
    return str(node.value) if isinstance(node, ScalarNode) else ""


def scalars(node: Node | None) -> list[str]:
    """The texts of a scalar, or of the scalars in a sequence."""
    return (
        [text_of(node)] if isinstance(node, ScalarNode) else [text for item in items(node) if (text := text_of(item))]
    )


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, each once."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if id(here) in seen:
            continue
        seen.add(id(here))
        yield here
        if isinstance(here, MappingNode):
            waiting += [part for pair in reversed(here.value) for part in reversed(pair)]
        elif isinstance(here, SequenceNode):
            waiting += reversed(here.value)


def add_entry(source: Source, after: Node, mapping: Node, block: Sequence[str], flow: str) -> Edit | None:
    """Write an entry into a mapping; None for a mapping that isn't after its key or sequence: an alias."""
    if not isinstance(mapping, MappingNode) or not mapping.value or not _is_after(after, mapping):
        return None
    if mapping.flow_style:
        return _insert(source, source.text.index("{", mapping.start_mark.index) + 1, f"{flow}, ")
    pairs = [pair for pair in mapping.value if _is_one_line(*pair)]
    pairs.sort(key=lambda pair: _rank(text_of(pair[0])))
    column = mapping.value[0][0].start_mark.column
    if pairs:
        row = source.location(pairs[0][1].end_mark.index)[0]
        return _insert(source, source.row_span(row).end, _lines(source, column, block, below=True))
    start = mapping.value[0][0].start_mark.index
    return _insert(source, start, _lines(source, column, block, below=False))


def add_item(source: Source, after: Node, sequence: Node, block: Sequence[str], flow: str) -> Edit | None:
    """Write an item to the end of a sequence, to the beginning of one in brackets; None for an alias."""
    if not isinstance(sequence, SequenceNode) or not _is_after(after, sequence):
        return None
    if sequence.flow_style:
        start = source.text.index("[", sequence.start_mark.index) + 1
        return _insert(source, start, f"{flow}, " if sequence.value else flow)
    dash = source.text.rfind("-", 0, sequence.value[0].start_mark.index)
    if dash < sequence.start_mark.index or source.text[dash + 1 : sequence.value[0].start_mark.index].strip():
        return None
    column = source.location(dash)[1] - 1
    lines = [f"{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(block)]
    return _insert(source, _end(source, sequence, column), _lines(source, column, lines, below=True))


def _is_after(before: Node, value: Node) -> bool:
    """Whether a value stands where its key or sequence has it: an alias has its node elsewhere, for others too."""
    return bool(value.start_mark.index >= before.start_mark.index)


def _is_one_line(key: Node, value: Node) -> bool:
    plain = isinstance(value, ScalarNode) and value.style not in ("|", ">")
    return plain and _is_after(key, value) and value.end_mark.line == key.start_mark.line


def _rank(name: str) -> int:
    return _ENTRIES_FIRST.index(name) if name in _ENTRIES_FIRST else len(_ENTRIES_FIRST)


def _lines(source: Source, column: int, block: Sequence[str], below: bool) -> str:
    """Lines at a column: below a line, or in front of what begins at that column."""
    indent, newline = " " * column, source.newline
    return "".join(f"{newline}{indent}{line}" if below else f"{line}{newline}{indent}" for line in block)


def _end(source: Source, sequence: SequenceNode, column: int) -> int:
    """Where the last line of a sequence ends: its node's end is where the next one begins, comments between."""
    row = source.location(sequence.end_mark.index)[0]
    if source.text[source.line_starts[row - 1] : sequence.end_mark.index].strip() == "":
        row -= 1
    while row > 1 and _is_apart(source.line(row), column):
        row -= 1
    return source.row_span(row).end


def _is_apart(line: str, column: int) -> bool:
    """Whether a line is empty, or a comment that is not indented more than the sequence."""
    bare = line.strip()
    return not bare or (bare.startswith("#") and len(line) - len(line.lstrip()) <= column)


def _insert(source: Source, at: int, text: str) -> Edit:
    return Edit(source.path, Span(at, at), text)
