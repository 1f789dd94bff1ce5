"""The language server, spoken to as editors speak."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from dllint.cli import cli
from tests.lsp import PULLS, Editor, converse, types
from tests.notebooks import notebook

VOCAB = """\
from collections import defaultdict


class Vocab:
    def __init__(self):
        self.counts = {"\N{GRINNING FACE}": defaultdict(lambda: 0)}
"""
DATA = """\
from torch.utils.data import Dataset
from vocab import Vocab


class Words(Dataset):
    def __init__(self):
        self.vocab = Vocab()

    def __getitem__(self, index):
        return index

    def __len__(self):
        return 3
"""
TRAIN = """\
from torch.utils.data import DataLoader
from data import Words

if __name__ == "__main__":
    loader = DataLoader(Words(), num_workers=2)
"""
FOUND = ["6 DLL101"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project whose lambda is shipped two files further on."""
    root = tmp_path / "project"
    root.mkdir()
    for name, text in {"dllint.toml": "", "vocab.py": VOCAB, "data.py": DATA, "train.py": TRAIN}.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_conversation(folder: Path) -> None:
    async def talk(editor: Editor) -> None:
        assert editor.capabilities.diagnostic_provider is None, "this client is told, so it need not ask"
        # All files of a project are told of, open or not.
        await editor.until("vocab.py", FOUND)
        editor.open("vocab.py")
        await editor.settled(lambda: editor.client.diagnostics != {})
        (found,) = editor.diagnostics("vocab.py")
        assert (found.source, found.severity.name) == ("dllint", "Error")
        assert found.code_description.href.endswith("dll101_lambda_default_factory.md")
        # Two code units for a character beyond the basic plane.
        assert (found.range.start.character, found.range.end.character) == (41, 50)
        last = found.related_information[-1]
        assert last.location.uri == editor.uri("train.py")
        assert (last.location.range.start.line, last.message) == (4, "`DataLoader(...)` starts the workers here")

        # Another buffer, unsaved, changes what is true of this one.
        editor.open("train.py")
        editor.change("train.py", TRAIN.replace("num_workers=2", "num_workers=0"))
        await editor.until("vocab.py", [])
        editor.change("train.py", TRAIN)
        await editor.until("vocab.py", FOUND)

        # A buffer that was changed counts as it was before once it is closed.
        editor.change("train.py", TRAIN.replace("num_workers=2", "num_workers=0"))
        await editor.until("vocab.py", [])
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(editor.document("train.py")))
        await editor.until("vocab.py", FOUND)

        # In short at the finding, and at a code in a comment.
        assert (await editor.hover("vocab.py", "lambda: 0")).splitlines() == [
            "**DLL101** lambda-default-factory · error",
            "",
            f"* {found.message.partition(': ')[0]}",
            "* Fails on macOS, Windows and Python 3.14+",
            "* Use a named function or a class such as `int`",
            "* Fork: works; forkserver and spawn: stops with an exception",
            "* Quick fix: Use `int` instead of the lambda",
            "",
            f"[Why, examples, and what the fix changes]({found.code_description.href})",
        ]
        assert await editor.hover("vocab.py", "class") == ""
        editor.change("vocab.py", "# noqa: DLL105\n# dllint: ignore[path-list-on-dataset]\nDLL105 = 1\n")
        told = await editor.hover("vocab.py", "DLL105")
        assert told.startswith("**DLL105** local-class-shipped · error · on by default · fix: sometimes · stable since")
        assert told.endswith("dll105_local_class_shipped.md)")
        assert "**DLL201**" in await editor.hover("vocab.py", "path-list")
        editor.change("vocab.py", VOCAB)

        # Silenced in one line, in the file; fixed.
        offered = await editor.actions("vocab.py", "lambda: 0")
        assert list(offered) == [
            "dllint (DLL101): Use `int` instead of the lambda",
            "dllint (DLL101): disable for this line",
            "dllint (DLL101): disable for this file",
            "dllint (DLL101): explain",
            "dllint: apply all safe fixes",
        ]
        assert list(await editor.actions("vocab.py", "class", "quickfix")) == []
        assert list(await editor.actions("vocab.py", "class", "source")) == ["dllint: apply all safe fixes"]
        for title, after in (
            ("dllint (DLL101): disable for this line", VOCAB.replace("0)}", "0)}  # dllint: ignore[DLL101]")),
            ("dllint (DLL101): disable for this file", f"# dllint: noqa: DLL101\n{VOCAB}"),
            ("dllint (DLL101): Use `int` instead of the lambda", VOCAB.replace("lambda: 0", "int")),
            ("dllint: apply all safe fixes", VOCAB.replace("lambda: 0", "int")),
        ):
            action = (await editor.actions("vocab.py", "lambda: 0"))[title]
            assert bool(action.is_preferred) == ("Use" in title)
            editor.apply(action.edit)
            assert editor.texts["vocab.py"] == after
            await editor.until("vocab.py", [])
            editor.change("vocab.py", VOCAB)
            await editor.until("vocab.py", FOUND)

        # Nothing here has a fix that is safe.
        editor.change("vocab.py", VOCAB.replace("lambda: 0", "lambda: UNKNOWN").replace("\n\n\n", "\n\nUNKNOWN = 1\n"))
        await editor.until("vocab.py", FOUND)
        offered = await editor.actions("vocab.py", "lambda: UNKNOWN")
        assert "dllint (DLL101): Move the lambda to the function `_default_counts` (unsafe)" in offered
        assert "dllint: apply all safe fixes" not in offered

    converse(folder, talk)


