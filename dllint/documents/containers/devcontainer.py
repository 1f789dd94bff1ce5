"""devcontainer.json: the arguments that its container is run with. Comments and trailing commas are allowed there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.documents.containers.commands import gives_memory, wants_gpu
from dllint.documents.containers.container import SIZE, Container, beside
from dllint.documents.containers.nodes import MappingNode, Node, documents, entries, items, scalars, text_of, walk
from dllint.fix import Edit
from dllint.source import Source, Span

_ARGUMENT = f'"--shm-size={SIZE}"'
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\r\n])*"|//[^\r\n]*|/\*.*?\*/|\t', re.DOTALL)


def containers(source: Source) -> Iterator[Container]:
    """The container of the file. One that a compose file describes is described there."""
    for document in documents(_without_comments(source.text))[:1]:
        found = {name: value for name, (_, value) in entries(document).items()}
        if not found.keys() & {"image", "build", "dockerFile"} or "dockerComposeFile" in found:
            continue
        arguments = scalars(found.get("runArgs"))
        mounts = [text for mount in items(found.get("mounts")) for node in walk(mount) if (text := text_of(node))]
        place = entries(document)[next(name for name in ("image", "build", "dockerFile") if name in found)][0]
        edit = _edit(source, document, found.get("runArgs"))
        inside = re.sub(r"(?:^|/)\.devcontainer/.*|(?:^|/)\.?devcontainer\.json$", "", source.path)
        yield Container(
            path=source.path,
            span=Span(place.start_mark.index, place.end_mark.index),
            name="",
            what="dev container",
            enough=gives_memory((*arguments, *mounts)),
            gpu=wants_gpu(arguments) or "gpu" in entries(found.get("hostRequirements")),
            folder=beside("", inside or "."),
            image=text_of(found.get("image")),
            remedy=f"`{_ARGUMENT}` in `runArgs`",
            edits=(edit,) if edit is not None else (),
        )


def _without_comments(text: str) -> str:
    """JSON that YAML reads, each character where it was."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\r\n]", " ", found)

    return _STRING_OR_COMMENT.sub(blank, text)


def _edit(source: Source, document: MappingNode, arguments: Node | None) -> Edit | None:
    """The argument as the first of `runArgs`, or a `runArgs` above the first key."""
    if arguments is None:
        first = document.value[0][0]
        return _before(source, first, f'"runArgs": [{_ARGUMENT}],')
    if items(arguments):
        return _before(source, items(arguments)[0], f"{_ARGUMENT},")
    start = arguments.start_mark.index
    if source.text[start] != "[":
        return None
    return Edit(source.path, Span(start + 1, start + 1), _ARGUMENT)


def _before(source: Source, node: Node, text: str) -> Edit:
    """A text in front of a node: on a line of its own where the node begins one."""
    start = node.start_mark.index
    row, column = source.location(start)
    indent = source.line(row)[: column - 1]
    apart = " " if indent.strip() else f"{source.newline}{indent}"
    return Edit(source.path, Span(start, start), text + apart)
