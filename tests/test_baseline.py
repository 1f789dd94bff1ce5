"""Baselines: what is known is not told again, what is gone is told, and nothing of the file is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fakes import DATASET, words
from tests.test_cli import PROGRAM, check, folder, program

__all__ = ["folder", "program", "words"]

WRITE = ("--baseline", "known.json", "--write-baseline")
READ = ("--baseline", "known.json")


def test_a_real_finding_is_known_after_edits_above_and_around(program: Path) -> None:
    done = check(*WRITE)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith("known.json: 1 finding kept.\n")
    (program / "words.py").write_text(f"import os\n\n\n{PROGRAM.replace('return 3', 'return 4')}\nx = 1\n")
    done = check(*READ)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "0 findings in 1 file.\n1 known from known.json, not shown.\n"
    assert check().exit_code == 1


def test_the_file_has_no_lines_and_is_sorted(program: Path) -> None:
    check(*WRITE)
    held = json.loads((program / "known.json").read_text())
    (one,) = held["findings"]
    assert held["version"] == 1
    assert set(one) == {"code", "path", "key", "message"}
    assert (one["code"], one["path"]) == ("DLL101", "words.py")
    first = (program / "known.json").read_bytes()
    check(*WRITE)
    assert (program / "known.json").read_bytes() == first


@pytest.mark.usefixtures("words")
def test_one_more_of_the_same_is_new(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A; BAD_A\n")
    check(*WRITE)
    assert check(*READ).exit_code == 0
    (folder / "a.py").write_text(f"{DATASET}x = 1\nBAD_A; BAD_A\nBAD_A\n")
    done = check(*READ)
    assert (done.exit_code, done.stdout) == (1, "a.py:4:1: DLL801 `BAD_A` is bad\n")
    fixable = "Up to 1 fixable: `--diff --unsafe-fixes` shows it."
    assert done.stderr == f"1 finding in 1 file.\n{fixable}\n2 known from known.json, not shown.\n"


@pytest.mark.usefixtures("words")
def test_what_is_gone_is_told_until_it_is_forgotten(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_B\n")
    (folder / "b.py").write_text(f"{DATASET}BAD_C\n")
    check(*WRITE)
    (folder / "a.py").write_text(f"{DATASET}BAD_B\n")
    (folder / "b.py").unlink()
    told = check(*READ).stderr
    assert "gone: a.py: DLL801 `BAD_A` is bad\ngone: b.py: DLL801 `BAD_C` is bad\n" in told
    assert told.endswith("--write-baseline removes what is gone from known.json.\n")
    check(*WRITE)
    assert "gone" not in check(*READ).stderr
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_B\n")
    assert check(*READ).stdout == "a.py:2:1: DLL801 `BAD_A` is bad\n"


@pytest.mark.usefixtures("words")
def test_what_a_run_does_not_look_at_is_neither_gone_nor_forgotten(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_A\n")
    (folder / "b.py").write_text(f"{DATASET}BAD_B\nWORSE\n")
    check(*WRITE)
    assert "gone" not in check(*READ, "a.py").stderr
    assert "gone" not in check(*READ, "--select", "DLL801").stderr
    (folder / "a.py").write_text(f"{DATASET}BAD_A\nBAD_NEW\n")
    check(*WRITE, "a.py")
    kept = json.loads((folder / "known.json").read_text())["findings"]
    assert [one["message"] for one in kept] == ["`BAD_A` is bad", "`BAD_NEW` is bad", "`BAD_B` is bad", "worse"]
    assert check(*READ).exit_code == 0


@pytest.mark.usefixtures("words")
def test_many_that_are_gone_are_a_number(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}{'BAD_A; ' * 14}x\n")
    check(*WRITE)
    (folder / "a.py").write_text(DATASET)
    told = check(*READ).stderr
    assert told.count("gone: ") == 10
    assert "\n4 more are gone; --write-baseline removes" in told


def test_a_broken_file_is_never_known(program: Path) -> None:
    (program / "broken.py").write_text("from torch.utils.data import DataLoader\nx = (\n")
    done = check(*WRITE)
    assert done.exit_code == 1
    assert done.stdout.startswith("broken.py:2:5: DLL900")
    assert check(*READ).stdout == done.stdout


@pytest.mark.usefixtures("words")
def test_formats_and_fixes_see_what_is_new_only(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_UNSAFE\n")
    check(*WRITE)
    (folder / "a.py").write_text(f"{DATASET}BAD_UNSAFE\nBAD_B\n")
    rows = json.loads(check(*READ, "--output-format", "json").stdout)
    assert [row["message"] for row in rows] == ["`BAD_B` is bad"]
    done = check(*READ, "--fix")
    assert done.exit_code == 0
    assert (folder / "a.py").read_text() == f"{DATASET}BAD_UNSAFE\ngood_b\n"


# Bad input.


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "known.json: no such baseline; --write-baseline creates it"),
        ("", "known.json: not a baseline of dllint: "),
        ("[]", "known.json: not a baseline of dllint: Expected `object`, got `array`"),
        ('{"version": 1, "findings": [{}]}', "known.json: not a baseline of dllint: "),
        ('{"version": 2, "findings": []}', "known.json: a baseline of version 2; this dllint reads version 1"),
        (b"\xff", "known.json: not a baseline of dllint: "),
    ],
)
def test_a_file_that_is_no_baseline(program: Path, content: str | bytes | None, told: str) -> None:
    if content is not None:
        (program / "known.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    for args in (READ, WRITE) if content is not None else (READ,):
        done = check(*args)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {told}")
    if content is not None:
        left = (program / "known.json").read_bytes()
        assert left == (content if isinstance(content, bytes) else content.encode()), "it is left as it was"


def test_the_flag_needs_a_file(program: Path) -> None:
    done = check("--write-baseline")
    assert (done.exit_code, "needs --baseline FILE" in done.stderr) == (2, True)
    done = check("--baseline", "none/known.json", "--write-baseline")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "error: none/known.json: cannot be written: No such file or directory\n" in done.stderr


@pytest.mark.usefixtures("words")
def test_a_run_that_failed_writes_none(folder: Path) -> None:
    (folder / "a.py").write_text(f"{DATASET}BAD_RULE\n")
    done = check(*WRITE)
    assert done.exit_code == 2
    assert "known.json was not written, because the run failed" in done.stderr
    assert not (folder / "known.json").exists()
