"""The language server: what an editor says, and what is said to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from dllint import __version__
from dllint.editor import pulls
from dllint.editor.actions import EXPLAIN, FIX_ALL, FIX_NOTEBOOK, Actions, rule_page
from dllint.editor.desk import Desk, Settings
from dllint.editor.documents import Documents, place_of, uri_of
from dllint.editor.places import Places
from dllint.editor.reports import Reports
from dllint.editor.workbench import PAUSE_S, View
from dllint.editor.worker import Worker

Answer = TypeVar("Answer")
_NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[lsp.NotebookDocumentFilterWithCells(cells=[lsp.NotebookCellLanguage("python")])], save=True
)
WATCHED = (
    *("**/*.py", "**/*.ipynb", "**/*.yaml", "**/*.yml", "**/*.toml", "**/.gitignore"),
    *("**/*.{json,sh,bash,zsh,slurm,sbatch,mk,md,markdown,rst}", "**/[Mm]akefile"),
)


class Server(LanguageServer):
    """Listens in one thread and analyzes in another."""

    def __init__(self) -> None:
        super().__init__("dllint", __version__, notebook_document_sync=_NOTEBOOKS)
        self.worker = Worker()
        self.desk = Desk()
        """Of the worker's thread."""
        self.shown: dict[str, list[lsp.Diagnostic]] = {}
        """What each document was last said to have, by the thread that listens."""
        self._due: asyncio.TimerHandle | None = None
        self._sent = self._done = 0
        """Changes that were given to the worker, and those that it has made."""
        self._versions: dict[str, int | None] = {}
        """Of the documents as the worker knows them."""
        self._told: dict[str, str] = {}
        self.pulled = False
        """Whether the client asks for diagnostics itself."""

    # What the client is and has.

    def begin(self) -> None:
        """Prepare what depends on the client."""
        self.documents = Documents(self.workspace)
        places = Places(self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16)
        self.reports, self.actions = Reports(self.documents, places), Actions(self.documents, places)
        self.loop = asyncio.get_running_loop()
        capabilities = self.client_capabilities
        text, workspace = capabilities.text_document, capabilities.workspace
        action = text.code_action if text else None
        resolved = action.resolve_support.properties if action and action.resolve_support else ()
        self.resolves = "edit" in resolved
        watched = workspace and workspace.did_change_watched_files
        self.watches = bool(watched and watched.dynamic_registration)

    # Work.

    def work(self, task: Callable[[], Answer]) -> asyncio.Future[Answer]:
        """Something that the worker is to do, to be awaited."""
        return asyncio.wrap_future(self.worker.submit(task), loop=self.loop)

    def change(self, task: Callable[[], None]) -> None:
        """Something that changes what is known, and a look at it thereafter."""

        def made() -> None:
            try:
                task()
            finally:
                self._done += 1

        self._sent += 1
        self.worker.submit(made)
        self.worker.submit(self._look)

    def _look(self, exact: bool = False) -> None:
        """In the worker: see what there is now, and have it told; but not while changes wait, which end in a look."""
        if self._done != self._sent:
            return
        versions = dict(self._versions)
        views = self.desk.views(exact)
        found: dict[str, list[lsp.Diagnostic]] = {}
        for view in views:
            for address, own in self.reports.by_document(view).items():
                found.setdefault(address, []).extend(own)
        later = any(view.hidden for view in views)
        crashes = {crash: crash for view in views for crash in view.crashes}
        self.loop.call_soon_threadsafe(self._tell, found, versions, later, {**self.desk.problems, **crashes})

    def _tell(
        self,
        found: dict[str, list[lsp.Diagnostic]],
        versions: dict[str, int | None],
        later: bool,
        problems: dict[str, str],
    ) -> None:
        changed = [uri for uri in {**self.shown, **found} if self.shown.get(uri, []) != found.get(uri, [])]
        self.shown = found
        if self.pulled and changed:
            self.workspace_diagnostic_refresh(None)
        for uri in changed if not self.pulled else ():
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(uri, found.get(uri, []), version=versions.get(uri))
            )
        for text in sorted({why for where, why in problems.items() if self._told.get(where) != why}):
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, f"dllint: {text}"))
        self._told = problems
        if self._due is not None:
            self._due.cancel()
        self._due = self.loop.call_later(PAUSE_S, self._look_again) if later else None

    def _look_again(self) -> None:
        self.worker.submit(lambda: self._look(exact=True))

    # Documents.

    def put(self, uri: str) -> None:
        """A document was opened or changed."""
        buffer, version = self.documents.buffer(uri), self.documents.version(uri)

        def task() -> None:
            assert buffer is not None
            self.desk.put(*buffer)
            self._versions[uri] = version

        if buffer is not None:
            self.change(task)

    def close(self, uri: str) -> None:
        """A document was closed: its file counts."""
        place = place_of(uri)

        def task() -> None:
            assert place is not None
            self.desk.put(place, None)
            self._versions.pop(uri, None)

        if place is not None:
            self.change(task)

    def save(self, uri: str) -> None:
        """A document was written to disk."""
        place = self.documents.place(uri)
        if place is not None:
            self.change(lambda: self.desk.saved(place))

    async def at(self, uri: str, ask: Callable[[View, str, int | None], Answer], exact: bool = True) -> Answer | None:
        """An answer about a document as it is now."""
        place, cell = self.documents.place(uri), self.documents.cell(uri)
        if place is None:
            return None

        def task() -> Answer | None:
            found = self.desk.view(place, exact)
            return ask(*found, cell) if found is not None and _knows(*found) else None

        return await self.work(task)


