"""The command line: formats, exit statuses, bad input. Subprocesses where the process itself matters."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dllint import __version__
from dllint.cli import cli
from tests.fakes import DATASET, words

__all__ = ["words"]

REPOSITORY = Path(__file__).resolve().parent.parent
PROGRAM = """\
from collections import defaultdict

from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __init__(self):
        self.counts = defaultdict(lambda: 0)

    def __getitem__(self, index):
        return self.counts[index]

    def __len__(self):
        return 3


if __name__ == "__main__":
    loader = DataLoader(Words(), num_workers=2)
"""
CONCISE = "words.py:8:35: DLL101 "


def dllint(folder: Path, *args: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run dllint as its own process in a folder."""
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM")}
    env = {**keep, "PYTHONPATH": str(REPOSITORY), "PYTHONUTF8": "1", **environment}
    command = [sys.executable, "-m", "dllint", *args]
    done = subprocess.run(command, cwd=folder, env=env, input=stdin, capture_output=True, timeout=120, check=False)
    out, err = (stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def check(*args: str, stdin: bytes | None = None) -> Result:
    """Run `dllint check` in this process, in its working directory."""
    return CliRunner().invoke(cli, ["check", *args], input=stdin)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's root, and the working directory."""
    (tmp_path / "dllint.toml").touch()
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def program(folder: Path) -> Path:
    """A project with one real finding."""
    (folder / "words.py").write_text(PROGRAM)
    return folder


# The process.


def test_version_and_help() -> None:
    done = dllint(REPOSITORY, "--version")
    assert (done.returncode, done.stdout) == (0, f"dllint {__version__}\n")
    for args in (["--help"], ["check", "--help"], ["rule", "-h"]):
        assert dllint(REPOSITORY, *args).returncode == 0


@pytest.mark.parametrize("name", ["check", "review"])
def test_help_is_in_sections(name: str) -> None:
    told = CliRunner().invoke(cli, [name, "--help"]).stdout
    assert told.endswith("\nOptions:\n  -h, --help  Show this message and exit.\n"), "the others are in sections"
    assert told.count("\n  --select ") == told.count("\nRules:\n") == 1
    assert max(map(len, told.splitlines())) <= 100


def test_the_command_line_loads_nothing_that_a_version_does_not_need() -> None:
    heavy = ("libcst", "rich", "pathspec", "msgspec", "packaging", "dllint_rules", "dllint.engine", "torch")
    code = f"import sys, dllint.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_project_without_loaders_is_checked_without_libcst(folder: Path) -> None:
    (folder / "a.py").write_text("import torch\n")
    code = (
        "import sys; sys.argv = ['dllint', 'check', '.']; import dllint.cli\n"
        "try: dllint.cli.main()\nexcept SystemExit as end: print(end.code, 'libcst' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, **_CAPTURE)
    assert done.stdout == "0 False\n"


_CAPTURE = {"capture_output": True, "text": True, "check": False}


def test_findings_go_to_stdout_and_the_summary_to_stderr(program: Path) -> None:
    done = dllint(program, "check")
    assert done.returncode == 1
    assert done.stdout.startswith(CONCISE)
    assert done.stdout.count("\n") == 1
    assert done.stderr.startswith("1 finding in 1 file.\n")


def test_paths_are_relative_to_the_working_directory(program: Path) -> None:
    (program / "sub").mkdir()
    done = dllint(program / "sub", "check", "..")
    assert done.stdout.startswith(f"../{CONCISE}")


def test_a_clean_project(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\n")
    done = dllint(folder, "check", "a.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 findings in 1 file.\n")


def test_a_reader_that_goes_away_is_no_crash(program: Path) -> None:
    command = f'"{sys.executable}" -m dllint rule --all | head -n 1'
    if shutil.which("head") is None:
        pytest.skip("no head here")
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, shell=True, cwd=program, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_unexpected_exceptions_and_interrupts(program: Path) -> None:
    code = (
        "import sys, dllint.cli, dllint.engine\n"
        "def check(request): raise {0}\n"
        "dllint.engine.check = check; sys.argv = ['dllint', 'check', '.']; dllint.cli.main()"
    )
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for raised, status in (("KeyError('x')", 2), ("KeyboardInterrupt", 130)):
        done = subprocess.run([sys.executable, "-c", code.format(raised)], cwd=program, env=env, **_CAPTURE)
        assert done.returncode == status
        assert "Traceback" not in done.stderr
        assert status == 130 or "error: internal error, please report it: KeyError: 'x'" in done.stderr


# Exit statuses and options.


def test_timings_go_to_stderr(program: Path) -> None:
    timed, plain = check("--timings", "--no-cache"), check("--no-cache")
    assert timed.stdout == plain.stdout
    lines = timed.stderr.splitlines()
    assert any(
        re.fullmatch(r"reading files: \d+\.\d\d s for 1(; slowest: \S+\.py \d+\.\d\d s)?", line) for line in lines
    )
    assert any(line.startswith("asking rules: ") for line in lines)
    assert re.fullmatch(r"time: \d+\.\d\d s", lines[-1])
    assert "questions given up" not in timed.stderr


def test_exit_zero_hides_findings_only(program: Path) -> None:
    assert check("--exit-zero").exit_code == 0
    assert check("--exit-zero", "none.py").exit_code == 2
    assert check("--exit-zero", "--select", "DLL77").exit_code == 2


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["none.py"], "error: none.py: no such file or folder"),
        (["--select", "DLL77"], "error: unknown rule selector 'DLL77'"),
        (["--ignore", "lamda-on-dataset"], "did you mean 'lambda-on-dataset'?"),
        (["--config", "none.toml"], "none.toml: cannot be read: No such file or directory"),
        (["--output-format", "xml"], "'xml' is not one of"),
        (["--nonsense"], "No such option"),
        (["--why", "a.py"], "--why expects PATH:LINE"),
        (["--why", "none.py:3"], "error: none.py: no such file"),
        (["-", "a.py"], "cannot be combined"),
        (["--stdin-filename", "a.py"], "needs `-`"),
    ],
)
def test_bad_usage(folder: Path, args: list[str], told: str) -> None:
    done = dllint(folder, "check", *args)
    assert done.returncode == 2
    assert told in done.stderr


