"""Notebooks from the command line: places, fixes, comments, and what is not the same as in a script."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dllint.cli import cli
from tests.notebooks import notebook

IMPORTS = (
    "# text\nA title\n",
    "%matplotlib inline\nfrom collections import defaultdict\nfrom torch.utils.data import DataLoader, Dataset",
)
LOADER = "!pip list\nfrom words import Words\nfor batch in DataLoader(Words(), num_workers=2):\n    print(batch);"
DATASET = """\
class Words(Dataset):
    def __init__(self):
        self.counts = defaultdict(lambda: 0)

    def __getitem__(self, index):
        return self.counts[index]

    def __len__(self):
        return 3"""
OWN_LOADER = "loader = DataLoader(Words(), num_workers=2)"
SHIPPED = (
    "DLL101 `lambda` as factory of the `defaultdict` kept as `counts` of `Words` cannot be pickled: fails on macOS, "
    "Windows and Python 3.14+; use a "
)
IN_SCRIPT, IN_NOTEBOOK = (
    "named function or a class such as `int`",
    "class such as `int` or a function of a module that is imported",
)
NOT_FOUND = (
    "DLL109 class `Words` is defined in a notebook, where spawned workers do not find it (`Can't get attribute`): "
    "fails on macOS, Windows and Python 3.14+; define it in a module and import it"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's root, and the working directory."""
    (tmp_path / "dllint.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["check", "--no-cache", *args], input=stdin)


@pytest.mark.parametrize("indent", [1, None])
def test_modules_that_only_a_notebook_imports_are_read(folder: Path, indent: int | None) -> None:
    """However the JSON is laid out: `counts.py` names nothing of torch, so its importer is all that speaks for it."""
    kept = "from collections import defaultdict\n\n\nclass Counts:\n    def __init__(self):\n"
    (folder / "counts.py").write_text(kept + "        self.counts = defaultdict(lambda: 0)\n")
    loader = "from counts import Counts\nfrom torch.utils.data import DataLoader\nDataLoader([Counts()], num_workers=2)"
    (folder / "n.ipynb").write_text(notebook(f"%time 1\n{loader}", indent=indent))
    assert check().stdout.startswith("counts.py:6:35: DLL101 ")


def test_a_notebook_is_one_module_reported_by_cell(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, DATASET, OWN_LOADER))
    done = check()
    assert done.exit_code == 1
    assert done.stdout.splitlines() == [
        f"n.ipynb:cell 3:1:1: {NOT_FOUND}",
        f"n.ipynb:cell 3:3:35: {SHIPPED}{IN_NOTEBOOK}",
    ]
    full = check("--output-format", "full", "--ignore", "DLL109").stdout
    assert full.startswith(f"""\
{SHIPPED.replace(" ", " [*] ", 1)}{IN_NOTEBOOK}
  --> n.ipynb:cell 3:3:35
  |
1 | class Words(Dataset):
2 |     def __init__(self):
3 |         self.counts = defaultdict(lambda: 0)
  |                                   ^^^^^^^^^
4 |
5 |     def __getitem__(self, index):
  |
""")
    assert "= note: `DataLoader(...)` starts the workers here (n.ipynb:cell 4:1:10)" in full


def test_json_has_the_cell(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, DATASET, OWN_LOADER))
    (found,) = json.loads(check("--select", "DLL101", "--output-format", "json").stdout)
    assert (found["cell"], found["location"], found["noqa_row"]) == (3, {"row": 3, "column": 35}, 3)
    assert found["end_location"] == {"row": 3, "column": 44}
    last = found["related"][-1]
    assert (last["cell"], last["location"]) == (4, {"row": 1, "column": 10})
    (edit,) = found["fix"]["edits"]
    assert (edit["content"], edit["cell"], edit["location"]) == ("int", 3, {"row": 3, "column": 35})


def test_a_fix_changes_nothing_else(folder: Path) -> None:
    place = folder / "n.ipynb"
    before = notebook(*IMPORTS, DATASET, OWN_LOADER, indent=3).replace("A title", "\\u00c4")
    place.write_bytes(before.encode())
    diff = check("--diff")
    assert diff.exit_code == 1
    assert diff.stdout.splitlines()[:2] == ["--- n.ipynb:cell 3", "+++ n.ipynb:cell 3"]
    assert [line for line in diff.stdout.splitlines()[2:] if line[0] in "+-"] == [
        "-        self.counts = defaultdict(lambda: 0)",
        "+        self.counts = defaultdict(int)",
    ]
    assert place.read_bytes().decode() == before
    done = check("--fix")
    assert done.stdout.splitlines() == [f"n.ipynb:cell 3:1:1: {NOT_FOUND}"]
    assert place.read_bytes().decode() == before.replace("defaultdict(lambda: 0)", "defaultdict(int)")
    place.write_bytes(before.encode())
    piped = check("--fix", "--stdin-filename", "n.ipynb", "-", stdin=before)
    assert piped.stdout == before.replace("defaultdict(lambda: 0)", "defaultdict(int)")