def _knows(view: View, path: str) -> bool:
    return path in view.session.selection.files


def make() -> Server:
    """The server with all that it answers to."""
    server = Server()
    feature = server.feature

    @feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        server.begin()
        folders = [folder.uri for folder in server.workspace.folders.values()] or [server.workspace.root_uri or ""]
        places = [place for uri in folders if (place := place_of(uri))]
        if server.watches:
            watchers = [lsp.FileSystemWatcher(glob_pattern=pattern) for pattern in WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            watching = lsp.Registration("dllint-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([watching]))
        server.change(lambda: server.desk.open_folders(places))

    @feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.desk.settings = _settings(params.initialization_options)
        server.pulled = pulls.wanted(params.capabilities)
        if server.pulled:
            pulls.answer(server)

    @feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.worker.stop()

    _listen(server)
    _answer(server)
    _obey(server)
    return server


def _settings(given: Any) -> Settings:
    """The settings of an editor, at the top or under `settings`; what is none of ours is none."""
    table = given.get("settings", given) if isinstance(given, dict) else {}
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError:
        return Settings()


def _listen(server: Server) -> None:
    """Notifications: documents, files and settings that changed."""
    feature = server.feature

    @feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.put(params.text_document.uri)

    @feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.put(params.text_document.uri)

    @feature(lsp.TEXT_DOCUMENT_DID_SAVE, lsp.SaveOptions(include_text=False))
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.save(params.text_document.uri)

    @feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @feature(lsp.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_opened(params: lsp.DidOpenNotebookDocumentParams) -> None:
        server.put(params.notebook_document.uri)

    @feature(lsp.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_changed(params: lsp.DidChangeNotebookDocumentParams) -> None:
        server.put(params.notebook_document.uri)

    @feature(lsp.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_saved(params: lsp.DidSaveNotebookDocumentParams) -> None:
        server.save(params.notebook_document.uri)

    @feature(lsp.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_closed(params: lsp.DidCloseNotebookDocumentParams) -> None:
        server.close(params.notebook_document.uri)

    @feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        places = [place for change in params.changes if (place := place_of(change.uri))]
        server.change(lambda: server.desk.changed(places))

    @feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        folders = [place for folder in server.workspace.folders.values() if (place := place_of(folder.uri))]
        server.change(lambda: server.desk.open_folders(folders))

    @feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def settings_changed(params: lsp.DidChangeConfigurationParams) -> None:
        given = params.settings.get("dllint") if isinstance(params.settings, dict) else None
        if given:
            settings = _settings(given)

            def task() -> None:
                server.desk.settings = settings
                server.desk.begin_anew()

            server.change(task)


def _answer(server: Server) -> None:
    """Requests: actions, hovers."""
    feature = server.feature
    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL, FIX_NOTEBOOK]

    @feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds, resolve_provider=True))
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        found: list[lsp.CodeAction] = []
        if _wants(only, lsp.CodeActionKind.QuickFix):
            found += await server.at(uri, lambda *at: list(server.actions.at(at, params.range))) or []
        kind = FIX_ALL if server.documents.cell(uri) is None else FIX_NOTEBOOK
        if _wants(only, kind) and await server.at(uri, lambda view, path, cell: view.is_fixable(path)):
            action = lsp.CodeAction("dllint: apply all safe fixes", kind, data=uri)
            found += [action] if server.resolves else await _with_edit(server, action)
        return found

    @feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        if isinstance(action.data, str):
            action.edit = await server.at(str(action.data), lambda view, path, cell: server.actions.fix_all(view, path))
        return action

    @feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        found = await server.at(params.text_document.uri, lambda *at: server.actions.hover(at, params.position))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found)) if found else None


async def _with_edit(server: Server, action: lsp.CodeAction) -> list[lsp.CodeAction]:
    """The action for a client that does not come back for its edit; none where there is nothing to do."""
    action.edit = await server.at(str(action.data), lambda view, path, cell: server.actions.fix_all(view, path))
    return [action] if action.edit is not None else []


def _wants(only: Sequence[str] | None, kind: str) -> bool:
    """Whether a client asks for a kind of action: `source` asks for `source.fixAll.dllint`, too."""
    return only is None or any(kind == wish or kind.startswith(f"{wish}.") for wish in only)


def _obey(server: Server) -> None:
    """Commands."""

    @server.command("dllint.applyAutofix")
    async def apply_autofix(uri: str) -> None:
        edit = await server.at(uri, lambda view, path, cell: server.actions.fix_all(view, path))
        if edit is not None:
            server.workspace_apply_edit(lsp.ApplyWorkspaceEditParams(edit, "dllint: apply all safe fixes"))

    @server.command("dllint.debugInformation")
    async def debug_information() -> str:
        return f"dllint {__version__}\n{await server.work(server.desk.told)}"

    @server.command(EXPLAIN)
    def explain(code: str) -> None:
        page = uri_of(str(rule_page(code)))
        window = server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            server.window_show_document(lsp.ShowDocumentParams(page, take_focus=True))
        else:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, f"{code}: {page}"))


def serve() -> None:
    """Speak the protocol over standard input and output until the client leaves."""
    make().start_io()