def test_bad_configuration(folder: Path) -> None:
    (folder / "dllint.toml").write_text("selct = []\n")
    done = dllint(folder, "check")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {folder / 'dllint.toml'}:1: unknown key `selct`; did you mean `select`?\n"
    assert dllint(folder, "check", "--isolated").returncode == 0


def test_selection(program: Path) -> None:
    assert check("--ignore", "DLL101").exit_code == 0
    assert check("--select", "DLL102,DLL103").exit_code == 0
    assert check("--select", "lambda-default-factory", "--select", "DLL102").stdout.startswith(CONCISE)


def test_no_cache_says_the_same(program: Path) -> None:
    assert check("--no-cache").exit_code == 1


def test_an_empty_list_of_files_from_a_hook_that_excludes_them_is_fine(program: Path) -> None:
    (program / "dllint.toml").write_text('extend-exclude = ["words.py"]\n')
    assert check("words.py").exit_code == 1
    assert check("--force-exclude", "words.py").exit_code == 0


def test_why(program: Path) -> None:
    done = check("--why", "words.py:8")
    assert done.exit_code == 0
    assert done.stdout.startswith("DLL101 is reported here: ")
    assert done.stdout.endswith(
        "`defaultdict(lambda: 0)` and `lambda: 0` are shipped to workers:\n"
        "  kept as `counts` of `Words` (words.py:8:9)\n"
        "  passed as `dataset` (words.py:18:25)\n"
        "  `DataLoader(...)` starts the workers here (words.py:18:14)\n"
        "`Words` is shipped by the loader at words.py:18:14, which has workers\n"
    )


