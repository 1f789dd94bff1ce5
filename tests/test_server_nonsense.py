"""An editor that sends nonsense gets errors for it, and answers to what it asks properly afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp import REPOSITORY

PROGRAM = """\
from torch.utils.data import DataLoader

if __name__ == "__main__":
    DataLoader(range(9), collate_fn=lambda batch: batch, num_workers=2)
"""
PATIENCE_S = 60
WHERE = {"start": {"line": 3, "character": 0}, "end": {"line": 3, "character": 60}}
FAR = {"start": {"line": 2**31 - 1, "character": 2**31 - 1}, "end": {"line": 0, "character": 0}}


class Wire:
    """A server, spoken to in bytes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self.process, self._given, self._told = process, process.stdin, process.stdout
        self._number = 0

    def send(self, body: bytes, header: bytes = b"") -> None:
        self._given.write((header or b"Content-Length: %d\r\n\r\n" % len(body)) + body)
        self._given.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """The answer to this request; what the server tells or asks meanwhile is passed over."""
        self._number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode())
        return next(one for one in self._messages() if one.get("id") == self._number and "method" not in one)

    def _messages(self) -> Iterator[dict[str, Any]]:
        while header := self._told.readline():
            size = int(header.split(b":")[1]) if header.lower().startswith(b"content-length") else 0
            while self._told.readline().strip():
                pass
            if size:
                yield json.loads(self._told.read(size))


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    """A server that has answered to `initialize`; it is ended when it takes too long."""
    (tmp_path / "dllint.toml").touch()
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "dllint", "server"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        late = threading.Timer(PATIENCE_S, process.kill)
        late.start()
        try:
            found = Wire(process)
            found.ask("initialize", {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}})
            found.tell("initialized", {})
            yield found
        finally:
            late.cancel()
            process.kill()


def actions(wire: Wire, folder: Path) -> list[str]:
    """The titles of what is offered for the hazard."""
    document = {"uri": (folder / "train.py").as_uri()}
    asked = {"textDocument": document, "range": WHERE, "context": {"diagnostics": []}}
    return [one["title"] for one in wire.ask("textDocument/codeAction", asked)["result"]]


def test_nonsense_costs_its_own_answer_only(wire: Wire, tmp_path: Path) -> None:
    opened = {"uri": (tmp_path / "train.py").as_uri(), "languageId": "python", "version": 1, "text": PROGRAM}
    wire.tell("textDocument/didOpen", {"textDocument": opened})
    before = actions(wire, tmp_path)
    assert before
    for params in (None, [], "", {"textDocument": 7}, {"textDocument": {"uri": "::"}, "range": "all"}):
        wire.tell("textDocument/codeAction", params)
    assert "error" in wire.ask("textDocument/there-is-none", {"a": ["\ud800"]})
    assert "error" in wire.ask("workspace/executeCommand", {"command": "rm", "arguments": ["-rf", "/"]})
    for uri in ("file:///nowhere/at/all.py", "untitled:1", "http://[", "file://host/%00.py", ""):
        problems = {"diagnostics": [{"range": FAR, "message": ""}]}
        asked = {"textDocument": {"uri": uri}, "range": FAR, "context": problems}
        assert not wire.ask("textDocument/codeAction", asked).get("result")
        wire.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": -1}, "contentChanges": [{}]})
        wire.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert actions(wire, tmp_path) == before


def test_a_change_beyond_the_text_and_one_back(wire: Wire, tmp_path: Path) -> None:
    uri = (tmp_path / "train.py").as_uri()
    wire.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "", "version": 1, "text": PROGRAM}})
    before = actions(wire, tmp_path)
    for version, change in enumerate(({"range": FAR, "text": "\x00" * 9}, {"text": "(" * 10_000}, {"text": PROGRAM})):
        document = {"uri": uri, "version": version}
        wire.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
    assert actions(wire, tmp_path) == before


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b"null", b"\xff\xfe", b'{"jsonrpc": "1.0", "id": {}}', b"[" * 100_000]
)
def test_what_is_no_message(wire: Wire, tmp_path: Path, body: bytes) -> None:
    wire.send(body)
    assert wire.ask("textDocument/there-is-none", {})["error"]
