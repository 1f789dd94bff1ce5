"""Files that are not plain Python: notebooks as sources; what containers are started, in `containers`."""

from __future__ import annotations

from dllint.source import Source, is_notebook


def read(path: str, data: bytes) -> Source:
    """A file as a source. Raises Unreadable."""
    if not is_notebook(path):
        return Source.from_bytes(path, data)
    from dllint.documents.notebook import Notebook

    return Notebook.from_bytes(path, data)