def test_why_tells_a_loader_without_workers_from_one_with_them(program: Path) -> None:
    with (program / "words.py").open("a") as file:
        file.write("    print(len(DataLoader(Words())))\n")
    told = " ".join(check("--why", "words.py:8").stdout.split())
    assert "reach the `DataLoader` at words.py:19:15, which starts no workers: kept as `counts`" in told
    assert told.endswith("`Words` is shipped by the loader at words.py:18:14, which has workers")


def test_why_tells_the_calls_of_what_makes_a_loader_apart(program: Path) -> None:
    with (program / "words.py").open("a") as file:
        file.write("\n\ndef loader(workers):\n    return DataLoader(Words(), num_workers=workers)\n")
        file.write("\n\nif __name__ == '__main__':\n    print(len(loader(0)), len(loader(2)))\n")
    told = " ".join(check("--why", "words.py:8").stdout.split())
    assert "`DataLoader(...)` starts the workers here (words.py:22:12)" in told
    assert "`DataLoader` at words.py:22:12, which starts no workers as called at words.py:26:15: kept as" in told


def test_why_names_the_finding_on_what_a_line_fills(program: Path) -> None:
    (program / "images.py").write_text(
        "import os\n\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Images(Dataset):\n"
        "    def __init__(self, lists):\n"
        "        self.names, self.sizes = [], []\n"
        "        for line in open(lists):\n"
        "            self.names.append(line)\n"
        "            self.sizes.append(len(line))\n\n"
        "    def __len__(self):\n"
        "        return len(self.names)\n\n"
        "    def __getitem__(self, index):\n"
        "        return self.names[index], self.sizes[index]\n\n\n"
        "def main(lists):\n"
        "    return DataLoader(Images(lists), num_workers=2)\n"
    )
    told = check("--why", "images.py:10").stdout
    assert told.startswith("DLL201 is about what this line makes or fills, at images.py:8:9: Python list of strings")
    assert "DLL201" not in check("--why", "images.py:11").stdout
    assert "is about what" not in check("--why", "images.py:8").stdout


# Formats.


def test_json(program: Path) -> None:
    done = check("--output-format", "json")
    (row,) = json.loads(done.stdout)
    assert (row["code"], row["name"]) == ("DLL101", "lambda-default-factory")
    assert row["filename"] == str(program / "words.py")
    assert row["location"] == {"row": 8, "column": 35}
    assert row["end_location"] == {"row": 8, "column": 44}
    assert (row["noqa_row"], row["cell"], row["url"]) == (8, None, None)
    assert (row["severity"], row["certainty"]) == ("error", "certain")
    assert row["related"][-1]["location"]["row"] == 18
    assert set(row["related"][0]) == {"message", "filename", "cell", "location", "end_location"}
    assert {anchor["location"]["row"] for anchor in row["anchors"]} == {18}
    assert len(row["fingerprint"]) == 32


def test_the_fingerprint_survives_edits_above(program: Path) -> None:
    before = json.loads(check("--output-format", "json").stdout)[0]["fingerprint"]
    (program / "words.py").write_text(f"import os\n\n\n{PROGRAM}")
    assert json.loads(check("--output-format", "json").stdout)[0]["fingerprint"] == before


def test_json_of_nothing(folder: Path) -> None:
    assert json.loads(check("--output-format", "json").stdout) == []