def test_files_and_settings_that_change(folder: Path) -> None:
    async def talk(editor: Editor) -> None:
        editor.open("vocab.py")
        await editor.until("vocab.py", FOUND)
        (folder / "train.py").unlink()
        editor.touched("train.py")
        await editor.settled(lambda: "no loader was seen to take" in str(editor.diagnostics("vocab.py")))
        (folder / "train.py").write_text(TRAIN.replace("num_workers=2", "num_workers=0"))
        editor.touched("train.py")
        await editor.until("vocab.py", [])

        # A file that is on no disk yet.
        editor.open("other.py", TRAIN)
        await editor.until("vocab.py", FOUND)

        # Another encoding on disk.
        latin = f"# coding: latin-1\ngröße = 1\n{VOCAB.split('{')[0]}defaultdict(lambda: 0)\n"
        editor.change("vocab.py", latin)
        await editor.until("vocab.py", ["8 DLL101"])
        editor.change("vocab.py", VOCAB)
        await editor.until("vocab.py", FOUND)

        # Configuration: ignored, wrong, right again. Saving anything is enough for clients that watch nothing.
        (folder / "dllint.toml").write_text('ignore = ["DLL101"]\n')
        editor.save("vocab.py")
        await editor.until("vocab.py", [])
        (folder / "dllint.toml").write_text('ignroe = ["DLL101"]\n')
        editor.touched("dllint.toml")
        await editor.settled(lambda: bool(editor.client.messages))
        assert "unknown key `ignroe`; did you mean `ignore`?" in editor.client.messages[0].message
        (folder / "dllint.toml").write_text("")
        editor.touched("dllint.toml")
        await editor.until("vocab.py", FOUND)

        settings = types.DidChangeConfigurationParams({"dllint": {"ignore": ["DLL1"]}})
        editor.client.workspace_did_change_configuration(settings)
        await editor.until("vocab.py", [])
        command = types.ExecuteCommandParams("dllint.debugInformation")
        told = await editor.client.workspace_execute_command_async(command)
        assert f"{folder}: {folder / 'dllint.toml'}" in told.splitlines()

    converse(folder, talk)


def test_a_client_that_asks(folder: Path) -> None:
    """Pulled diagnostics, UTF-8 columns, actions whose edits are resolved."""

    async def talk(editor: Editor) -> None:
        assert editor.capabilities.diagnostic_provider.workspace_diagnostics
        editor.open("vocab.py")
        params = types.DocumentDiagnosticParams(editor.document("vocab.py"))
        (found,) = (await editor.client.text_document_diagnostic_async(params)).items
        assert (found.code, found.range.start.character) == ("DLL101", 43)
        everywhere = await editor.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
        assert [report.uri for report in everywhere.items] == [editor.uri("vocab.py")]
        editor.change("vocab.py", VOCAB.replace("lambda: 0", "int"))
        found = (await editor.client.text_document_diagnostic_async(params)).items
        assert not found
        await editor.settled(lambda: editor.client.diagnostic_refresh_count > 0)
        assert editor.client.diagnostics == {}, "what is asked for is not told besides"
        editor.change("vocab.py", VOCAB)
        (action,) = (await editor.actions("vocab.py", "class", "source.fixAll")).values()
        assert action.edit is None
        editor.apply((await editor.client.code_action_resolve_async(action)).edit)
        assert editor.texts["vocab.py"] == VOCAB.replace("lambda: 0", "int")

    converse(folder, talk, capabilities=PULLS, options={"settings": {"extendSelect": ["DLL605"]}})


