"""GitLab CI: the `docker run` commands of its scripts."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.documents.containers.commands import found_in
from dllint.documents.containers.container import Container
from dllint.documents.containers.nodes import Node, documents, entries, items, text_of, walk
from dllint.source import Source

_SCRIPTS = frozenset({"before_script", "script", "after_script"})


def containers(source: Source) -> Iterator[Container]:
    """The containers that the jobs' scripts run; a script that several jobs share counts once."""
    seen: set[int] = set()
    for document in documents(source.text):
        for node in walk(document):
            for name, (_, value) in entries(node).items():
                for script in _texts(value) if name in _SCRIPTS else ():
                    if script.start_mark.index not in seen:
                        seen.add(script.start_mark.index)
                        yield from _of(source, script)


def _texts(value: Node) -> list[Node]:
    return [part for part in (value, *items(value)) if text_of(part)]


def _of(source: Source, script: Node) -> Iterator[Container]:
    start, end = script.start_mark.index, script.end_mark.index
    quoted = source.text[start] in "\"'"
    block = source.text[start] in "|>"
    begin = source.text.index("\n", start) + 1 if block else start + quoted
    yield from found_in(source, begin, end - quoted)
