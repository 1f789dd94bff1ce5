"""From a keystroke to what the language server then knows: `python -m bench.latency FOLDER FILE [--edits N]`.

FILE is opened and a function is typed below its end, character by character; after each the diagnostics are asked for,
and the next character waits for them. Wall time is what a user waits for; processor time is the server's own and does
not grow when other programs are busy, or not as much.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil
from lsprotocol import types
from pygls.lsp.client import LanguageClient

TYPED = '''
def collate_words(batch, pad=0):
    """Pad the words."""
    longest = max(len(words) for words, _ in batch)
    # labels come second
    return [words + [pad] * (longest - len(words)) for words, _ in batch]
'''
CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities()),
    workspace=types.WorkspaceClientCapabilities(
        diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    ),
)


class Edit(NamedTuple):
    """What one character cost, in milliseconds."""

    wall: float
    processor: float


async def measure(folder: Path, file: Path, edits: int) -> tuple[Edit, list[Edit]]:
    """The time to the first diagnostics, and that of each edit."""
    client = LanguageClient("latency", "0")
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "DLLINT_CACHE_DIR": cache}

        @client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def refresh(params: None) -> None:
            """What changed is asked for anyway."""

        await client.start_io(sys.executable, "-m", "dllint", "server", env=environment)
        assert client._server is not None
        process = psutil.Process(client._server.pid)
        root = types.WorkspaceFolder(folder.as_uri(), "folder")
        await client.initialize_async(types.InitializeParams(CAPABILITIES, workspace_folders=[root]))
        client.initialized(types.InitializedParams())
        text, uri = file.read_text(encoding="utf-8"), file.as_uri()
        document = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))

        async def timed(version: int) -> Edit:
            start, before = time.perf_counter(), process.cpu_times()
            if version == 1:
                item = types.TextDocumentItem(uri, "python", 1, text)
                client.text_document_did_open(types.DidOpenTextDocumentParams(item))
            else:
                lines = (text + TYPED[: version - 2]).split("\n")
                at = types.Position(len(lines) - 1, len(lines[-1]))
                change = types.TextDocumentContentChangePartial(types.Range(at, at), TYPED[version - 2])
                named = types.VersionedTextDocumentIdentifier(version, uri)
                client.text_document_did_change(types.DidChangeTextDocumentParams(named, [change]))
            await client.text_document_diagnostic_async(document)
            wall, after = time.perf_counter() - start, process.cpu_times()
            spent = after.user + after.system - before.user - before.system
            return Edit(1000 * wall, 1000 * spent)

        first = await timed(1)
        every = [await timed(version) for version in range(2, 2 + min(edits, len(TYPED)))]
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
    return first, every


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path, help="relative to the folder")
    parser.add_argument("--edits", type=int, default=200)
    options = parser.parse_args()
    folder = options.folder.resolve()
    first, every = asyncio.run(measure(folder, folder / options.file, options.edits))
    print(f"{len(list(folder.rglob('*.py')))} files, load {os.getloadavg()[0]:.1f}; opening: {first.wall:.0f} ms")
    for name in Edit._fields:
        costs = sorted(getattr(edit, name) for edit in every)
        ninth = costs[int(len(costs) * 0.9)]
        median = statistics.median(costs)
        most = f"9 of 10 below {ninth:.0f} ms, worst {costs[-1]:.0f} ms"
        print(f"{len(costs)} edits, {name}: median {median:.0f} ms, {most}")


if __name__ == "__main__":
    main()