def test_a_notebook(folder: Path) -> None:
    cells = {"cell:a": "%cd x\nfrom torch.utils.data import DataLoader, Dataset", "cell:b": DATA.split("\n\n\n")[1]}
    cells["cell:b"] = cells["cell:b"].strip().replace("Vocab()", "lambda: 0")
    cells["cell:c"] = "from collections import defaultdict\nloader = DataLoader(Words(), num_workers=2)\n"
    cells["cell:c"] += "other = DataLoader([1], num_workers=2, collate_fn=lambda batch: list(batch))"
    (folder / "n.ipynb").write_text(notebook(*cells.values()))

    async def talk(editor: Editor) -> None:
        await editor.settled(lambda: bool(editor.told("n.ipynb")))
        uri = editor.uri("n.ipynb")
        kind = types.NotebookCellKind.Code
        document = types.NotebookDocument(uri, "jupyter-notebook", 1, [types.NotebookCell(kind, at) for at in cells])
        items = [types.TextDocumentItem(at, "python", 1, text) for at, text in cells.items()]
        editor.texts |= cells
        editor.versions |= dict.fromkeys(cells, 1)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
        await editor.until("cell:b", ["1 DLL109", "3 DLL102"])
        await editor.until("cell:c", ["3 DLL103"])
        assert editor.told("n.ipynb") == []
        last = editor.diagnostics("cell:b")[0].related_information[-1].location
        assert (last.uri, last.range.start.line) == ("cell:c", 1)
        assert (await editor.hover("cell:b", "lambda: 0")).startswith("**DLL102** lambda-on-dataset")

        offered = await editor.actions("cell:c", "lambda batch")
        (all_safe,) = (
            item for item in offered.values() if getattr(item, "kind", "") == "notebook.source.fixAll.dllint"
        )
        (change,) = all_safe.edit.document_changes
        assert change.text_document.uri == "cell:c"
        assert [edit.new_text for edit in change.edits] == ["other = DataLoader([1], num_workers=2, collate_fn=list)"]

        document = types.VersionedNotebookDocumentIdentifier(2, uri)
        whole = types.TextDocumentContentChangeWholeDocument("loader = DataLoader(Words())\n")
        changed = types.NotebookDocumentCellContentChanges(types.VersionedTextDocumentIdentifier(2, "cell:c"), [whole])
        event = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[changed]))
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(document, event))
        await editor.until("cell:c", [])
        await editor.until("cell:b", [])

    converse(folder, talk)


def test_a_settings_file_that_asks_for_workers(folder: Path) -> None:
    asking = (
        "import argparse\nimport json\n\nparser = argparse.ArgumentParser()\nparser.add_argument('-j', default=0)\n"
    )
    (folder / "train.py").write_text(asking + TRAIN.replace("num_workers=2", "num_workers=parser.parse_args().j"))

    (folder / "settings.json").write_text('{"j": 2}')

    async def talk(editor: Editor) -> None:
        editor.open("vocab.py")
        await editor.until("vocab.py", FOUND)
        (folder / "settings.json").write_text('{"j": 0}')
        editor.touched("settings.json")
        await editor.until("vocab.py", [])
        (folder / "run.sh").write_text("python train.py -j 2")
        editor.touched("run.sh")
        await editor.until("vocab.py", FOUND)

    converse(folder, talk)


def test_typing_leaves_what_is_not_touched(folder: Path) -> None:
    """A method is typed character by character: what is told of other lines stays, half-written lines or not."""
    method = (
        '\n    def add(self, word):\n        """It\'s added."""\n        if (word in self.counts):\n            return'
    )

    async def talk(editor: Editor) -> None:
        seen: list[list[str]] = []
        editor.open("vocab.py")
        editor.open("train.py")
        await editor.until("vocab.py", FOUND)
        real = editor.client.diagnostics
        for number, character in enumerate(method):
            editor.type("vocab.py", len(VOCAB) + number, character)
            version = editor.versions["vocab.py"]
            hovered = await editor.hover("vocab.py", "lambda: 0")  # answers when all before is done
            assert "**DLL101**" in hovered, editor.texts["vocab.py"]
            assert version == editor.versions["vocab.py"]
            seen.append([item.code for item in real.get(editor.uri("vocab.py"), [])])
        assert {tuple(codes) for codes in seen} == {("DLL101",)}
        # The same above the finding, which moves on.
        above = "import os\nfor x in (1, 2):\n    print(x"
        for number, character in enumerate(above):
            editor.type("vocab.py", number, character)
        rows = 6 + above.count("\n")
        await editor.settled(lambda: f"{rows} DLL101" in editor.told("vocab.py"), lambda: str(editor.told("vocab.py")))
        # A syntax error is told when nobody has typed for a while.
        await editor.settled(lambda: any("DLL900" in told for told in editor.told("vocab.py")))
        editor.type("vocab.py", len(above), ")\n")
        await editor.until("vocab.py", [f"{rows + 1} DLL101"])

    converse(folder, talk)


def test_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(cli, ["server"])
    assert done.exit_code == 2
    assert "the language server needs `pip install 'dllint[lsp]'`" in done.stderr
