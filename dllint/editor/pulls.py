"""Clients that pull diagnostics. Clients with pushed ones aren't offered this, or they would do both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from dllint.editor.workbench import View

if TYPE_CHECKING:
    from dllint.editor.server import Server


def wanted(capabilities: lsp.ClientCapabilities) -> bool:
    """Whether a client pulls diagnostics, and accepts requests to pull again."""
    text, workspace = capabilities.text_document, capabilities.workspace
    refreshes = workspace and workspace.diagnostics and workspace.diagnostics.refresh_support
    return bool(text and text.diagnostic and refreshes)


def answer(server: Server) -> None:
    """Requests for diagnostics."""
    feature = server.feature

    @feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, lsp.DiagnosticOptions(True, True, identifier="dllint"))
    async def diagnostic(params: lsp.DocumentDiagnosticParams) -> lsp.DocumentDiagnosticReport:
        uri = params.text_document.uri

        def own(view: View, path: str, cell: int | None) -> Sequence[lsp.Diagnostic]:
            return server.reports.by_document(view).get(uri, [])

        return lsp.RelatedFullDocumentDiagnosticReport(await server.at(uri, own, exact=False) or [])

    @feature(lsp.WORKSPACE_DIAGNOSTIC)
    async def everywhere(params: lsp.WorkspaceDiagnosticParams) -> lsp.WorkspaceDiagnosticReport:
        def task() -> dict[str, list[lsp.Diagnostic]]:
            views = server.desk.views()
            return {uri: own for view in views for uri, own in server.reports.by_document(view).items()}

        found = await server.work(task)
        gone: dict[str, list[lsp.Diagnostic]] = {previous.uri: [] for previous in params.previous_result_ids}
        version = server.documents.version
        return lsp.WorkspaceDiagnosticReport(
            [
                lsp.WorkspaceFullDocumentDiagnosticReport(uri, own, version=version(uri), result_id="0")
                for uri, own in {**gone, **found}.items()
            ]
        )
