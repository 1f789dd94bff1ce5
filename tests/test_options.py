"""Options of the command line that stand for the configuration, and what a run says of itself."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dllint.cli import COMMANDS
from tests.test_cli import CONCISE, PROGRAM, check, dllint, folder, program

__all__ = ["folder", "program"]

UNSAFE = PROGRAM.replace("class Words", "LIMIT = 3\n\n\nclass Words").replace("lambda: 0", "lambda: LIMIT")
"""A program whose fix is unsafe."""
CLUSTER = ("--target-platforms", "linux", "--target-python", "<3.14")
SAFE = "import torch\n\nx = 1  # dllint: ignore[DLL101]\n"
"""A comment that silences nothing, which `--fix` takes away."""


# Instead of the configuration.


def test_targets_can_be_tried(program: Path) -> None:
    """What the summary recommends can be typed."""
    (command,) = re.findall("`(--target-.*)`", check().stderr)
    assert command == "--target-platforms linux --target-python '<3.14'"
    assert check(*CLUSTER).exit_code == 0
    (program / "dllint.toml").write_text('target-platforms = ["linux"]\ntarget-python = "3.12"\n')
    assert check().exit_code == 0
    assert check("--target-platforms", "linux,macos").exit_code == 1
    assert "'mac' is not one of linux, macos, windows" in check("--target-platforms", "mac").stderr
    assert check("--target-python", "new").stderr.startswith(
        "error: command line: target-python: 'new' is not a version"
    )


@pytest.mark.parametrize(
    "given",
    [
        "target-platforms=linux",
        'target-platforms = ["linux"]',
        "ignore=DLL1",
        "select=DLL2, DLL3",
        'per-file-ignores={"words.py" = ["DLL101"]}',
        "extend-exclude=words.py",
        "start-method=fork",
    ],
)
def test_keys_can_be_set_one_by_one(program: Path, given: str) -> None:
    assert check("--config", "target-python=3.12").exit_code == 1
    assert check("--config", given, "--config", "target-python=3.12").exit_code == 0


def test_one_file_may_be_named_and_keys_set_besides(program: Path) -> None:
    (program / "other.toml").write_text('ignore = ["DLL101"]\n')
    assert check("--config", "other.toml").exit_code == 0
    assert check("--config", "other.toml", "--config", "ignore=[]").exit_code == 1
    assert check("--config", "ignore=DLL1", "--isolated").exit_code == 0
    assert "--config names one file" in check("--config", "other.toml", "--config", "dllint.toml").stderr
    assert "cannot be read" in check("--config", "none.toml").stderr
    assert "command line: extend is valid only in a file" in check("--config", "extend=other.toml").stderr
    assert "unknown key `ignored`; did you mean `ignore`?" in check("--config", "ignored=DLL1").stderr
    assert check("--config", "ignored=DLL1").exit_code == 2


def test_what_is_left_out(program: Path) -> None:
    (program / "sub").mkdir()
    (program / "sub" / "other.py").write_text(PROGRAM)
    assert "2 findings of 1 design in 2 files." in check().stderr
    assert "1 finding in 1 file." in check("--extend-exclude", "sub,gone").stderr
    assert "1 finding in 1 file." in check("--exclude", "words.py").stderr
    assert "1 finding in 1 file, 2 checked." in check("--per-file-ignores", "sub/*:DLL101").stderr
    assert check("--per-file-ignores", "sub/*:DLL1,words.py:pickling").exit_code == 0
    assert "expects PATTERN:RULE" in check("--per-file-ignores", "DLL101").stderr


def test_families_select(program: Path) -> None:
    assert check("--select", "pickling").exit_code == 1
    assert check("--select", "memory,shared-memory").exit_code == 0
    assert check("--ignore", "Pickling").exit_code == 0
    assert check("--select", "DLL101", "--ignore", "pickling").exit_code == 1, "a code is longer than a family"
    (program / "dllint.toml").write_text('select = ["pickling"]\nignore = ["DLL101"]\n')
    assert check().exit_code == 0
    assert "did you mean 'pickling'?" in check("--select", "picklng").stderr
    assert "did you mean 'DLL101'?" in check("--select", "DLL1O1").stderr
    assert "; the codes of pickling are DLL101 to DLL1" in check("--select", "DLL199").stderr
    assert "'DLL77'; families are correctness, " in check("--select", "DLL77").stderr
    assert "; separate rules with commas" in check("--select", "DLL101 DLL102").stderr


def test_nonsense_is_not_answered_with_a_rule(folder: Path) -> None:
    told = check("--select", "E501").stderr
    assert told.startswith("error: unknown rule selector 'E501'; codes begin with DLL, families are correctness, ")
    assert told.endswith("and `dllint rule --all` lists codes and names\n")


def test_comments_can_be_passed_over(program: Path) -> None:
    (program / "words.py").write_text(PROGRAM.replace("lambda: 0)", "lambda: 0)  # noqa: DLL101"))
    assert check().exit_code == 0
    assert check("--ignore-noqa").stdout.startswith(CONCISE)
    assert check().exit_code == 0, "a verdict with comments is not one without"


def test_which_fixes_are_made(program: Path) -> None:
    (program / "noted.py").write_text(SAFE)
    options = ("--extend-select", "DLL901", "--fix", "--diff", "--unsafe-fixes")
    both = check(*options).stdout
    assert "a/words.py" in both and "a/noted.py" in both
    assert "a/noted.py" not in check(*options, "--fixable", "pickling").stdout
    assert "a/words.py" not in check(*options, "--unfixable", "DLL101").stdout
    assert "words.py" not in check("--fix", "--no-fix", "--unsafe-fixes", "--show-fixes").stderr
    assert (program / "words.py").read_text() == PROGRAM


def test_the_environment_chooses_the_format(program: Path) -> None:
    assert json.loads(dllint(program, "check", DLLINT_OUTPUT_FORMAT="json").stdout)[0]["code"] == "DLL101"
    done = dllint(program, "check", "--output-format", "concise", DLLINT_OUTPUT_FORMAT="json")
    assert done.stdout.startswith(CONCISE)
    assert dllint(program, "check", DLLINT_OUTPUT_FORMAT="xml").returncode == 2


# What a run says.


def test_quiet_tells_the_findings_only(program: Path) -> None:
    (program / "pyproject.toml").write_text('[project]\nrequires-python = "^3"\n')
    assert "requires-python" in check().stderr
    done = check("-q")
    assert (done.exit_code, done.stderr) == (1, "")
    assert done.stdout.startswith(CONCISE)
    assert "no such file" in check("-q", "none.py").stderr, "but what went wrong is told"


def test_verbose_tells_what_was_read(program: Path) -> None:
    told = dict(line.split(": ", 1) for line in check("-v").stderr.splitlines() if re.match(r"\w+: ", line))
    assert told["project"] == str(program)
    assert told["configurations"] == str(program / "dllint.toml")
    assert told["files"] == "1 in the project, 1 reported on"
    assert told["targets"] == "linux, macos, windows; Python any"
    assert re.fullmatch(r"\d+\.\d\d s", told["time"])


def test_short_options(program: Path) -> None:
    assert check("-e", "-n", "-o", "found.txt").exit_code == 0
    assert (program / "found.txt").read_text().startswith(CONCISE)


def test_the_summary_counts_files_with_findings_beside_those_checked(program: Path) -> None:
    assert check().stderr.startswith("1 finding in 1 file.\n")
    (program / "other.py").write_text("x = 1\n")
    assert check().stderr.startswith("1 finding in 1 file, 2 checked.\n")
    assert check("other.py").stderr == "0 findings in 1 file.\n"


def test_the_summary_tells_causes_in_files_that_were_not_named(program: Path) -> None:
    dataset, loader = PROGRAM.split("if __name__")
    (program / "words.py").write_text(dataset)
    (program / "train.py").write_text(f"from words import DataLoader, Words\n\nif __name__{loader}")
    done = check("train.py")
    assert done.stdout.startswith(CONCISE)
    assert done.stderr.startswith("1 finding in 1 file, on routes through 1 checked file.\n")


def test_what_could_not_be_written_was_not_fixed(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dllint.engine import run, write

    (program / "other.py").write_text(PROGRAM)

    def refused(root: str, path: str, before: bytes, after: bytes) -> None:
        if path.endswith("words.py"):
            raise write.NotWritten("it is not writable")
        write.write(root, path, before, after)

    monkeypatch.setattr(run, "write", refused)
    done = check("--fix", "--unsafe-fixes")
    assert done.exit_code == 2
    assert done.stdout.startswith(CONCISE), "the finding is still there"
    assert done.stderr.splitlines()[:2] == ["Fixed 1 finding (DLL101 1).", "1 finding in 1 file, 2 checked."]
    assert "error: words.py: not written: it is not writable" in done.stderr
    assert (program / "words.py").read_text() == PROGRAM != (program / "other.py").read_text()


def test_fix_only_says_how_much_is_left(program: Path) -> None:
    (program / "words.py").write_text(UNSAFE)
    done = check("--fix-only")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "1 finding left.\n1 fixable with `--fix --unsafe-fixes`.\n"


def test_a_diff_tells_what_it_does_not_show(program: Path) -> None:
    (program / "words.py").write_text(UNSAFE)
    done = check("--diff")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "1 unsafe fix not shown; `--unsafe-fixes` shows it.\n"
    done = check("--diff", "--unsafe-fixes")
    assert (done.exit_code, done.stderr) == (1, "Would fix 1 finding (DLL101 1).\n")
    assert check("--diff", "--quiet").stderr == ""
    assert check("--diff", "--unfixable", "DLL101").stderr == "1 finding without a fix that dllint can apply.\n"


def test_a_diff_has_colours_where_they_are_wanted(program: Path) -> None:
    plain = check("--diff", "--unsafe-fixes").stdout
    painted = check("--diff", "--unsafe-fixes", "--color", "always").stdout
    lines = painted.splitlines()
    assert lines[0].startswith("\x1b[1m---") and lines[2].startswith("\x1b[36m@@")
    assert any(line.startswith("\x1b[31m-") for line in lines) and any(line.startswith("\x1b[32m+") for line in lines)
    assert re.sub("\x1b\\[[0-9]*m", "", painted) == plain
    check("--diff", "--unsafe-fixes", "--color", "always", "-o", "the.diff")
    assert (program / "the.diff").read_text() == plain, "a file never has colours"


# --why.


def test_why_does_not_contradict_itself(program: Path) -> None:
    told = check("--why", "words.py:8").stdout
    assert told.startswith("DLL101 is reported here: ")
    assert "nothing that could go" not in told
    assert "nothing that could go" in check("--why", "words.py:2").stdout


def test_why_knows_where_a_file_ends(program: Path) -> None:
    rows = len(PROGRAM.splitlines())
    assert check("--why", f"words.py:{rows}").exit_code == 0
    done = check("--why", f"words.py:{rows + 1}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: words.py has no line {rows + 1}: it ends with line {rows}\n"


def test_why_names_places_as_seen_from_here(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = next(row for row, line in enumerate(PROGRAM.splitlines(), start=1) if "DataLoader(Words" in line)
    assert f" words.py:{loader}:" in check("--why", "words.py:6").stdout
    (program / "sub").mkdir()
    monkeypatch.chdir(program / "sub")
    assert f" ../words.py:{loader}:" in check("--why", "../words.py:6").stdout


def test_why_takes_the_project_that_check_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing marks a project, the folder that is checked is the project."""
    data, _, _ = PROGRAM.partition('\n\nif __name__ == "__main__":\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "words.py").write_text(f"{data}\n")
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\n\nfrom data.words import Words\n\nloader = DataLoader(Words())\n"
    )
    monkeypatch.chdir(tmp_path)
    assert check(".").exit_code == 0
    for paths in ((), (".",)):
        assert "is reported here" not in check("--why", "data/words.py:8", *paths).stdout
    assert "is reported here" in check("--why", "data/words.py:8", "data").stdout
    assert check("data").exit_code == 1