def test_what_moves_to_module_level_is_not_found_either(folder: Path) -> None:
    cells = *IMPORTS, "loader = DataLoader([1], num_workers=2, collate_fn=lambda batch: [str(x) for x in batch])"
    (folder / "n.ipynb").write_text(notebook(*cells))
    full = check("--output-format", "full").stdout
    assert "help: Define it in a module and import it: spawned workers have nothing of a notebook (by hand)" in full
    assert check("--fix", "--unsafe-fixes").stdout.startswith("n.ipynb:cell 3:1:52: DLL103")
    assert json.loads((folder / "n.ipynb").read_text()) == json.loads(notebook(*cells))


@pytest.mark.parametrize("comment", ["# dllint: ignore[DLL101]", "# noqa: DLL101", "# noqa"])
def test_comments_silence(folder: Path, comment: str) -> None:
    cells = [*IMPORTS, DATASET.replace("lambda: 0)", f"lambda: 0)  {comment}"), OWN_LOADER]
    (folder / "n.ipynb").write_text(notebook(*cells))
    assert check().stdout.splitlines() == [f"n.ipynb:cell 3:1:1: {NOT_FOUND}"]
    assert check("--select", "DLL101,DLL901").stdout == ""
    (folder / "n.ipynb").write_text(notebook("# dllint: noqa", *cells))
    assert check().stdout == ""


def test_selection_per_file_ignores_excludes_and_cache(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, DATASET, OWN_LOADER))
    assert check("--select", "DLL101").stdout.splitlines() == [f"n.ipynb:cell 3:3:35: {SHIPPED}{IN_NOTEBOOK}"]
    for _ in range(2):
        done = CliRunner().invoke(cli, ["check", "--cache-dir", str(folder / "cache"), "--ignore", "DLL109"])
        assert done.stdout.splitlines() == [f"n.ipynb:cell 3:3:35: {SHIPPED}{IN_NOTEBOOK}"]
    (folder / "n.py").write_bytes((folder / "n.ipynb").read_bytes())
    done = CliRunner().invoke(cli, ["check", "--cache-dir", str(folder / "cache"), "n.py"])
    assert (done.exit_code, done.stdout) == (0, "")
    (folder / "dllint.toml").write_text('per-file-ignores = {"*.ipynb" = ["DLL1"]}\n')
    assert check().stdout == ""
    (folder / "dllint.toml").write_text('exclude = ["*.ipynb"]\n')
    assert check().stdout == ""


def test_a_broken_cell_is_told_in_its_place_and_a_broken_notebook_as_a_whole(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, "x = 1\nx = ("))
    assert check().stdout == "n.ipynb:cell 3:2:5: DLL900 syntax error: '(' was never closed\n"
    (folder / "n.ipynb").write_text(notebook(*IMPORTS)[:-20])
    assert check("n.ipynb").stdout.startswith("n.ipynb:1:1: DLL903 not analyzed: the notebook is not valid JSON: ")


def test_a_cell_may_be_indented_as_a_whole(folder: Path) -> None:
    """IPython runs it, and fixes leave it alone: a line that isn't indented as the first one would break it."""
    cells = [*IMPORTS, textwrap.indent(DATASET, "  "), OWN_LOADER]
    (folder / "n.ipynb").write_text(notebook(*cells))
    assert check("--fix", "--unsafe-fixes").stdout.splitlines() == [
        f"n.ipynb:cell 3:1:3: {NOT_FOUND}",
        f"n.ipynb:cell 3:3:37: {SHIPPED}{IN_NOTEBOOK}",
    ]
    full = check("--output-format", "full", "--select", "DLL101").stdout
    assert "help: Use `int` instead of the lambda; a cell of this notebook is indented as a whole (by hand)" in full
    check("--add-noqa")
    assert check().stdout == ""
    assert "\\f" not in (folder / "n.ipynb").read_text()


def test_other_languages_are_left_alone(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook("x <- DataLoader(", language="R"))
    (folder / "m.ipynb").write_text(notebook("%%bash\nDataLoader (", "# a\n%%html\n<DataLoader>"))
    done = check(".", "n.ipynb", "m.ipynb")
    assert (done.exit_code, done.stdout) == (0, "")


def test_code_at_the_top_of_a_notebook_runs_once(folder: Path) -> None:
    """No DLL301: spawned workers import modules, and a notebook is none."""
    (folder / "words.py").write_text(
        "\n".join(IMPORTS[1].splitlines()[1:]) + f"\n{DATASET.replace('lambda: 0', 'int')}\n"
    )
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, LOADER))
    assert check().stdout == ""
    (folder / "n.py").write_text("from torch.utils.data import DataLoader\n" + LOADER.split("\n", 1)[1] + "\n")
    assert check().stdout.startswith("n.py:3:1: DLL301")


