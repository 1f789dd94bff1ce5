"""`docker run` in the code blocks of Markdown: what a README tells people to type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dllint.documents.containers.commands import found_in
from dllint.documents.containers.container import Container
from dllint.source import Source

BLOCK = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<fenced>.*?)^[ \t>]*(?P=fence)"
    r"|^(?:    |\t)(?P<indented>[^\n]*(?:\n(?:    |\t)[^\n]*)*)",
    re.MULTILINE | re.DOTALL,
)
_PROMPT = r"[ \t]*(?:[$%>][ \t]+)?"


def containers(source: Source) -> Iterator[Container]:
    """The containers that the commands in code blocks run."""
    for block in BLOCK.finditer(source.text):
        kind = "fenced" if block["fence"] else "indented"
        yield from found_in(source, block.start(kind), block.end(kind), _PROMPT)