# Other commands.


def test_a_misspelt_command_is_answered() -> None:
    done = dllint(Path.cwd(), "chek")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such command 'chek'; did you mean 'check'?" in done.stderr
    assert "to check it: dllint check examples" in dllint(Path(__file__).parent.parent, "examples").stderr
    assert ", ".join(COMMANDS) in dllint(Path.cwd(), "xyzzy").stderr


def test_version_as_a_command() -> None:
    plain = dllint(Path.cwd(), "version").stdout
    assert plain == dllint(Path.cwd(), "--version").stdout
    told = json.loads(dllint(Path.cwd(), "version", "--output-format", "json").stdout)
    assert plain == f"dllint {told['version']}\n" and set(told) == {"version", "python", "platform"}


def test_rules_and_keys_as_json() -> None:
    (rule,) = json.loads(dllint(Path.cwd(), "rule", "DLL101", "--output-format", "json").stdout)
    assert (rule["code"], rule["family"], rule["since"]) == ("DLL101", "pickling", "0.1.0")
    assert rule["explanation"].startswith("# lambda-default-factory (DLL101)")
    every = json.loads(dllint(Path.cwd(), "rule", "--all", "--output-format", "json").stdout)
    assert len(every) > 50 and rule in every
    (key,) = json.loads(dllint(Path.cwd(), "config", "ignore", "--output-format", "json").stdout)
    assert (key["name"], key["type"]) == ("ignore", "list of strings")
    assert len(json.loads(dllint(Path.cwd(), "config", "--output-format", "json").stdout)) > 20
