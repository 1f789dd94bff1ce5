"""What editors call a document, and what dllint calls a file: cells of a notebook are documents of one file."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from lsprotocol.types import NotebookCellKind, NotebookDocument
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument, Workspace

from dllint.documents.notebook import compose
from dllint.source import Part


def place_of(uri: str) -> str | None:
    """The absolute path of a document that is a file; None for any other."""
    if not uri.startswith("file:"):
        return None
    path = to_fs_path(uri)
    return os.path.normpath(path) if path else None


def uri_of(place: str) -> str:
    """The address of a file."""
    return from_fs_path(place) or ""


def _encoded(text: str) -> bytes:
    """A buffer as the bytes that it would be written as: its coding comment says which."""
    data = text.encode("utf-8", "replace")
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(data).readline)[0], "replace")
    except SyntaxError:
        return data


class Documents:
    """The documents that are open in an editor."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def buffer(self, uri: str) -> tuple[str, bytes] | None:
        """The place and the content of a document, or of the notebook that it is a cell of."""
        notebook = self._notebook(uri)
        if notebook is not None:
            place = place_of(notebook.uri)
            return (place, self._composed(notebook)) if place else None
        place, document = place_of(uri), self._open(uri)
        return (place, _encoded(document.source)) if place and document is not None else None

    def place(self, uri: str) -> str | None:
        """The file that a document is, or is a cell of."""
        notebook = self._notebook(uri)
        return place_of(notebook.uri if notebook is not None else uri)

    def address(self, place: str, part: Part) -> str:
        """The document that shows a part of a file."""
        notebook = self._workspace.get_notebook_document(notebook_uri=uri_of(place))
        if notebook is None or part.cell is None or part.cell > len(notebook.cells):
            return uri_of(place)
        return notebook.cells[part.cell - 1].document

    def cell(self, uri: str) -> int | None:
        """The number of a document's cell."""
        notebook = self._notebook(uri)
        if notebook is None:
            return None
        return next((number for number, cell in enumerate(notebook.cells, start=1) if cell.document == uri), None)

    def cells(self, place: str) -> Sequence[str]:
        """The documents of an open notebook."""
        notebook = self._workspace.get_notebook_document(notebook_uri=uri_of(place))
        return [cell.document for cell in notebook.cells] if notebook is not None else []

    def version(self, uri: str) -> int | None:
        """The version of an open document."""
        document = self._open(uri)
        return document.version if document is not None else None

    def _open(self, uri: str) -> TextDocument | None:
        document: TextDocument | None = self._workspace.text_documents.get(unquote(uri))
        return document

    def _notebook(self, uri: str) -> NotebookDocument | None:
        workspace = self._workspace
        return workspace.get_notebook_document(notebook_uri=uri) or workspace.get_notebook_document(cell_uri=uri)

    def _composed(self, notebook: NotebookDocument) -> bytes:
        return compose(list(self._codes(notebook)))

    def _codes(self, notebook: NotebookDocument) -> Iterator[tuple[str, str, str]]:
        for cell in notebook.cells:
            document = self._open(cell.document)
            kind = "code" if cell.kind == NotebookCellKind.Code and document is not None else "markdown"
            yield kind, (document and document.language_id) or "", document.source if document is not None else ""