def test_a_notebook_reaches_into_modules_and_not_the_other_way_round(folder: Path) -> None:
    (folder / "words.py").write_text("\n".join(IMPORTS[1].splitlines()[1:]) + f"\n{DATASET}\n")
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, LOADER))
    assert check("n.ipynb").stdout.splitlines() == [f"words.py:5:35: {SHIPPED}{IN_SCRIPT}"]
    (folder / "words.py").unlink()
    (folder / "words.ipynb").write_text(notebook(*IMPORTS, DATASET))
    assert check().stdout == ""


def test_a_process_is_sent_what_a_notebook_defines(folder: Path) -> None:
    cells = (
        "import multiprocessing as mp\ndef work(x):\n    return x",
        "with mp.get_context('spawn').Pool(2) as pool:\n    pool.map(work, [1])",
    )
    (folder / "n.ipynb").write_text(notebook(*cells))
    (line,) = check().stdout.splitlines()
    assert "DLL107 `work` sent to `Pool.map` is defined in a notebook, so spawned processes don't find it" in line


def test_why(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, DATASET, OWN_LOADER))
    told = check("--why", "n.ipynb:cell 3:3").stdout
    assert told.startswith("DLL101 is reported here")
    assert "`DataLoader(...)` starts the workers here (n.ipynb:cell 4:1:10)" in told
    assert check("--why", "n.ipynb:3").stdout == "n.ipynb is a notebook: name the cell, too\n"
    assert check("--why", "n.ipynb:cell 1:3").stdout == "n.ipynb has no Python in cell 1\n"


CLAIMS = {
    "a class of the notebook": (
        "from torch.utils.data import DataLoader, Dataset\nclass Own(Dataset):\n"
        "    def __len__(self):\n        return 2\n    def __getitem__(self, index):\n        return index",
        "Own()",
        "",
        "Can't get attribute 'Own'",
    ),
    "a function of the notebook": (
        "from torch.utils.data import DataLoader\nfrom numbers_of import Numbers\n"
        "def collate(batch):\n    return batch",
        "Numbers()",
        ", collate_fn=collate",
        "Can't get attribute 'collate'",
    ),
    "a class of a module": (
        "from torch.utils.data import DataLoader\nfrom numbers_of import Numbers",
        "Numbers()",
        "",
        "",
    ),
}
MODULE = """\
from torch.utils.data import Dataset


class Numbers(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return index
"""


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.skipif(os.name != "posix", reason="compares fork with the others")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("claim", CLAIMS)
def test_what_workers_find_of_a_running_notebook(
    folder: Path, claim: str, method: str, capfd: pytest.CaptureFixture[str]
) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("torch")
    (folder / "numbers_of.py").write_text(MODULE)
    before, dataset, more, error = CLAIMS[claim]
    context = f", num_workers=1, multiprocessing_context='{method}'"
    loop = f"for batch in DataLoader({dataset}{more}{context}):\n    print('got', list(batch))"
    running = nbformat.reads(notebook(before, loop), as_version=4)
    client = nbclient.NotebookClient(running, timeout=120, kernel_name="python3", allow_errors=True)
    client.execute(cwd=str(folder))
    printed = "".join(output.get("text", "") for output in running.cells[-1].outputs)
    assert ("got" in printed) == (method == "fork" or not error), printed
    if error and method != "fork":
        assert "exited unexpectedly" in str(running.cells[-1].outputs)
        assert error in capfd.readouterr().err  # the kernel's terminal has it, the notebook does not
    (folder / "n.ipynb").write_text(notebook(before, loop))
    reported = check("--select", "DLL1,DLL3").stdout
    assert ("DLL109" in reported) == (bool(error) and method != "fork")


def test_formats_for_programs_name_the_lines_of_the_file(folder: Path) -> None:
    (folder / "n.ipynb").write_text(notebook(*IMPORTS, DATASET, OWN_LOADER))
    lines = (folder / "n.ipynb").read_text().splitlines()
    for form, start in {"pylint": "n.ipynb:", "github": "::error file=n.ipynb,line="}.items():
        printed = check("--select", "DLL101", "--output-format", form, "--exit-zero").stdout
        row = int("".join(character for character in printed[len(start) :].split(":")[0].split(",")[0]))
        assert "defaultdict(lambda: 0)" in lines[row - 1], printed
    sarif = json.loads(check("--select", "DLL101", "--output-format", "sarif").stdout)
    (result,) = sarif["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert lines[region["startLine"] - 1][region["startColumn"] - 1 :].startswith("lambda: 0)")
    assert "fixes" not in result
    assert check("--select", "DLL101", "--output-format", "grouped").stdout.splitlines()[1].startswith("  cell 3:3:35 ")