@pytest.mark.usefixtures("words")
def test_json_of_fixes(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_UNSAFE\nBAD_NONE\n")
    first, second = json.loads(check("--output-format", "json").stdout)
    assert first["fix"]["applicability"] == "unsafe"
    assert first["fix"]["message"] == "replace `BAD_UNSAFE`"
    assert first["fix"]["edits"] == [
        {
            "content": "good_unsafe",
            "filename": str(folder / "a.py"),
            "cell": None,
            "location": {"row": 2, "column": 1},
            "end_location": {"row": 2, "column": 11},
        }
    ]
    assert second["fix"] is None


@pytest.mark.usefixtures("words")
def test_json_keeps_its_schema(folder: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((REPOSITORY / "dllint/report/findings.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    (folder / "a.py").write_text(f"{DATASET}BAD_UNSAFE\nBAD_MANUAL\nBAD_IMPORT\nSTART(BAD_UNSAFE)\n")
    (folder / "b.py").write_text("# Dataset\nx = (\n")
    rows = json.loads(check("--output-format", "json").stdout)
    assert [row["code"] for row in rows] == ["DLL801", "DLL801", "DLL801", "DLL900"]
    jsonschema.validate(rows, schema, jsonschema.Draft202012Validator)


def test_json_of_a_real_finding_keeps_its_schema(program: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((REPOSITORY / "dllint/report/findings.schema.json").read_text())
    rows = json.loads(check("--output-format", "json").stdout)
    assert rows[0]["outcomes"]["fork"] == "ok"
    jsonschema.validate(rows, schema, jsonschema.Draft202012Validator)


@pytest.mark.usefixtures("words")
def test_full_format(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}if True:\n\tx = '中', BAD_UNSAFE\n\n\nBAD_MANUAL\n", encoding="utf-8")
    (folder / "b.py").write_text("import a\nSTART(BAD_UNSAFE)\n")
    assert check("--output-format", "full").stdout == (
        "DLL801 `BAD_UNSAFE` is bad\n"
        "  --> a.py:3:11\n"
        "  |\n"
        "1 | # Dataset\n"
        "2 | if True:\n"
        "3 |     x = '中', BAD_UNSAFE\n"
        "  |               ^^^^^^^^^^\n"
        "4 |\n"
        "5 |\n"
        "  |\n"
        "   = note: started here (b.py:2:1)\n"
        "help: replace `BAD_UNSAFE` (unsafe: --fix --unsafe-fixes)\n"
        "docs: dllint rule DLL801\n"
        "\n"
        "DLL801 `BAD_MANUAL` is bad\n"
        "  --> a.py:6:1\n"
        "  |\n"
        "4 |\n"
        "5 |\n"
        "6 | BAD_MANUAL\n"
        "  | ^^^^^^^^^^\n"
        "  |\n"
        "help: do it yourself (by hand)\n"
        "      good = 1\n"
        "      good = 2\n"
        "docs: dllint rule DLL801\n"
        "\n"
    )


def test_the_configuration_may_choose_the_format(program: Path) -> None:
    (program / "dllint.toml").write_text('output-format = "json"\n')
    assert check().stdout.startswith("[")
    assert check("--output-format", "concise").stdout.startswith(CONCISE)


@pytest.mark.parametrize(
    ("args", "environment", "colored"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"CLICOLOR_FORCE": "1"}, True),
        ([], {"FORCE_COLOR": "0"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(
    program: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], environment: dict[str, str], colored: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\033[" in check(*args).stdout) == colored


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are a matter of POSIX")
@pytest.mark.parametrize(("term", "colored"), [("xterm", True), ("dumb", False)])
def test_on_a_terminal_there_are_frames(program: Path, term: str, colored: bool) -> None:
    import pty

    parent, child = pty.openpty()
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")}
    env = {**keep, "PYTHONPATH": str(REPOSITORY), "TERM": term}
    command = [sys.executable, "-m", "dllint", "check"]
    with subprocess.Popen(command, cwd=program, env=env, stdout=child, stderr=subprocess.DEVNULL) as process:
        os.close(child)
        shown = b""
        try:
            while more := os.read(parent, 4096):
                shown += more
        except OSError:  # how a pseudo-terminal ends
            pass
    os.close(parent)
    assert process.returncode == 1
    assert b"words.py:8:35" in shown
    assert b"^^^^^^^^^" in shown
    assert (b"\033[" in shown) == colored


def test_a_string_that_is_in_no_encoding(folder: Path) -> None:
    (folder / "a.py").write_text('from torch.utils.data import DataLoader\nHALF = "\\ud800" "\\udfff"\n')
    done = check()
    assert (done.exit_code, done.stdout) == (0, "")


# Fixing.


@pytest.mark.usefixtures("words")
def test_fix(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_UNSAFE\n")
    done = check("--fix")
    assert (done.exit_code, done.stdout) == (1, "a.py:3:1: DLL801 `BAD_UNSAFE` is bad\n")
    assert done.stderr == (
        "Fixed 1 finding (DLL801 1).\n1 finding in 1 file.\n1 fixable with `--fix --unsafe-fixes`.\n"
    )
    done = check("--fix", "--unsafe-fixes")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (folder / "a.py").read_text() == f"{DATASET}good_a\ngood_unsafe\n"


@pytest.mark.usefixtures("words")
def test_fix_only_tells_nothing_of_what_is_left_but_refused_fixes(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_NONE\n")
    done = check("--fix-only")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "Fixed 1 finding (DLL801 1).\n1 finding left.\n")
    assert (folder / "a.py").read_text() == f"{DATASET}good_a\nBAD_NONE\n"
    assert check("--fix-only", "--exit-non-zero-on-fix").exit_code == 0
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_SYNTAX\n")
    done = check("--fix-only", "--exit-non-zero-on-fix")
    assert done.exit_code == 1
    assert done.stdout.startswith("a.py:3:1: DLL904 the fix of DLL801 was not applied: the result does not parse")
    told = ["Fixed 1 finding (DLL801 1).", "1 fix refused (DLL904).", "1 finding left.", "1 fixable with `--fix`."]
    assert done.stderr.splitlines() == told


@pytest.mark.usefixtures("words")
def test_show_fixes_lists_what_was_done(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub/a.py").write_text(f"{DATASET}BAD_A\nBAD_NONE\n")
    (folder / "b.py").write_text(f"{DATASET}BAD_B\n")
    done = check("--fix", "--show-fixes")
    assert done.stderr.splitlines()[:3] == [
        "Fixed 2 findings (DLL801 2).",
        "  b.py: DLL801 replace `BAD_B`",
        "  sub/a.py: DLL801 replace `BAD_A`",
    ]
    assert check("--show-fixes").stderr == "1 finding in 1 file, 2 checked.\n"


@pytest.mark.usefixtures("words")
def test_exit_non_zero_on_fix(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    assert check("--fix", "--exit-non-zero-on-fix").exit_code == 1
    assert check("--fix", "--exit-non-zero-on-fix").exit_code == 0


@pytest.mark.usefixtures("words")
@pytest.mark.parametrize(
    "content",
    [
        b"# Dataset\nx = 1\nBAD_A\ny = 2\n",
        b"\xef\xbb\xbfBAD_A\r\n# Dataset\r\n",
        b"# coding: latin-1\n# Dataset \xe9\nBAD_A",
        b"BAD_A\n# Dataset\x0b",
    ],
)
def test_diff_can_be_applied(folder: Path, content: bytes) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git here")
    (folder / "sub").mkdir()
    (folder / "sub/a.py").write_bytes(content)
    (folder / "b.py").write_bytes(b"# Dataset\n")
    done = check("--diff")
    assert done.exit_code == 1
    assert done.stdout_bytes.startswith(b"--- a/sub/a.py\n+++ b/sub/a.py\n@@ ")
    assert (folder / "sub/a.py").read_bytes() == content, "nothing is written"
    subprocess.run([git, "apply", "--whitespace=nowarn", "-"], input=done.stdout_bytes, check=True)
    assert (folder / "sub/a.py").read_bytes() == content.replace(b"BAD_A", b"good_a")
    assert (check("--diff").exit_code, check("--diff").stdout) == (0, "")
    assert check("--diff", "--exit-zero").exit_code == 0


def test_hooks_are_commands_that_work(program: Path) -> None:
    text = (REPOSITORY / ".pre-commit-hooks.yaml").read_text()
    entries = [line.split("entry: ")[1] for line in text.splitlines() if "entry: " in line]
    assert len(entries) == text.count("- id: ") == 4
    (program / "run.sh").write_text("docker run --gpus all words\n")
    for entry in sorted(entries, key=lambda entry: "--fix" in entry):
        command, *args = entry.split()
        assert command == "dllint"
        if "DLL502" in args:
            assert dllint(program, *args, "run.sh").stdout.startswith("run.sh:1:1: DLL502 ")
        else:
            assert dllint(program, *args, "words.py").stdout.startswith(CONCISE) or "--fix-only" in args


# Standard input.


def test_stdin(program: Path) -> None:
    done = check("-", "--stdin-filename", "words.py", stdin=PROGRAM.replace("lambda: 0", "int").encode())
    assert (done.exit_code, done.stdout) == (0, "")
    done = check("-", stdin=PROGRAM.encode())
    assert done.exit_code == 1
    assert done.stdout.startswith("<stdin>.py:8:35: DLL101 ")


@pytest.mark.usefixtures("words")
def test_stdin_is_fixed_to_stdout(folder: Path) -> None:
    done = check("-", "--fix", stdin=b"BAD_A\r\nBAD_NONE\r\n")
    assert (done.exit_code, done.stdout_bytes) == (1, b"good_a\r\nBAD_NONE\r\n")
    assert "<stdin>.py:2:1: DLL801" in done.stderr
    assert check("-", "--fix", stdin=b"x = 1\r\n").stdout_bytes == b"x = 1\r\n"
    assert check("-", "--fix", stdin=b"x = (\r\n").stdout_bytes == b"x = (\r\n"
    assert "+good_a" in check("-", "--diff", "--stdin-filename", "new.py", stdin=b"BAD_A\n").stdout
    assert not (folder / "new.py").exists()


# The rule command.


def test_rule_pages() -> None:
    done = dllint(REPOSITORY, "rule", "lambda-default-factory", "DLL903")
    assert done.returncode == 0
    assert done.stdout.startswith("# lambda-default-factory (DLL101)\n\n*error · on by default · fix: ")
    assert "# unreadable-file (DLL903)" in done.stdout


def test_rule_all_lists_every_rule() -> None:
    lines = dllint(REPOSITORY, "rule", "--all").stdout.splitlines()
    assert lines[0].startswith("DLL101  lambda-default-factory")
    assert lines == sorted(lines)
    assert any(line.startswith("DLL901 ") and line.endswith("(opt-in)") for line in lines)


def test_unknown_rules() -> None:
    done = dllint(REPOSITORY, "rule", "DLLL101")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: unknown rule 'DLLL101'; did you mean 'DLL101'?\n"
    assert dllint(REPOSITORY, "rule").returncode == 2


# Files that hurt. Each gets its line, and the file beside it is still checked.

ROWS = "".join(f"    {{'id': {n}, 'name': 'item {n}', 'tags': ['a', 'b', {n}.5]}},\n" for n in range(24_000))
HURTING = {
    "syntax error": ("from torch.utils.data import DataLoader\nx = (\n", "DLL900 syntax error: '(' was never closed"),
    "indentation": ("# Dataset\nif x:\ny = 1\n", "DLL900 syntax error: expected an indented block"),
    "python 2": ('from multiprocessing import Pool\nprint "a"\n', "DLL900 syntax error: `print x` is Python 2"),
    "binary": (b"\x7fELF\0\0DataLoader", "DLL903 not analyzed: looks like a binary file"),
    "latin-1": (b"# DataLoader\ns = '\xe9'\n", "DLL903 not analyzed: is not valid utf-8: byte 0xe9 at offset 18"),
    "odd encoding": (b"# coding: klingon\n# DataLoader\n", "DLL903 not analyzed: unknown encoding"),
    "chained calls": (f"# DataLoader\nx = q{'.f()' * 6_000}\n", "DLL903 not analyzed: "),
    "long sum": (f"# DataLoader\nx = {' + '.join(['y'] * 12_000)}\n", "DLL903 not analyzed: "),
    "nested parentheses": (f"# DataLoader\nx = {'(' * 2_000}1{')' * 2_000}\n", "DLL903 not analyzed: "),
}
HARMLESS = {
    "latin-1 that says so": b"# -*- coding: latin-1 -*-\n# DataLoader\ns = '\xe9'\n",
    "byte order mark": b"\xef\xbb\xbf# DataLoader\nx = 1\n",
    "carriage returns": b"# DataLoader\r\nx = (1,\r\n  2)\r\n",
    "old carriage returns": b"# DataLoader\rx = 1\r",
    "form feeds": b"# DataLoader\n\x0c\ndef f():\n    pass\n\x0c\nx = 1\n",
    "empty": b"",
    "no newline": b"x = 1",
    "only a comment": b"# DataLoader",
    "large table": f"# DataLoader\nTABLE = [\n{ROWS}]\n".encode(),
}


@pytest.mark.parametrize("case", HURTING)
def test_files_that_hurt(program: Path, case: str) -> None:
    content, told = HURTING[case]
    (program / "bad.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = dllint(program, "check")
    assert done.returncode == 1, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("bad.py:")
    assert told in first
    assert second.startswith(CONCISE)
    assert "Traceback" not in done.stderr
    assert ("1 file not analyzed." in done.stderr) == ("DLL903" in told)


@pytest.mark.parametrize("case", HARMLESS)
def test_files_that_only_look_odd(program: Path, case: str) -> None:
    (program / "odd.py").write_bytes(HARMLESS[case])
    done = dllint(program, "check", "odd.py", "words.py")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith(CONCISE)
    assert done.stdout.count("\n") == 1


def test_a_file_that_hides_its_words_is_told_when_named(program: Path) -> None:
    (program / "bad.py").write_bytes("import DataLoader\n".encode("utf-16"))
    assert dllint(program, "check").stdout.startswith(CONCISE)
    assert "bad.py:1:1: DLL903 not analyzed: looks like a binary file" in dllint(program, "check", "bad.py").stdout


def test_other_places_that_hurt(program: Path) -> None:
    (program / "empty").mkdir()
    done = dllint(program, "check", "empty")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "warning: no Python files found under empty\n", "and nothing was counted"
    (program / "x.py").mkdir()
    try:
        (program / "loop").symlink_to(program)
        (program / "self.py").symlink_to("self.py")
    except OSError:
        pytest.skip("no symbolic links here")
    done = dllint(program, "check", ".")
    assert (done.returncode, done.stdout.count("\n")) == (1, 1)


@pytest.mark.skipif(os.name != "posix", reason="names of any bytes are a matter of POSIX")
def test_a_name_that_is_no_text(folder: Path) -> None:
    name = os.fsdecode(b"w\xff.py")
    try:
        (folder / name).write_text(PROGRAM)
    except OSError:
        pytest.skip("this file system wants UTF-8 names")
    for form in ("concise", "full", "json"):
        done = dllint(folder, "check", "--output-format", form)
        assert (done.returncode, "w\\" in done.stdout) == (1, True), done.stderr


def test_the_name_of_a_template_says_that_it_is_no_python_yet(folder: Path) -> None:
    # Cookiecutter fills in names and texts; what parses all the same is checked.
    template = folder / "{{cookiecutter.name}}"
    template.mkdir()
    (template / "train.py").write_text("from torch.utils.data import DataLoader\nfrom {{cookiecutter.name}} import x\n")
    (template / "words.py").write_text(PROGRAM)
    rows = json.loads(check("--output-format", "json").stdout)
    assert [row["code"] for row in rows] == ["DLL101"]


@pytest.mark.parametrize(
    ("comment", "silences"),
    [
        ("# noqa", True),
        ("# noqa: E999", True),
        ("# noqa: DLL900", True),
        ("# noqa: E501", False),
        ("# no Python", False),
    ],
)
def test_a_comment_says_that_a_file_is_not_meant_to_parse(folder: Path, comment: str, silences: bool) -> None:
    text = f"from torch.utils.data import DataLoader\nfrom .{{NAME}} import Rows  {comment}\n"
    (folder / "template.py").write_text(text)
    rows = json.loads(check("--output-format", "json", "template.py").stdout)
    assert [row["code"] for row in rows] == ([] if silences else ["DLL900"])
    rows = json.loads(check("--output-format", "json", "--ignore-noqa", "template.py").stdout)
    assert [row["code"] for row in rows] == ["DLL900"]
