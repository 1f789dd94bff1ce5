"""A conversation with `dllint server`, for tests."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp")
types = pytest.importorskip("lsprotocol.types")

REPOSITORY = Path(__file__).resolve().parent.parent
PATIENCE_S = 30.0
PULLS = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        diagnostic=types.DiagnosticClientCapabilities(),
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"])
        ),
    ),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
    general=types.GeneralClientCapabilities(position_encodings=["utf-8"]),
)
"""A client that asks for diagnostics and resolves actions."""


class Editor:
    """What an editor does, its buffers included. Names are paths below the folder."""

    def __init__(self, client: Any, folder: Path, capabilities: Any) -> None:
        self.client = client
        self.capabilities = capabilities
        """Those of the server."""
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

    def uri(self, name: str) -> str:
        return name if "://" in name or name.startswith("cell:") else (self.folder / name).as_uri()

    def document(self, name: str) -> Any:
        return types.TextDocumentIdentifier(self.uri(name))

    def open(self, name: str, text: str | None = None) -> None:
        self.texts[name] = (self.folder / name).read_text(encoding="utf-8") if text is None else text
        self.versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), "python", 1, self.texts[name])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, text: str) -> None:
        self.texts[name] = text
        self.versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def type(self, name: str, at: int, text: str) -> None:
        """Insert a text at an offset, as an editor sends it."""
        where = self.position(self.texts[name], at)
        self.texts[name] = self.texts[name][:at] + text + self.texts[name][at:]
        self.versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        change = types.TextDocumentContentChangePartial(types.Range(where, where), text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def save(self, name: str) -> None:
        (self.folder / name).write_text(self.texts[name], encoding="utf-8")
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document(name)))

    def touched(self, *names: str) -> None:
        """What a client that watches files says."""
        events = [types.FileEvent(self.uri(name), types.FileChangeType.Changed) for name in names]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    def position(self, text: str, at: int) -> Any:
        before = text[:at].split("\n")
        return types.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)

    def diagnostics(self, name: str) -> list[Any]:
        return list(self.client.diagnostics.get(self.uri(name), []))

    def told(self, name: str) -> list[str]:
        """What is shown for a document: `row code`."""
        return [f"{item.range.start.line + 1} {item.code}" for item in self.diagnostics(name)]

    async def until(self, name: str, wanted: Sequence[str]) -> None:
        """Wait for what a document shows."""
        await self.settled(lambda: self.told(name) == list(wanted), lambda: f"{name}: {self.told(name)}, not {wanted}")

    async def settled(self, done: Callable[[], bool], told: Callable[[], str] = lambda: "not settled") -> None:
        loop = asyncio.get_running_loop()
        limit = loop.time() + PATIENCE_S
        while not done():
            assert loop.time() < limit, told()
            await asyncio.sleep(0.01)

    async def actions(self, name: str, needle: str, *kinds: str) -> dict[str, Any]:
        """The actions offered at a text, by title."""
        at = self.position(self.texts[name], self.texts[name].index(needle))
        context = types.CodeActionContext([], list(kinds) or None)
        params = types.CodeActionParams(self.document(name), types.Range(at, at), context)
        found = await self.client.text_document_code_action_async(params)
        return {action.title: action for action in found or []}

    async def hover(self, name: str, needle: str) -> str:
        at = self.position(self.texts[name], self.texts[name].index(needle))
        found = await self.client.text_document_hover_async(types.HoverParams(self.document(name), at))
        return found.contents.value if found else ""

    def apply(self, edit: Any) -> None:
        """Make an edit in the buffers, as an editor does, and say so."""
        for change in edit.document_changes:
            name = next(name for name in self.texts if self.uri(name) == change.text_document.uri)
            assert change.text_document.version == self.versions[name]
            text = self.texts[name]
            for one in sorted(change.edits, key=lambda one: _key(one.range.start), reverse=True):
                start, end = (_offset(text, place) for place in (one.range.start, one.range.end))
                text = text[:start] + one.new_text + text[end:]
            self.change(name, text)


def _key(place: Any) -> tuple[int, int]:
    return place.line, place.character


def _offset(text: str, place: Any) -> int:
    lines = text.split("\n")
    if place.line >= len(lines):
        return len(text)
    before = lines[place.line].encode("utf-16-le")[: 2 * place.character].decode("utf-16-le")
    return sum(len(line) + 1 for line in lines[: place.line]) + len(before)


@asynccontextmanager
async def editor(folder: Path, capabilities: Any = None, options: Any = None) -> AsyncIterator[Editor]:
    """An editor that shows a folder, connected to a server of its own."""
    client = pytest_lsp.make_test_lsp_client()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "rules")))}
    environment["DLLINT_CACHE_DIR"] = str(folder.parent / "cache")
    await client.start_io(sys.executable, "-m", "dllint", "server", "--stdio", env=environment)
    try:
        initialized = await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities or types.ClientCapabilities(),
                workspace_folders=[types.WorkspaceFolder(folder.as_uri(), "folder")],
                initialization_options=options,
            )
        )
        yield Editor(client, folder, initialized.capabilities)
        await client.shutdown_session()
    finally:
        if client._server is not None and client._server.returncode is None:  # a test failed: nobody said goodbye
            client._server.kill()
        await client.stop()


def converse(folder: Path, talk: Callable[[Editor], Awaitable[None]], **options: Any) -> None:
    """Hold a conversation."""

    async def run() -> None:
        async with editor(folder, **options) as one:
            await asyncio.wait_for(talk(one), 3 * PATIENCE_S)

    asyncio.run(run())