PLAIN = """\
import torch
from torch.utils.data import DataLoader, Dataset as Base
SIZE = (3, 4)
def half(value):
    return value / 2
class Halves(Base):
    def __getitem__(self, index):
        return half(torch.ones(SIZE) * index)

    def __len__(self):
        return 4"""


def remedies(folder: Path, *cells: str) -> list[dict[str, str]]:
    (folder / "n.ipynb").write_text(notebook(*cells))
    found = json.loads(check("--output-format", "json", "n.ipynb").stdout)
    return [{"code": item["code"], "title": item["fix"]["message"], "text": item["fix"]["snippet"]} for item in found]


def test_a_module_beside_the_notebook_has_all_that_a_class_needs(folder: Path) -> None:
    cells = ("import os\nimport torch", PLAIN, "for batch in DataLoader(Halves(), num_workers=2):\n    print(batch)")
    (remedy,) = remedies(folder, *cells)
    assert remedy["code"] == "DLL109"
    magic, _, rest = remedy["text"].partition("\n")
    assert magic == "%%writefile in_workers.py"
    module, _, use = rest.partition("\n\n\n# and in the cell that uses it:\n")
    assert use == "from in_workers import Halves"
    assert module.startswith(
        "import torch\nfrom torch.utils.data import Dataset as Base\n\n\nSIZE = (3, 4)\n\n\ndef half("
    )
    assert "DataLoader" not in module
    (folder / "in_workers.py").write_text(module)
    (folder / "n.ipynb").write_text(notebook("from torch.utils.data import DataLoader", use, cells[2]))
    assert check().stdout == ""


def test_every_cell_writes_a_module_with_all_that_the_workers_need(folder: Path) -> None:
    """Whichever of the cells runs last, the file has what the others import from it."""
    loader = "for batch in DataLoader(Halves(), num_workers=2, collate_fn={}):\n    1"
    cells = (
        "import torch\ndef pad(items):\n    return items + items\n",
        PLAIN,
        *map(
            loader.format,
            ("pad", "lambda items: torch.stack(items) + SIZE[0]", "lambda items: torch.stack(items) * SIZE[1]"),
        ),
    )
    found = remedies(folder, *cells)
    assert [remedy["code"] for remedy in found] == ["DLL109", "DLL109", "DLL103", "DLL103"]
    (module,) = {remedy["text"].partition("\n\n\n# and in")[0] for remedy in found}
    uses = [remedy["text"].partition("uses it:\n")[2] for remedy in found]
    assert uses == [
        "from in_workers import pad",
        "from in_workers import Halves",
        "from in_workers import _collate\n_collate",
        "from in_workers import _collate_2\n_collate_2",
    ]
    (folder / "in_workers.py").write_text(module.partition("\n")[2])
    head = "from torch.utils.data import DataLoader"
    names = [line for use in uses for line in use.splitlines() if line.startswith("from ")]
    again = [loader.format(name) for name in ("pad", "_collate", "_collate_2")]
    (folder / "n.ipynb").write_text(notebook(head, *names, *again))
    assert check().stdout == ""


def test_notebooks_of_one_folder_write_different_modules(folder: Path) -> None:
    cells = ("import torch", PLAIN, "for batch in DataLoader(Halves(), num_workers=2):\n    print(batch)")
    (folder / "a-second.ipynb").write_text(notebook(*cells))
    (remedy,) = remedies(folder, *cells)
    assert remedy["text"].startswith("%%writefile in_workers_of_n.py\n")
    assert remedy["text"].endswith("\nfrom in_workers_of_n import Halves")


def test_what_is_known_only_when_the_notebook_runs_is_not_written_to_a_file(folder: Path) -> None:
    late = PLAIN.replace("SIZE = (3, 4)", "SIZE = torch.load('size.pt')")
    (remedy,) = remedies(folder, late, "for batch in DataLoader(Halves(), num_workers=2):\n    print(batch)")
    assert remedy["text"] is None
    assert remedy["title"].endswith("; what it needs of the notebook must be passed to it")


def test_a_lambda_of_a_notebook_goes_into_a_module(folder: Path) -> None:
    collate = "lambda items: torch.stack(items) + SIZE[0]"
    loader = f"for batch in DataLoader(words, num_workers=2, collate_fn={collate}):\n    1"
    (remedy,) = remedies(folder, f"from words import words\n{PLAIN}", loader)
    assert remedy["code"] == "DLL103"
    assert remedy["text"] == (
        "%%writefile in_workers.py\nimport torch\n\n\nSIZE = (3, 4)\n\n\ndef _collate(items):\n"
        "    return torch.stack(items) + SIZE[0]\n\n\n# and in the cell that uses it:\n"
        "from in_workers import _collate\n_collate"
    )
