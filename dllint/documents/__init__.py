"""Files that are not plain Python: notebooks as sources; what containers are started, in `containers`."""

from __future__ import annotations

from dllint.documents.notebook import Notebook, compose
from dllint.source import Source, is_notebook

__all__ = ["Notebook", "compose", "read"]


def read(path: str, data: bytes) -> Source:
    """A file as a source. Raises Unreadable."""
    return Notebook.from_bytes(path, data) if is_notebook(path) else Source.from_bytes(path, data)
